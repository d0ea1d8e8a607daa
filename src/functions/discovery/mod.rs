//! The discovery protocol: `list`, `search_nodes`, `search_tool_by_category`, `expand_tool`, `call_tool`, exactly as
//! specified, with our `ok` and `meta` beside its fields.
//!
//! 1. [`path`] finds the category of a path and the tool of a name, and writes both as lists show them. An unknown name
//!    is refused with hints.
//! 2. [`tool_ranking`] ranks tools.
//! 3. One file per operation: [`mod@list`], [`mod@search_nodes`], [`mod@search_tool_by_category`], [`mod@expand_tool`],
//!    [`mod@call_tool`].

mod call_tool;
mod expand_tool;
mod list;
mod path;
mod search_nodes;
mod search_tool_by_category;
mod tool_ranking;

use super::arguments::read;
use super::{ErrorCode, Refusal};

pub(super) use call_tool::run as call_tool;
pub(super) use expand_tool::run as expand_tool;
pub(super) use list::run as list;
pub(super) use path::{category_hints, hundredths, node as category, not_authorized};
pub(super) use search_nodes::{nearest as near_categories, run as search_nodes};
pub(super) use search_tool_by_category::run as search_tool_by_category;
pub(super) use tool_ranking::{Scope, ranked, read_part};

/// Next step where nothing fits and a source could not be read: the tool may be in it.
pub(super) const UNREAD: &str = "not all sources of the catalog could be read, and the tool may be in one of those: ask again \
                                 in other words, and if nothing fits, say that not all tools could be searched";

/// A query without surrounding white space, unless it is empty then.
fn query(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|query| !query.is_empty())
}

/// The same where a query is required.
fn required_query(text: &str) -> Result<&str, Refusal> {
    query(Some(text)).ok_or_else(|| blank("query"))
}

/// The refusal of an argument of only white space.
pub(super) fn blank(argument: &str) -> Refusal {
    let message = format!("`{argument}` is only white space");
    let next = format!("say in `{argument}` what you want to do: an action and an object, in a few words");
    let refusal = Refusal::new(ErrorCode::ValidationError, message, next);
    refusal.field(&format!("/{argument}"), "this is only white space")
}
