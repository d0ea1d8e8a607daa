//! Help on ops, groups and entities: short and full, made for models.
//!
//! 1. [`of_tool`] explains one op: [`short`] has the facts that a call needs, within [`SHORT_TOKENS`];
//!    [`full`] has everything. Both list its arguments with their types, and its usage on one line ([`arguments`],
//!    [`mod@usage`]). [`small()`] is what a search adds to a hit that is clearly ahead.
//! 2. [`Groups`] is the tree of ops and categories: the directory. [`mod@directory`] lists one group of it in
//!    [`DIRECTORY_MAX_TOKENS`] tokens.

mod arguments;
mod brief;
mod call;
mod directory;
mod full;
mod groups;
mod options;
mod returns;
mod short;
mod small;
mod usage;

use serde_json::{Map, Value};
use toolcrib_catalog::Tool;

pub use arguments::argument_names;
pub use call::called;
pub use directory::{DIRECTORY_MAX_TOKENS, beginning, directory};
pub use groups::{EffectFilter, Group, Groups};
pub use options::{Format, HelpOptions, SHORT_TOKENS};
pub use small::small;
pub use usage::{signature, usage};

/// Help on one tool: `summary, usage, args, notes, policy, examples, call`.
pub fn of_tool(tool: &Tool, wanted: HelpOptions) -> Map<String, Value> {
    let mut fields = match wanted.format {
        Format::Short => short::short(tool, wanted.short_tokens),
        Format::Full => full::full(tool, wanted.examples),
    };
    if wanted.schemas {
        let schema = tool.input.schema.as_ref().map(|schema| schema.value());
        let result = tool.output.as_ref().map(|schema| schema.value());
        fields.extend(schema.map(|schema| ("schema".to_string(), schema.clone())));
        fields.extend(result.map(|schema| ("result_schema".to_string(), schema.clone())));
    }
    fields
}
