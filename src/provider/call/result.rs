//! The result of a call of a response.

use serde_json::Value;

use super::{CallEntry, CallError, Parser};
use crate::provider::ToolResult;

impl ToolResult {
    /// The result of a call, or the error of a call that never ran, which needs no result.
    pub fn to(parser: &Parser<'_>, entry: &CallEntry<'_>, result: Option<Value>) -> Self {
        let name = parser.emitted(entry.name.as_deref().unwrap_or_default()).into_owned();
        let told = Self::or_error(result, entry.outcome.as_ref().err());
        Self { call_id: entry.call_id.clone(), name, search: entry.search, ..told }
    }

    /// This result, or else the error of the call.
    pub(crate) fn or_error(result: Option<Value>, error: Option<&CallError>) -> Self {
        match (result, error) {
            (Some(result), _) => Self::of(result),
            (None, None) => Self::default(),
            (None, Some(error)) => {
                let content = serde_json::to_value(error).unwrap_or_default();
                Self { content, is_error: true, ..Self::default() }
            }
        }
    }
}
