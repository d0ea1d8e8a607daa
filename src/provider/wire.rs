//! What a wire is: its rules, and the three directions in which things travel on it.

use serde_json::{Map, Value};

use super::call::Calls;
use super::chat_completions;
use super::function::BoundFunction;
use super::names::NameRule;
use super::results::ToolResult;
use super::view::{Keys, Root, SchemaRules};
use crate::config::SearchBy;

/// One provider's wire, whole (formats.md).
pub(super) trait Wire: Sync {
    /// What the provider takes.
    fn rules(&self) -> &'static Rules;

    /// The name of the entry with which the provider searches by itself, where it has one.
    fn own_search(&self) -> Option<&'static str> {
        None
    }

    /// One function as the provider wants it.
    fn function(&self, function: &BoundFunction<'_>) -> Value {
        chat_completions::function(function)
    }

    /// The fragment of the request body with all functions.
    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        tool_list(bound.functions.iter().map(|function| self.function(function)).collect())
    }

    /// How many entries of the list that the provider counts a body has.
    fn entries(&self, body: &Value) -> usize {
        body.get("tools").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The calls of a response, in order.
    fn calls(&self, response: Value) -> Calls;

    /// The results of one turn as the message, or messages, that go back.
    fn result_messages(&self, results: &[ToolResult]) -> Value;
}

/// A JSON object of values that are moved into it; `json!` copies them.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// The fragment `{"tools":[...]}`; empty when there are none, since an empty list is refused.
pub(super) fn tool_list(tools: Vec<Value>) -> Value {
    if tools.is_empty() { Value::Object(Map::new()) } else { object([("tools", tools.into())]) }
}

/// What a provider takes.
pub(super) struct Rules {
    /// Which names functions may have.
    pub(super) names: NameRule,
    /// The most entries that the list of tools may have.
    pub(super) max_entries: Option<usize>,
    /// Whether and how tools can be deferred by the provider's own means.
    pub(super) native: Native,
    /// Marks for the prompt cache.
    pub(super) cache: Cache,
    /// What schemas may say.
    pub(super) schema: SchemaRules,
    /// The smallest schema through which a function still takes arguments.
    pub(super) stub: Stub,
}

/// Plain JSON Schema with `properties` at the root; most wires differ from it in little.
pub(super) const JSON_SCHEMA: SchemaRules = SchemaRules {
    inline: false,
    root: Root::Properties,
    keywords: &[],
    keys: Keys::Any,
    omit_empty: false,
    strict: None,
};

/// How a provider defers tools by its own means.
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

/// The smallest schema that a provider takes and that lets arguments through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stub {
    /// `{"type":"object"}`.
    Bare,
    /// `{"type":"object","properties":{}}`.
    Empty,
    /// An object of no properties is refused, and without a schema no arguments pass: they go below `args`.
    Args,
}

/// What a body is made of.
pub(super) struct BoundFunctions<'a> {
    /// The functions, in order.
    pub(super) functions: &'a [BoundFunction<'a>],
    /// Who answers searches, when there is something to search for.
    pub(super) search: Option<SearchBy>,
    /// Whether to mark the list for the prompt cache.
    pub(super) cache: bool,
    /// The most entries that the list may have.
    pub(super) max_entries: Option<usize>,
}
