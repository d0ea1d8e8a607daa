//! The trait of a wire: its rules, and the directions of payloads, calls and results.

use serde_json::{Map, Value};

use super::call::Calls;
use super::chat_completions;
use super::function::BoundFunction;
use super::names::NameRule;
use super::results::ToolResult;
use super::view::{Keys, Root, SchemaRules};
use crate::config::SearchBy;

/// The whole wire of one provider (docs/reference/wires.md).
pub(super) trait Wire: Sync {
    /// Rules of the provider.
    fn rules(&self) -> &'static Rules;

    /// The name of the entry for the provider's own search, where it has one.
    fn own_search(&self) -> Option<&'static str> {
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

/// A JSON object from values that are moved into it; `json!` copies them.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// `{"tools":[...]}`; empty when there are none, since an empty list is refused.
pub(super) fn tool_list(tools: Vec<Value>) -> Value {
    if tools.is_empty() { Value::Object(Map::new()) } else { object([("tools", tools.into())]) }
}

/// Rules of a provider.
pub(super) struct Rules {
    /// Rule of the names of functions.
    pub(super) names: NameRule,
    /// The most entries that the list of tools may have.
    pub(super) max_entries: Option<usize>,
    /// Native deferral of tools, if there is any.
    pub(super) native: Native,
    /// Marks for the prompt cache.
    pub(super) cache: Cache,
    /// Rules of schemas.
    pub(super) schema: SchemaRules,
    /// The smallest schema through which a function still takes arguments.
    pub(super) stub: Stub,
}

/// Plain JSON Schema with `properties` at the root; most wires differ little from it.
pub(super) const JSON_SCHEMA: SchemaRules = SchemaRules {
    inline: false,
    root: Root::Properties,
    keywords: &[],
    keys: Keys::Any,
    omit_empty: false,
    strict: None,
};

/// Native deferral of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    /// Not at all.
    No,
    /// Each deferred tool is an entry of the list.
    Single,
    /// Deferred tools are in namespaces, each an entry of the list.
    Grouped,
}

/// Marks for the prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    /// The wire has none.
    Never,
    /// Every model takes them.
    OnByDefault,
    /// Some models refuse them.
    OffByDefault,
}

/// The smallest schema that a provider takes and that allows any arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stub {
    /// `{"type":"object"}`.
    Bare,
    /// `{"type":"object","properties":{}}`.
    Empty,
    /// An object without properties is refused, and without a schema no arguments pass: they go below `args`.
    Args,
}

/// Content of a body.
pub(super) struct BoundFunctions<'a> {
    /// The functions, in order.
    pub(super) functions: &'a [BoundFunction<'a>],
    /// The party that answers searches, when there are deferred tools.
    pub(super) search: Option<SearchBy>,
    /// Whether to mark the list for the prompt cache.
    pub(super) cache: bool,
    /// The most entries that the list may have.
    pub(super) max_entries: Option<usize>,
}
