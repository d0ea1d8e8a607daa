//! The result of a call of a response.

use serde_json::Value;

use super::{CallEntry, Parser};
use crate::provider::ToolResult;

impl ToolResult {
    /// The result of a call, or the error of a call that never ran, which needs no result.
    pub fn to(parser: &Parser<'_>, entry: &CallEntry<'_>, result: Option<Value>) -> Self {
        let tool_result = match (result, &entry.outcome) {
            (Some(result), _) => Self::of(result),
            (None, Err(error)) => Self {
                content: serde_json::to_value(error).unwrap_or_default(),
                is_error: true,
                ..Self::default()
            },
            (None, Ok(_)) => Self::default(),
        };
        let name = parser.emitted(entry.name.as_deref().unwrap_or_default()).into_owned();
        Self { call_id: entry.call_id.clone(), name, search: entry.search, ..tool_result }
    }
}
