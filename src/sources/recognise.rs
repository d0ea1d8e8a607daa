//! Tells tools from the other named and described objects that files hold.
//!
//! Most JSON and YAML in a project is no tool: packages, people, messages, resources. So outside a container of tools
//! an object needs a schema, or must have the form of a native definition.

use serde_json::{Map, Value};

use super::shape::{SCHEMA_KEYS, Shape};
use crate::finding::SlipPolicy;

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

/// Keys that no native definition has and that show a foreign one.
const FOREIGN_KEYS: [&str; 13] = [
    "inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema", "args_schema", "args",
    "outputSchema", "annotations", "defer_loading", "metadata", "response", "cache_control", "_meta",
];

/// Fields of a native definition, besides `parameters`, that other objects have too.
const COMMON_KEYS: [&str; 8] =
    ["type", "name", "description", "title", "tags", "notes", "cost", "deprecated"];

/// Fields of a native definition that other objects do not have.
const TELLING_KEYS: [&str; 23] = [
    "category", "short_description", "description_mode", "op", "aliases", "returns", "result_schema",
    "examples", "policy", "effect", "safe", "approval", "dry_run", "context_shift", "allowed_roles",
    "when_forbidden", "capabilities", "strict", "provider_schema", "replaced_by", "backend",
    "allow_no_schema", "no_schema_mode",
];

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
        let foreign = FOREIGN_KEYS.iter().any(|key| has(key)) || (has("type") && !is_plain(object));
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
    const GEMINI: [&str; 12] = [
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "google_search_retrieval",
        "codeExecution",
        "code_execution",
        "urlContext",
        "url_context",
        "googleMaps",
        "google_maps",
        "computerUse",
        "computer_use",
    ];
    if object.keys().next().is_some_and(|only| object.len() == 1 && GEMINI.contains(&only.as_str())) {
        return true;
    }
    let own = ["description", "function", "custom", "toolSpec", "arguments", "tools"];
    let defined = own.into_iter().chain(SCHEMA_KEYS.iter().map(|path| &path[1..]));
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
fn has_schema(object: &Map<String, Value>) -> bool {
    let described = object.contains_key("description");
    let schema = |path: &&str| match (&path[1..], object.get(&path[1..])) {
        (_, None) => false,
        ("args", Some(value)) => is_map_of_schemas(value) || (described && is_empty(value)),
        ("parameters", Some(value)) => {
            is_schema(value)
                || (is_empty(value) && (described || strange_keys(object).all(|key| is_slip(key))))
                || (described && is_plain(object) && is_map_of_schemas(value))
        }
        ("args_schema", Some(value)) => is_schema(value) || (described && is_empty(value)),
        (_, Some(value)) => is_schema(value) || is_empty(value) || (described && value.is_null()),
    };
    SCHEMA_KEYS.iter().any(schema)
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

fn is_schema(value: &Value) -> bool {
    let is = |key: &str, kind: fn(&Value) -> bool| value.get(key).is_some_and(kind);
    is("type", |word| word.is_string() || word.is_array())
        || ["properties", "$defs", "json"].iter().any(|key| is(key, Value::is_object))
        || ["anyOf", "oneOf", "allOf", "enum", "required"].iter().any(|key| is(key, Value::is_array))
        || ["$ref", "$schema"].iter().any(|key| is(key, Value::is_string))
}

/// `{path: {type: string}}`: the properties alone.
fn is_map_of_schemas(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(is_schema))
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

#[cfg(test)]
#[path = "tests/recognise.rs"]
mod tests;
