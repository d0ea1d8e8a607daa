//! The formats of one tool: each is recognised among the other named and described objects in a file, and read into native
//! fields (docs/reference/formats.md).
//!
//! Most JSON and YAML in a project describes something else: packages, people, messages, resources. So outside a container of tools
//! an object needs a schema, or must have the form of a native definition.

use std::collections::VecDeque;
use std::sync::LazyLock;

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::sample::Sample;
use toolcrib_definition::finding::{Code, Finding, Place, Reader, SlipPolicy, nearest};
use toolcrib_definition::schema::type_words::schema_of_type;
use toolcrib_definition::schema::walk::{declares_schema, keyword};
use toolcrib_definition::{CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Schema};

/// The format of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Our own format; also bare `{name, description, parameters}`.
    Native,
    /// MCP, Anthropic, and plain lists: name, description and schema under keys of [`FORMATS`].
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

/// The keys of a format. What a new format needs that has `name` and its other fields in one object is a row of [`FORMATS`].
pub(super) struct ToolFormat {
    /// The format in messages.
    pub(super) name: &'static str,
    /// Lists of tools, and maps of tools by name.
    lists: &'static [&'static str],
    /// The schema of the arguments.
    schemas: &'static [&'static str],
    /// The description, next to `description`.
    texts: &'static [&'static str],
    /// The title, next to `title`.
    titles: &'static [&'static str],
    /// Other keys that no native definition has.
    signs: &'static [&'static str],
}

/// The formats, the first of those that share a key first.
#[rustfmt::skip]
pub(super) const FORMATS: [ToolFormat; 11] = [
    ToolFormat { name: "MCP tools/list", lists: &["tools", "tool"], schemas: &["inputSchema"], signs: &["outputSchema", "annotations", "_meta"], ..ROW },
    ToolFormat { name: "VS Code languageModelTools", lists: &["languageModelTools"], texts: &["modelDescription", "userDescription"], titles: &["displayName"], signs: &["toolReferenceName"], ..ROW },
    ToolFormat { name: "Anthropic", schemas: &["input_schema"], signs: &["defer_loading", "cache_control"], ..ROW },
    ToolFormat { name: "toolcrib's own", lists: &["operations", "definitions", "actions"], schemas: &["parameters"], ..ROW },
    ToolFormat { name: "OpenAI", lists: &["functions"], signs: &["function"], ..ROW },
    ToolFormat { name: "Gemini and Vertex", lists: &["functionDeclarations", "function_declarations"], schemas: &["parametersJsonSchema", "parameters_json_schema"], signs: &["response"], ..ROW },
    ToolFormat { name: "Bedrock", signs: &["toolSpec"], ..ROW },
    ToolFormat { name: "Bedrock agents", signs: &["requireConfirmation"], ..ROW },
    ToolFormat { name: "LangChain", schemas: &["args_schema", "args"], signs: &["metadata"], ..ROW },
    ToolFormat { name: "OpenAPI", signs: &["openapi", "swagger", "paths"], ..ROW },
    ToolFormat { name: "MCP client configuration", signs: &["mcpServers"], ..ROW },
];
const ROW: ToolFormat =
    ToolFormat { name: "", lists: &[], schemas: &[], texts: &[], titles: &[], signs: &[] };
/// Keys of sets of tools, which name them.
pub(super) const SETS: [&str; 3] = ["languageModelToolSets", "toolSets", "toolsets"];
/// Keys of a schema that stands in an object of its own: Bedrock's, and that of the AI SDK.
const SCHEMA_WRAPPERS: [&str; 2] = ["json", "jsonSchema"];

/// Whether a key is that of a list or map of tools.
pub(super) fn is_list_key(key: &str) -> bool {
    FORMATS.iter().any(|format| format.lists.contains(&key))
}

/// The keys of schemas, in the order in which they are looked for.
pub(super) fn schema_keys() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.schemas).copied()
}

/// The format that shares most keys with a document, and these keys.
pub(super) fn nearest_format(document: &Value) -> Option<(&'static str, Vec<&str>)> {
    /// Most different keys that are compared.
    const MOST: usize = 500;
    let mut keys = IndexSet::new();
    let mut queue = VecDeque::from([document]);
    while let Some(value) = queue.pop_front().filter(|_| keys.len() < MOST) {
        match value {
            Value::Object(object) => {
                keys.extend(object.keys().map(String::as_str));
                queue.extend(object.values());
            }
            Value::Array(items) => queue.extend(items.iter().take(MOST)),
            _ => {}
        }
    }
    keys.retain(|key| !COMMON_KEYS.contains(key));
    let shared = |format: &'static ToolFormat| {
        let all =
            || [format.lists, format.schemas, format.texts, format.signs].into_iter().flatten().copied();
        let is_near = |key: &str| all().any(|known| known == key) || !nearest(key, all()).is_empty();
        (format.name, keys.iter().copied().filter(|key| is_near(key)).take(3).collect::<Vec<_>>())
    };
    let near = FORMATS.iter().map(shared).filter(|(_, shared)| !shared.is_empty());
    near.rev().max_by_key(|(_, shared)| shared.len())
}

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

/// Whether a key shows that a definition is not a native one.
fn is_foreign(key: &str) -> bool {
    let keys = |format: &ToolFormat| [format.schemas, format.texts, format.titles, format.signs];
    key != "parameters" && FORMATS.iter().flat_map(keys).any(|keys| keys.contains(&key))
}

/// Fields of a native definition, besides `parameters`, that other objects have too.
const COMMON_KEYS: [&str; 8] =
    ["type", "name", "description", "title", "tags", "notes", "cost", "deprecated"];

/// Fields of a native definition that other objects do not have.
const TELLING_KEYS: [&str; 24] = [
    "category", "short_description", "description_mode", "op", "aliases", "returns", "result_schema",
    "errors", "examples", "policy", "effect", "safe", "approval", "dry_run", "context_shift",
    "allowed_roles", "when_forbidden", "capabilities", "strict", "provider_schema", "replaced_by", "backend",
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

/// The text of a field, under any of its keys.
fn text_of<'o>(object: &'o Map<String, Value>, field: &'static str) -> Option<&'o str> {
    let others = |format: &'static ToolFormat| match field {
        "description" => format.texts,
        "title" => format.titles,
        _ => &[],
    };
    let keys = [field].into_iter().chain(FORMATS.iter().flat_map(others).copied());
    keys.filter_map(|key| keyword(object, key)?.as_str()).next()
}

/// Whether a map is empty; PHP writes such a map as a list.
fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn is_schema(value: &Value) -> bool {
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
        let (mut definition, written) = match self {
            Shape::Registry => {
                let definition = native(of_registry(object))?;
                let written = definition.parameters.is_some().then(|| "/parameters_schema".to_string());
                (definition, written)
            }
            Shape::Native => {
                let is_schema = |key: &str, value: &Value| key == "parameters" && value.is_object();
                let is_read = |key: &str, value: &Value| {
                    !(is_schema(key, value) || (key == "parameters" && is_empty(value)))
                };
                let read = object.iter().filter(|(key, value)| is_read(key, value));
                let definition = native(read.map(|(key, value)| (key.clone(), value.clone())).collect())?;
                let is_written = object.iter().any(|(key, value)| is_schema(key, value));
                let written = is_written || definition.parameters.is_some();
                (definition, written.then(|| "/parameters".to_string()))
            }
            Shape::Flat => flat(object, ""),
            Shape::Function => {
                let (mut definition, parameters) = flat(body?, self.body());
                if let Some(metadata) = object.get("metadata").and_then(Value::as_object) {
                    read_metadata(metadata, &mut definition);
                }
                read_deferral(object, &mut definition);
                (definition, parameters)
            }
            Shape::ToolSpec => flat(body?, self.body()),
            Shape::ArgumentList => {
                let (mut definition, written) = flat(object, "");
                if written.is_none() && definition.parameters.is_none() {
                    definition.parameters = argument_list(object, &definition.name, place, findings);
                }
                (definition, written)
            }
        };
        let may_omit_schema = match self {
            Shape::Registry => false,
            // Only toolcrib's own format requires a schema, and a list of functions is another format.
            Shape::Native => {
                let list = place.pointer.rsplit('/').nth(1).unwrap_or_default();
                list.to_lowercase().contains("function") || object.get("parameters").is_some_and(is_empty)
            }
            _ => true,
        };
        let lacks = written.is_none() && definition.parameters.is_none() && !definition.allow_no_schema;
        if lacks && may_omit_schema && lacks_schema(body.unwrap_or(object)) {
            definition.parameters = Some(Schema::from_value(json!({ "type": "object", "properties": {} })));
        }
        Some((definition, written))
    }
}

/// Whether a tool says nothing of its arguments, so that it has no arguments.
fn lacks_schema(object: &Map<String, Value>) -> bool {
    let is_nothing = |value: &Value| value.is_null() || is_empty(value);
    let is_other = |(key, value): (&String, &Value)| !RESULT_KEYS.contains(&key.as_str()) && is_schema(value);
    schema_keys().chain(["arguments"]).filter_map(|key| object.get(key)).all(is_nothing)
        && !object.iter().any(is_other)
}

/// Reads a definition in native fields.
pub fn read_native(definition: Value, place: &Place, findings: &mut Vec<Finding>) -> Option<Definition> {
    // Compiled for the first native definition; most dumps have none.
    static NATIVE: LazyLock<Reader<Definition>> = LazyLock::new(Reader::compile);
    NATIVE.read(definition, place, findings)
}

fn flat(object: &Map<String, Value>, prefix: &str) -> (Definition, Option<String>) {
    let text = |field: &'static str| text_of(object, field).map(str::to_string);
    let mut tool = Definition {
        name: text("name").unwrap_or_default(),
        description: text("description").unwrap_or_default(),
        title: text("title"),
        short_description: text("short_description"),
        strict: keyword(object, "strict").and_then(Value::as_bool),
        aliases: text("toolReferenceName").into_iter().collect(),
        approval: keyword(object, "requireConfirmation").map(|asks| asks == "ENABLED"),
        ..Definition::default()
    };
    let schema = |key: &str| keyword(object, key).filter(|value| value.is_object());
    let found = schema_keys().find_map(|key| schema(key).map(|value| (key, value)));
    let mut written = None;
    if let Some((key, value)) = found {
        let wrapper = SCHEMA_WRAPPERS.iter().find(|key| value.get(key).is_some_and(Value::is_object));
        if key == "args" {
            let properties = json!({ "type": "object", "properties": value });
            tool.parameters = Some(Schema::from_value(properties));
        } else {
            written =
                Some(wrapper.iter().fold(format!("{prefix}/{key}"), |path, key| format!("{path}/{key}")));
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
            // Such an example is no author's, see [`made_call`].
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

/// The ready-made call in a tool of `registry.json`.
pub(super) fn made_call(object: &Map<String, Value>) -> Option<Sample> {
    let fill_in = object.get("fill_in")?.as_array()?.iter().filter_map(Value::as_str);
    let arguments = object.get("examples")?.get(0)?.get("arguments")?.as_object()?.clone();
    Some(Sample { arguments, fill_in: fill_in.map(str::to_string).collect() })
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
            let finding = Finding::new(Code::DefinitionInvalid, "an argument without a name was left out");
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
    Some(Schema::from_value(json!({ "type": "object", "properties": properties, "required": required })))
}

#[cfg(test)]
#[path = "tests/formats.rs"]
mod tests;
