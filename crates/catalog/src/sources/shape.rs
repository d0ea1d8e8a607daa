//! Tells tools from the other named and described objects in a file.
//!
//! Most JSON and YAML in a project describes something else: packages, people, messages, resources. So outside a container of tools
//! an object needs a schema, or must have the form of a native definition.

use serde_json::{Map, Value};

use super::formats::{COMMON_KEYS, SCHEMA_WRAPPERS, TELLING_KEYS, is_foreign, schema_keys, text_of};
use toolcrib_definition::finding::SlipPolicy;
use toolcrib_definition::schema::type_words::schema_of_type;
use toolcrib_definition::schema::walk::declares_schema;

/// The format of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Our own format; also bare `{name, description, parameters}`.
    Native,
    /// MCP, Anthropic, and plain lists: name, description and schema under keys of `FORMATS`.
    Flat,
    /// `{type: function, function: {...}}` of OpenAI chat, Ollama, Mistral, Cohere and LangChain dumps.
    Function,
    /// Bedrock's `{toolSpec: {...}}`.
    ToolSpec,
    /// A list of `{name, type, desc}` instead of a schema.
    ArgumentList,
    /// A tool of our own `registry.json`.
    Registry,
}

/// Surroundings of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// No container: the value is the document, or stands beside a tool in the list that the document is.
    #[default]
    Nothing,
    /// The list that the document is, with no tool in it so far.
    TopList,
    /// A list of tools, in which even a bare name is one.
    Tools,
    /// Anything else.
    Anything,
}

impl Surroundings {
    /// Surroundings of the items of a list.
    pub(super) fn in_list(self, items: &[Value]) -> Surroundings {
        match self {
            Surroundings::Nothing if !items.iter().any(|item| Shape::of_value(item).is_some()) => {
                Surroundings::TopList
            }
            around => around,
        }
    }
}

impl Shape {
    /// The shape of an object, if it is a tool.
    pub(super) fn of(object: &Map<String, Value>, around: Surroundings) -> Option<Shape> {
        let among_tools = around == Surroundings::Tools;
        if let Some(function) = object.get("function").and_then(Value::as_object)
            && function.contains_key("name")
        {
            return is_function(function, among_tools).then_some(Shape::Function);
        }
        if object.get("toolSpec").is_some_and(Value::is_object) {
            return Some(Shape::ToolSpec);
        }
        let has = |key: &str| object.contains_key(key);
        if ["op", "tool_name", "safe_name", "short_description"].iter().all(|key| has(key)) {
            return Some(Shape::Registry);
        }
        let named = object.get("name").is_some_and(Value::is_string);
        if !named || has("tools") {
            return None;
        }
        if object.get("arguments").is_some_and(|list| is_argument_list(list, among_tools)) {
            return Some(Shape::ArgumentList);
        }
        let foreign = object.keys().any(|key| is_foreign(key)) || (has("type") && !is_plain(object));
        let tool = match around {
            Surroundings::Tools => !is_provider_tool(object) && !is_package(object),
            _ if has_schema(object) || is_described_function(object) => true,
            Surroundings::Nothing => is_nearly_native(object),
            Surroundings::TopList => is_nearly_native(object) && (is_telling(object) || !is_plain(object)),
            Surroundings::Anything => false,
        };
        tool.then_some(if foreign { Shape::Flat } else { Shape::Native })
    }

    /// The shape of a value outside any container.
    pub(super) fn of_value(value: &Value) -> Option<Shape> {
        value.as_object().and_then(|object| Shape::of(object, Surroundings::Anything))
    }
}

/// A tool in a list of tools that the provider runs itself, such as `{"type": "web_search"}`: it has only a type.
pub(super) fn is_provider_tool(object: &Map<String, Value>) -> bool {
    #[rustfmt::skip]
    const GEMINI: [&str; 12] = [
        "googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval", "codeExecution",
        "code_execution", "urlContext", "url_context", "googleMaps", "google_maps", "computerUse", "computer_use",
    ];
    if object.keys().next().is_some_and(|only| object.len() == 1 && GEMINI.contains(&only.as_str())) {
        return true;
    }
    let own = ["description", "function", "custom", "toolSpec", "arguments", "tools", "properties"];
    let defined = own.into_iter().chain(schema_keys());
    let kind = object.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind != "function" && kind != "custom")
        && !defined.into_iter().any(|key| object.contains_key(key))
}

/// A definition, rather than a call that a model has made (its arguments are text) or the choice of a function.
fn is_function(function: &Map<String, Value>, among_tools: bool) -> bool {
    let defined = function.contains_key("description") || has_schema(function);
    (among_tools || defined) && !function.get("arguments").is_some_and(Value::is_string)
}

/// `{type: function, name, description}`; contracts and requests have functions without a description.
fn is_described_function(object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(|kind| kind == "function")
        && object.contains_key("description")
        && !object.get("arguments").is_some_and(Value::is_string)
}

/// `[{name, type, desc}]`. Prompts have lists of arguments too, but without types.
fn is_argument_list(value: &Value, among_tools: bool) -> bool {
    let typed = |item: &Value| item.get("name").is_some() && item.get("type").is_some();
    match value {
        Value::Array(items) => among_tools || (!items.is_empty() && items.iter().all(typed)),
        value => among_tools && value.is_null(),
    }
}

/// An object with a version and neither description nor arguments, such as a program in a bill of materials.
fn is_package(object: &Map<String, Value>) -> bool {
    object.contains_key("version") && !object.contains_key("description") && !has_schema(object)
}

/// Whether an object has the schema of its arguments.
pub(super) fn has_schema(object: &Map<String, Value>) -> bool {
    let described = text_of(object, "description").is_some();
    let schema = |key: &'static str| match (key, object.get(key)) {
        (_, None) => false,
        ("args", Some(value)) => is_map_of_schemas(value) || (described && is_empty(value)),
        ("parameters", Some(value)) => {
            is_schema(value)
                || (is_empty(value) && (described || strange_keys(object).all(|key| is_slip(key))))
                || (described && is_plain(object) && is_map_of_types(value))
        }
        ("args_schema", Some(value)) => is_schema(value) || (described && is_empty(value)),
        (_, Some(value)) => {
            is_schema(value) || is_empty(value) || (described && (value.is_null() || is_map_of_types(value)))
        }
    };
    schema_keys().any(schema)
}

/// Whether a schema says nothing: an empty map, which PHP writes as a list, or `true`, which any arguments fit.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        value => *value == Value::Bool(true),
    }
}

pub(super) fn is_schema(value: &Value) -> bool {
    declares_schema(value) || SCHEMA_WRAPPERS.iter().any(|key| value.get(key).is_some_and(Value::is_object))
}

/// `{path: {type: string}}`: the properties alone.
fn is_map_of_schemas(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(is_schema))
}

/// `{path: string, size: {type: integer}}`: the properties alone, or their types.
fn is_map_of_types(value: &Value) -> bool {
    let is_type = |value: &Value| is_schema(value) || value.as_str().and_then(schema_of_type).is_some();
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(is_type))
}

/// Schemas of arguments by their names, or a list of arguments.
pub(super) fn is_argument_map(value: &Value) -> bool {
    is_map_of_schemas(value) || is_argument_list(value, false)
}

/// Whether a named and described object was meant as a tool: its arguments have another key, or are no schema.
pub(super) fn is_meant_as_tool(object: &Map<String, Value>) -> bool {
    let is_like = |key: &str, known: &str| SlipPolicy::DEFINITION_FIELD.is_slip(key, known);
    let is_key =
        |key: &str| matches!(key, "arguments" | "params") || schema_keys().any(|known| is_like(key, known));
    let is_exact = |key: &str| key != "args" && schema_keys().any(|known| key == known);
    let is_meant = |(key, value): (&String, &Value)| {
        let has_types = is_map_of_types(value) || is_schema(value) || is_argument_list(value, false);
        has_types && is_key(key) || is_exact(key) && !value.is_object() && !value.is_null()
    };
    let is_text = |key: &str| object.get(key).is_some_and(Value::is_string);
    is_text("name") && is_text("description") && object.iter().any(is_meant)
}

/// Whether all fields are those of a native definition.
fn is_plain(object: &Map<String, Value>) -> bool {
    strange_keys(object).next().is_none()
}

fn strange_keys(object: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let native = |key: &str| key == "parameters" || COMMON_KEYS.contains(&key) || TELLING_KEYS.contains(&key);
    object.keys().filter(move |key| !native(key))
}

fn is_telling(object: &Map<String, Value>) -> bool {
    TELLING_KEYS.iter().any(|key| object.contains_key(*key))
}

/// Whether an object reads as a native definition without parameters, but for one misspelled key.
fn is_nearly_native(object: &Map<String, Value>) -> bool {
    let mut strange = strange_keys(object);
    let slip = match (strange.next(), strange.next()) {
        (None, _) => true,
        (Some(key), None) => key != "version" && (is_telling(object) || is_slip(key)),
        _ => false,
    };
    let kind = object.get("type").is_none_or(|kind| kind == "function" || kind.is_null());
    slip && kind && object.contains_key("description")
}

/// Whether a key is a native field with a letter or two wrong.
fn is_slip(key: &str) -> bool {
    let is_meant = |field: &&str| SlipPolicy::DEFINITION_FIELD.is_slip(key, field);
    COMMON_KEYS.iter().chain(&TELLING_KEYS).any(is_meant)
}
