//! The formats of one tool, and the reading of each into native fields (docs/reference/formats.md).

use std::cell::OnceCell;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::finding::{Code, Finding, Place, Reader};
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

impl Shape {
    /// Place of its name and description below a tool of this format.
    pub(super) fn body(self) -> &'static str {
        match self {
            Shape::Function => "/function",
            Shape::ToolSpec => "/toolSpec",
            _ => "",
        }
    }
}

/// Reads tools of every format.
pub(super) struct Shapes {
    /// Compiled for the first native definition; most dumps have none.
    native: OnceCell<Reader<Definition>>,
}

impl Shapes {
    pub(super) fn new() -> Self {
        Self { native: OnceCell::new() }
    }

    /// The definition, and the place of its parameters below the tool where they stand unchanged. Parameters that need no
    /// reading stay there alone.
    pub(super) fn read(
        &self,
        shape: Shape,
        object: &Map<String, Value>,
        place: &Place,
        findings: &mut Vec<Finding>,
    ) -> Option<(Definition, Option<String>)> {
        let mut native = |object: Map<String, Value>| {
            self.native.get_or_init(Reader::compile).read(Value::Object(object), place, findings)
        };
        match shape {
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
                let function = object.get("function").and_then(Value::as_object)?;
                let (mut definition, parameters) = flat(function, "/function");
                if let Some(metadata) = object.get("metadata").and_then(Value::as_object) {
                    read_metadata(metadata, &mut definition);
                }
                read_deferral(object, &mut definition);
                Some((definition, parameters))
            }
            Shape::ToolSpec => Some(flat(object.get("toolSpec").and_then(Value::as_object)?, "/toolSpec")),
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
            let at = Place::new(&place.file, format!("{}/arguments/{index}", place.pointer));
            findings.push(
                Finding::new(Code::FieldInvalid, "an argument without a name was left out").tool(tool).at(at),
            );
            continue;
        };
        let mut property = Map::new();
        property.extend(text("type").map(|word| ("type".to_string(), word.into())));
        property.extend(
            text("desc")
                .or_else(|| text("description"))
                .map(|words| ("description".to_string(), words.into())),
        );
        property.extend(
            argument
                .get("items")
                .filter(|items| items.is_object())
                .map(|items| ("items".to_string(), items.clone())),
        );
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
