//! The discovery protocol: `list`, `search_nodes`, `search_tool_by_category`, `expand_tool`, exactly as specified, with
//! our `ok` and `meta` next to its fields. `call_tool` is with the other functions that run tools.
//!
//! 1. [`category()`] finds the category of a path and [`named_tool()`] the tool of a name; an unknown name is an error with
//!    hints.
//! 2. [`scope`] ranks tools, and [`category_ranking`] ranks categories.
//! 3. [`mod@list`] shows the content of a category, and [`ExpandTool`] one tool. [`entries`] has what both show.

mod category;
mod category_ranking;
mod cursor;
mod entries;
mod expand_tool;
mod list;
mod named_tool;
mod scope;
mod search_nodes;
mod search_tool_by_category;

pub(super) use category::category;
pub(super) use category_ranking::near_categories;
pub use entries::{CategoryEntry, Listed};
pub(super) use entries::{category_hints, hundredths};
pub(super) use expand_tool::ExpandTool;
pub use expand_tool::Expanded;
pub(super) use list::List;
pub(super) use named_tool::{named_tool, not_authorized};
pub(super) use scope::{Scope, UNREAD, blank, ranked, read_part};
pub(super) use search_nodes::SearchNodes;
pub(super) use search_tool_by_category::SearchToolByCategory;
