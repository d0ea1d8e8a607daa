//! The format of a provider, as data: its rules, and the forms of payloads, calls and results (docs/reference/formats.md).

use serde::Serialize;
use serde_json::{Map, Value};

use super::view::{Keys, Root, SchemaRules};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::SearchBy;

/// The whole format of one provider.
pub(super) struct Format {
    /// The usual name of the provider's API.
    pub(super) title: &'static str,
    /// Rule of the names of functions.
    pub(super) names: NameRule,
    /// The most entries that the list of tools may have.
    pub(super) max_entries: Option<usize>,
    /// The place of that list in a body, as a JSON Pointer.
    pub(super) entries: &'static str,
    /// How the provider defers tools natively.
    pub(super) native: Native,
    /// Marks for the prompt cache.
    pub(super) cache: Cache,
    pub(super) schema: SchemaRules,
    /// The smallest schema through which a function still takes arguments.
    pub(super) stub: Stub,
    /// Whether functions may have examples of their arguments, in a request without deferred tools.
    pub(super) takes_examples: bool,
    /// The steps that are left to the caller when tools are deferred.
    pub(super) deferral_note: Option<&'static str>,
    /// The name of the entry for the provider's own search, where it has one.
    pub(super) own_search: fn(SearchBy) -> Option<&'static str>,
    /// The header that a request with this body needs.
    pub(super) header: fn(&BoundFunctions<'_>) -> Option<RequestHeader>,
    /// One function in the provider's form.
    pub(super) function: fn(&BoundFunction<'_>) -> Value,
    /// The part of the request body with all functions.
    pub(super) body: fn(&BoundFunctions<'_>) -> Value,
    /// The calls of a response, in order.
    pub(super) calls: fn(Value) -> Calls,
    /// Whether a result must have the id of its call.
    pub(super) needs_call_id: bool,
    /// The id of a call as the provider takes it.
    pub(super) call_id: fn(&str) -> String,
    /// The result of one call.
    pub(super) result: fn(&ToolResult) -> Value,
    /// The results of one turn as the message, or messages, to send.
    pub(super) turn: fn(Vec<Value>) -> Value,
}

/// Plain JSON Schema with `properties` at the root; most formats differ little from it.
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
    /// The format has none.
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

/// Rule of the names that a provider takes (docs/reference/formats.md, Limits by provider).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: safe names as they are.
    Safe,
    /// `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`: safe names without dashes.
    Underscores,
    /// `^[A-Za-z0-9_.-]{1,49}$`: canonical names where they fit.
    Mcp,
}

impl NameRule {
    /// The name of a tool in this format.
    pub(super) fn name(self, tool: &Tool) -> String {
        match self {
            NameRule::Safe => tool.names.safe.clone(),
            NameRule::Underscores => tool.names.safe.replace('-', "_"),
            NameRule::Mcp => tool.listed_name().into_owned(),
        }
    }
}

/// Extent to which a tool is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole description and schema.
    Full,
    /// The short description, and the schema's structure.
    Compact,
    /// The short description, and a schema that takes any arguments.
    Stub,
}

/// A function of the request.
#[derive(Clone, Debug)]
pub struct BoundFunction<'a> {
    /// The tool, or the function of toolcrib.
    pub tool: &'a Tool,
    /// Whether it is a function of toolcrib.
    pub ours: bool,
    /// The name that the provider sees.
    pub name: String,
    /// The text that the provider sees.
    pub description: String,
    /// The schema that the provider sees; `None` where an empty one is refused.
    pub schema: Option<Value>,
    /// Arguments of calls that work, where the format takes them.
    pub examples: Vec<Value>,
    /// Extent of the binding.
    pub extent: Extent,
    /// Whether the provider is asked to enforce the schema.
    pub strict: bool,
    /// Whether the provider keeps it out of the context until it is searched for.
    pub deferred: bool,
}

impl BoundFunction<'_> {
    /// The callers that the definition allows and the format knows, if there are any.
    pub(super) fn callers(&self, is_known: impl Fn(&str) -> bool) -> Option<Value> {
        let callers = self.tool.rules.callers.iter().map(String::as_str);
        let callers: Vec<&str> = callers.filter(|caller| is_known(caller)).collect();
        (!callers.is_empty()).then(|| callers.into())
    }
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

impl BoundFunctions<'_> {
    /// All functions in one form.
    pub(super) fn as_list(&self, function: fn(&BoundFunction<'_>) -> Value) -> Vec<Value> {
        self.functions.iter().map(function).collect()
    }
}

/// A header to send with a payload (docs/reference/formats.md, Headers).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestHeader {
    pub name: &'static str,
    pub value: &'static str,
    /// The parts of the payload that need it.
    pub reason: String,
}

/// One call of a response, before its arguments are read.
#[derive(Debug, Default)]
pub(super) struct RawCall {
    /// The name that the model used; `None` when the provider says that the call was malformed.
    pub(super) name: Option<String>,
    /// The namespace that must be sent back with the call.
    pub(super) namespace: Option<String>,
    /// Id of the call, which its result repeats.
    pub(super) call_id: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub(super) signature: Option<String>,
    /// Arguments as they stand in the response.
    pub(super) arguments: Option<Value>,
    /// Whether this is the provider's own search for tools, whose result has its own form.
    pub(super) search: bool,
    /// The mistake in the call, in the words of the provider.
    pub(super) malformed: Option<String>,
    /// Whether it is the last call of an answer that was cut off.
    pub(super) may_be_cut: bool,
}

impl RawCall {
    /// A call whose id, name and arguments are in these fields.
    pub(super) fn of(fields: &mut Map<String, Value>, id: &str, name: &str, arguments: &str) -> Self {
        Self {
            call_id: take_text(fields, id),
            name: take_text(fields, name),
            arguments: take(fields, arguments),
            ..Self::default()
        }
    }
}

/// The calls of a response; for a response of another shape, the shape that was expected.
pub(super) type Calls = Result<Vec<RawCall>, &'static str>;

/// The result of one call.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// The provider's id of the call; `None` where the format has no ids.
    pub call_id: Option<String>,
    /// The name that the provider knows the tool by.
    pub name: String,
    /// Whether the call was the provider's own kind of search for tools.
    pub search: bool,
    /// The result, or the error, for the model to read.
    pub content: Value,
    /// The same as JSON text, where a float would lose digits.
    pub exact: Option<String>,
    /// Whether it is an error.
    pub is_error: bool,
    /// Tools that the call has found, in formats that load them themselves.
    pub found: Vec<FoundTool>,
}

/// A deferred tool that a search has found.
#[derive(Clone, Debug)]
pub struct FoundTool {
    /// The name that the provider knows it by.
    pub name: String,
    /// Its definition, as the provider takes it.
    pub definition: Value,
}

impl ToolResult {
    /// The text for the model: a text as it is, any other value as JSON.
    pub(super) fn text(&self) -> String {
        match (&self.exact, &self.content) {
            (Some(exact), _) => exact.clone(),
            (None, Value::String(text)) => text.clone(),
            (None, value) => value.to_string(),
        }
    }
}

/// `{"tools":[...]}`; `{}` without tools, since providers reject an empty list.
pub(super) fn tool_list(tools: Vec<Value>) -> Value {
    object([("tools", (!tools.is_empty()).then(|| tools.into()))])
}

/// A JSON object of the fields that have a value. Values are moved; `json!` copies them.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    Value::Object(present.collect())
}

/// A field of text.
pub(super) fn text(text: &str) -> Option<Value> {
    Some(text.into())
}

/// A field that is there only where it is true.
pub(super) fn flag(flag: bool) -> Option<Value> {
    flag.then_some(Value::Bool(true))
}

/// The items of a list; any other value is the only one.
pub(super) fn one_or_many(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        only => vec![only],
    }
}

/// Takes a field out; `None` when it is absent.
pub(super) fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.get_mut(key).map(Value::take)
}

/// Takes out a field that is an object.
pub(super) fn take_object(fields: &mut Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
    match take(fields, key)? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Takes out a field that is a list. A field of another type stays, and gives `None`.
pub(super) fn take_list(fields: &mut Map<String, Value>, key: &str) -> Option<Vec<Value>> {
    fields.get_mut(key)?.as_array_mut().map(std::mem::take)
}

/// Takes out a field that is text, or a number in place of text; `None` when it is empty.
pub(super) fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match take(fields, key)? {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The objects of a list.
pub(super) fn objects(items: Vec<Value>) -> impl Iterator<Item = Map<String, Value>> {
    items.into_iter().filter_map(|item| match item {
        Value::Object(fields) => Some(fields),
        _ => None,
    })
}

/// Whether a field is this text.
pub(super) fn is(fields: &Map<String, Value>, key: &str, text: &str) -> bool {
    fields.get(key).is_some_and(|value| value == text)
}
