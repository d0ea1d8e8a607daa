//! The formats of one tool: each is recognised among the other named and described objects in a file, and read into native
//! fields (docs/reference/formats.md).
//!
//! Most JSON and YAML in a project describes something else: packages, people, messages, resources. So outside a container of tools
//! an object needs a schema, or must have the form of a native definition.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::finding::{Code, Finding, Place, Reader, SlipPolicy};
use crate::schema::walk::keyword;
use crate::tool::{CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Schema};

/// The format of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Our own format; also bare `{name, description, parameters}`.
    Native,
    /// MCP, Anthropic, and plain lists: name and description beside a schema under one of [`SCHEMA_KEYS`].
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

/// Keys under which formats keep their schema; JSON Pointers below the tool.
pub(super) const SCHEMA_KEYS: [&str; 7] = [
    "/inputSchema",
    "/input_schema",
    "/parameters",
    "/parametersJsonSchema",
    "/parameters_json_schema",
    "/args_schema",
    "/args",
];
/// Keys under which formats keep the schema of a result.
pub(super) const RESULT_KEYS: [&str; 5] =
    ["outputSchema", "output_schema", "response", "responseJsonSchema", "result_schema"];
/// Keys of MCP's lists that only clients read.
const MCP_KEYS: [&str; 6] = ["title", "annotations", "icons", "execution", "outputSchema", "_meta"];

// Which objects are tools.

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

// The reading of each format.

impl Shape {
    /// Place of its name and description below a tool of this format.
    pub(super) fn body(self) -> &'static str {
        match self {
            Shape::Function => "/function",
            Shape::ToolSpec => "/toolSpec",
            _ => "",
        }
    }

    /// The definition in an object of this format, and the place of its parameters below the tool where they stand unchanged.
    /// Parameters that need no reading stay there alone.
    pub(super) fn read(
        self,
        object: &Map<String, Value>,
        place: &Place,
        findings: &mut Vec<Finding>,
    ) -> Option<(Definition, Option<String>)> {
        let mut native = |object: Map<String, Value>| read_native(Value::Object(object), place, findings);
        let body = object.get(self.body().trim_start_matches('/')).and_then(Value::as_object);
        match self {
            Shape::Registry => {
                let definition = native(of_registry(object))?;
                let written = definition.parameters.is_some().then(|| "/parameters_schema".to_string());
                Some((definition, written))
            }
            Shape::Native => {
                let is_schema = |key: &str, value: &Value| key == "parameters" && value.is_object();
                let read = object.iter().filter(|(key, value)| !is_schema(key, value));
                let definition = native(read.map(|(key, value)| (key.clone(), value.clone())).collect())?;
                let is_written = object.iter().any(|(key, value)| is_schema(key, value));
                let written = is_written || definition.parameters.is_some();
                Some((definition, written.then(|| "/parameters".to_string())))
            }
            Shape::Flat => Some(flat(object, "")),
            Shape::Function => {
                let (mut definition, parameters) = flat(body?, self.body());
                if let Some(metadata) = object.get("metadata").and_then(Value::as_object) {
                    read_metadata(metadata, &mut definition);
                }
                read_deferral(object, &mut definition);
                Some((definition, parameters))
            }
            Shape::ToolSpec => Some(flat(body?, self.body())),
            Shape::ArgumentList => {
                let (mut definition, written) = flat(object, "");
                if written.is_none() && definition.parameters.is_none() {
                    definition.parameters = argument_list(object, &definition.name, place, findings);
                }
                Some((definition, written))
            }
        }
    }
}

/// Reads a definition in native fields.
pub fn read_native(definition: Value, place: &Place, findings: &mut Vec<Finding>) -> Option<Definition> {
    // Compiled for the first native definition; most dumps have none.
    static NATIVE: LazyLock<Reader<Definition>> = LazyLock::new(Reader::compile);
    NATIVE.read(definition, place, findings)
}

fn flat(object: &Map<String, Value>, prefix: &str) -> (Definition, Option<String>) {
    let text = |key: &str| keyword(object, key).and_then(Value::as_str).map(str::to_string);
    let mut tool = Definition {
        name: text("name").unwrap_or_default(),
        description: text("description").unwrap_or_default(),
        title: text("title"),
        short_description: text("short_description"),
        strict: keyword(object, "strict").and_then(Value::as_bool),
        ..Definition::default()
    };
    let schema = |key: &str| keyword(object, key).filter(|value| value.is_object());
    let found = SCHEMA_KEYS.iter().find_map(|path| schema(&path[1..]).map(|value| (*path, value)));
    let mut written = None;
    if let Some((path, value)) = found {
        let (path, value) = match value.get("json").filter(|json| json.is_object()) {
            Some(json) if path == "/inputSchema" => ("/inputSchema/json", json),
            _ => (path, value),
        };
        if path == "/args" {
            let properties = serde_json::json!({ "type": "object", "properties": value });
            tool.parameters = Some(Schema::from_value(properties));
        } else {
            written = Some(format!("{prefix}{path}"));
        }
    }
    let result = RESULT_KEYS[..4].iter().find_map(|key| schema(key));
    tool.result_schema = result.map(|value| Schema::from_value(value.clone()));
    if let Some(examples) = keyword(object, "input_examples").and_then(Value::as_array) {
        let arguments = examples.iter().filter_map(Value::as_object);
        tool.examples = arguments
            .map(|arguments| Example { arguments: arguments.clone(), ..Example::default() })
            .collect();
    }
    let callers = keyword(object, "allowed_callers").and_then(Value::as_array).into_iter().flatten();
    tool.allowed_callers = callers.filter_map(Value::as_str).map(str::to_string).collect();
    if let Some(annotations) = keyword(object, "annotations").and_then(Value::as_object) {
        read_annotations(annotations, &mut tool);
    }
    read_deferral(object, &mut tool);
    read_canonical(object, &mut tool);
    if keyword(object, "inputSchema").is_some() {
        let listed = MCP_KEYS.iter().filter_map(|key| Some((key.to_string(), keyword(object, key)?.clone())));
        tool.mcp = listed.collect();
    }
    (tool, written)
}

/// A tool of `registry.json` under the names of the native fields, without what follows from the others.
fn of_registry(object: &Map<String, Value>) -> Map<String, Value> {
    let renamed = |(key, value): (&String, &Value)| {
        let key = match key.as_str() {
            "safe_name" | "group" | "kind" | "entity" | "action" | "callable" | "server" | "fill_in" => {
                return None;
            }
            // Such an example is made from the other fields.
            "examples" if object.contains_key("fill_in") => return None,
            "tool_name" => "name",
            "parameters_schema" => "parameters",
            "categories" => "category",
            key => key,
        };
        Some((key.to_string(), value.clone()))
    };
    object.iter().filter_map(renamed).collect()
}

/// The fields of a canonical definition as some documents spell them.
fn read_canonical(object: &Map<String, Value>, tool: &mut Definition) {
    let flag = |key: &str| keyword(object, key).and_then(Value::as_bool);
    let texts = |key: &str| {
        keyword(object, key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    };
    tool.allow_no_schema = flag("allowNoSchema").unwrap_or(false);
    tool.no_schema_mode =
        keyword(object, "noSchemaMode").and_then(|mode| NoSchemaMode::deserialize(mode).ok());
    tool.provider_schema = keyword(object, "providerSchema")
        .filter(|schema| schema.is_object())
        .map(|schema| Schema::from_value(schema.clone()));
    tool.safe = flag("safe");
    tool.tags.extend(texts("tags").map(str::to_string));
    tool.capabilities.extend(texts("capabilities").map(str::to_string));
    let named = keyword(object, "capabilities").and_then(Value::as_object).into_iter().flatten();
    tool.capabilities
        .extend(named.filter(|(_, has)| **has == Value::Bool(true)).map(|(name, _)| name.clone()));
}

/// MCP's hints (docs/reference/formats.md, MCP). A tool that only says it is not read-only is judged by its verb.
fn read_annotations(annotations: &Map<String, Value>, tool: &mut Definition) {
    let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
    tool.title =
        tool.title.take().or_else(|| annotations.get("title").and_then(Value::as_str).map(str::to_string));
    tool.effect = match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) => Some(Effect::Read),
        (_, Some(true)) => Some(Effect::Destructive),
        (Some(false), _) => Some(Effect::of_name(&tool.name).max(Effect::Write)),
        _ => None,
    };
}

fn read_deferral(object: &Map<String, Value>, tool: &mut Definition) {
    let flag = |pointer: &str| Value::as_bool(object.get(pointer)?);
    let always =
        object.get("_meta").and_then(|meta| meta.get("anthropic/alwaysLoad")).and_then(Value::as_bool);
    if flag("defer_loading") == Some(true) {
        tool.description_mode = Some(DescriptionMode::Deferred);
    } else if always == Some(true) {
        tool.description_mode = Some(DescriptionMode::Full);
    }
}

/// Metadata that registries keep beside a function: category, short description, deferral, phases.
fn read_metadata(metadata: &Map<String, Value>, tool: &mut Definition) {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    tool.category.extend(text("category").and_then(CategoryPath::parse));
    let short =
        text("short_description").or_else(|| text("description").filter(|short| *short != tool.description));
    tool.short_description = tool.short_description.take().or_else(|| short.map(str::to_string));
    if metadata.get("defer_to_workspace").or_else(|| metadata.get("defer_loading")).and_then(Value::as_bool)
        == Some(true)
    {
        tool.description_mode = Some(DescriptionMode::Deferred);
    }
    for key in ["tags", "phases"] {
        let words =
            metadata.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        tool.tags.extend(words.map(str::to_string));
    }
}

/// `[{name, type, desc, optional, items}]` as a schema. An empty list is a tool without arguments; a missing one says
/// nothing.
fn argument_list(
    object: &Map<String, Value>,
    tool: &str,
    place: &Place,
    findings: &mut Vec<Finding>,
) -> Option<Schema> {
    let list = object.get("arguments").and_then(Value::as_array)?;
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (index, argument) in list.iter().enumerate() {
        let text = |key: &str| argument.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(name) = text("name") else {
            let finding = Finding::new(Code::FieldInvalid, "an argument without a name was left out");
            findings.push(finding.tool(tool).at(place.below(&format!("/arguments/{index}"))));
            continue;
        };
        let fields: [(&str, Option<Value>); 3] = [
            ("type", text("type").map(Value::from)),
            ("description", text("desc").or_else(|| text("description")).map(Value::from)),
            ("items", argument.get("items").filter(|items| items.is_object()).cloned()),
        ];
        let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?)));
        let property: Map<String, Value> = fields.collect();
        let flag = |key: &str| argument.get(key).and_then(Value::as_bool);
        if flag("required").unwrap_or(flag("optional") != Some(true)) {
            required.push(Value::from(name));
        }
        properties.insert(name.to_string(), property.into());
    }
    Some(Schema::from_value(
        serde_json::json!({ "type": "object", "properties": properties, "required": required }),
    ))
}

#[cfg(test)]
#[path = "tests/formats.rs"]
mod tests;
