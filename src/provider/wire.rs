//! The trait of a wire: its rules, and the directions of payloads, calls and results.

use serde_json::{Map, Value};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::chat_completions;
use super::fields::object;
use super::headers::RequestHeader;
use super::raw_call::Calls;
use super::results::ToolResult;
use super::rules::Rules;
use crate::config::SearchBy;

/// The whole wire of one provider (docs/reference/wires.md).
pub(super) trait Wire: Sync {
    /// Rules of the provider.
    fn rules(&self) -> &'static Rules;

    /// The name of the entry for the provider's own search, where it has one.
    fn own_search(&self, _: SearchBy) -> Option<&'static str> {
        None
    }

    /// Whether a function may have examples of its arguments, in a request in which tools are deferred or not.
    fn takes_examples(&self, _defers: bool) -> bool {
        false
    }

    /// The headers that a request with this body needs.
    fn headers(&self, _: &BoundFunctions<'_>) -> Option<RequestHeader> {
        None
    }

    /// The steps that are left to the caller when tools are deferred.
    fn deferral_note(&self) -> Option<&'static str> {
        None
    }

    /// One function in the provider's form.
    fn function(&self, function: &BoundFunction<'_>) -> Value {
        chat_completions::function(function)
    }

    /// The part of the request body with all functions.
    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        tool_list(bound.functions.iter().map(|function| self.function(function)).collect())
    }

    /// Number of entries of the list that the provider limits.
    fn entries(&self, body: &Value) -> usize {
        body.get("tools").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The calls of a response, in order.
    fn calls(&self, response: Value) -> Calls;

    /// The results of one turn as the message, or messages, to send.
    fn result_messages(&self, results: &[ToolResult]) -> Value;
}

/// `{"tools":[...]}`; empty when there are none, since an empty list is refused.
pub(super) fn tool_list(tools: Vec<Value>) -> Value {
    if tools.is_empty() { Value::Object(Map::new()) } else { object([("tools", tools.into())]) }
}
