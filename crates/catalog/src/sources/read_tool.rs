//! Reads a tool of each format into native fields.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::formats::{RESULT_KEYS, SCHEMA_WRAPPERS, TELLING_KEYS, known_keys, schema_keys, text_of};
use super::judge::MORE;
use super::shape::{Shape, is_argument_map, is_empty, is_schema};
use crate::sample::Sample;
use toolcrib_definition::document::{Reader, pointer_join};
use toolcrib_definition::finding::{Code, Finding, Place, Severity, nearest};
use toolcrib_definition::schema::walk::keyword;
use toolcrib_definition::{
    CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Schema, quoted,
};

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
                let is_written = definition.parameters.is_some();
                (definition, is_written.then(|| "/parameters_schema".to_string()))
            }
            Shape::Native => {
                let parameters = object.get("parameters");
                let is_schema = parameters.is_some_and(Value::is_object);
                let is_nothing = is_schema || parameters.is_some_and(is_empty);
                let read = object.iter().filter(|(key, _)| !is_nothing || *key != "parameters");
                let definition = native(read.map(|(key, value)| (key.clone(), value.clone())).collect())?;
                let is_written = is_schema || definition.parameters.is_some();
                (definition, is_written.then(|| "/parameters".to_string()))
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
        if !matches!(self, Shape::Native | Shape::Registry) {
            let body = body.unwrap_or(object);
            if written.is_none() && definition.parameters.is_none() {
                definition.parameters = loose_schema(body);
            }
            let is_read = definition.parameters.is_some() && written.is_none();
            let at = place.below(self.body());
            let found = misplaced(body, is_read, &at).into_iter().chain(misspelled(body, &at));
            findings.extend(found.map(|finding| finding.tool(&definition.name)));
        }
        let lacks = written.is_none() && definition.parameters.is_none() && !definition.allow_no_schema;
        if lacks && may_omit_schema && lacks_schema(body.unwrap_or(object)) {
            definition.parameters = Some(Schema::from_value(json!({ "type": "object", "properties": {} })));
        }
        Some((definition, written))
    }
}

/// A schema whose keywords stand beside the name.
fn loose_schema(object: &Map<String, Value>) -> Option<Schema> {
    let properties = object.get("properties").filter(|properties| properties.is_object())?;
    let mut schema = json!({ "type": "object", "properties": properties });
    if let Some(required) = object.get("required") {
        schema["required"] = required.clone();
    }
    Some(Schema::from_value(schema))
}

/// Warns of keys that hold arguments, and that no format has there.
fn misplaced(object: &Map<String, Value>, is_read: bool, place: &Place) -> Vec<Finding> {
    let is_own = |key: &str| {
        schema_keys().chain(RESULT_KEYS).chain(TELLING_KEYS).chain(["arguments"]).any(|known| known == key)
    };
    let holds_arguments = |key: &str, value: &Value| match key {
        "properties" | "required" => !is_read && (value.is_object() || value.is_array()),
        key => !is_own(key) && (value["properties"].is_object() || is_argument_map(value)),
    };
    let misplaced = object.iter().filter(|(key, value)| holds_arguments(key, value));
    let help = "write it into the schema of the arguments, under the key that its format has for it";
    misplaced.map(|(key, _)| not_read(key, place).help(help)).collect()
}

/// Warns of keys that are nearly one that is read. Others belong to who wrote them: formats let anyone add keys.
fn misspelled(object: &Map<String, Value>, place: &Place) -> impl Iterator<Item = Finding> {
    let is_known = |key: &str| known_keys().chain(TELLING_KEYS).any(|known| known == key);
    object.keys().filter(move |key| !is_known(key)).filter_map(|key| {
        let near = nearest(key, known_keys());
        let near = near.into_iter().find(|near| !key.contains(near) && !near.contains(key.as_str()))?;
        Some(not_read(key, place).did_you_mean(&[near], ""))
    })
}

/// The warning about a key of a tool.
fn not_read(key: &str, place: &Place) -> Finding {
    let message = format!("`{}` of a tool is not read", quoted(key));
    let finding = Finding::new(Code::FieldUnknown, message).at(place.below(&pointer_join("", key)));
    Finding { severity: Severity::Warning, ..finding }
}

/// Whether a tool says nothing of its arguments, so that it has no arguments.
pub(super) fn lacks_schema(object: &Map<String, Value>) -> bool {
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

/// Fields that restrict the calls of a tool.
const RULES: [&str; 6] =
    ["allowed_callers", "allowed_roles", "approval", "dry_run", "effect", "when_forbidden"];

/// Whether a finding says that a rule of the tool at this place could not be read. Without the rule, the tool would be too open.
pub(super) fn is_about_rule(finding: &Finding, tool: &str) -> bool {
    let below = finding.place.as_ref().and_then(|place| place.pointer.strip_prefix(tool)?.strip_prefix('/'));
    let field = below.and_then(|below| below.split('/').next()).unwrap_or_default();
    match finding.code {
        Code::FieldInvalid => RULES.contains(&field),
        Code::FieldUnknown => !nearest(field, RULES).is_empty(),
        _ => false,
    }
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
        let mut wrappers = SCHEMA_WRAPPERS.iter().filter(|key| value.get(key).is_some_and(Value::is_object));
        if key == "args" {
            let properties = json!({ "type": "object", "properties": value });
            tool.parameters = Some(Schema::from_value(properties));
        } else {
            let inner = wrappers.next().map(|wrapper| format!("/{wrapper}")).unwrap_or_default();
            written = Some(format!("{prefix}/{key}{inner}"));
        }
    }
    let result = RESULT_KEYS[..4].iter().find_map(|key| schema(key));
    tool.result_schema = result.cloned().map(Schema::from_value);
    let examples = keyword(object, "input_examples").and_then(Value::as_array).into_iter().flatten();
    let example = |arguments: &Map<_, _>| Example { arguments: arguments.clone(), ..Example::default() };
    tool.examples = examples.filter_map(Value::as_object).map(example).collect();
    tool.allowed_callers = texts(object, "allowed_callers").collect();
    if let Some(annotations) = keyword(object, "annotations").and_then(Value::as_object) {
        read_annotations(annotations, &mut tool);
    }
    read_deferral(object, &mut tool);
    read_canonical(object, &mut tool);
    if keyword(object, "inputSchema").is_some() {
        let listed = MCP_KEYS.iter().filter_map(|key| Some((key.to_string(), keyword(object, key)?.clone())));
        tool.mcp = listed.collect();
        tool.mcp.extend(object.get(MORE).and_then(Value::as_object).cloned().unwrap_or_default());
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
    tool.allow_no_schema = flag("allowNoSchema").unwrap_or(false);
    let mode = keyword(object, "noSchemaMode");
    tool.no_schema_mode = mode.and_then(|mode| NoSchemaMode::deserialize(mode).ok());
    let schema = keyword(object, "providerSchema").filter(|schema| schema.is_object());
    tool.provider_schema = schema.cloned().map(Schema::from_value);
    tool.safe = flag("safe");
    tool.tags.extend(texts(object, "tags"));
    tool.capabilities.extend(texts(object, "capabilities"));
    let named = keyword(object, "capabilities").and_then(Value::as_object).into_iter().flatten();
    tool.capabilities.extend(named.filter(|(_, has)| **has == true).map(|(name, _)| name.clone()));
}

/// MCP's hints (docs/reference/formats.md, MCP). A tool that only says it is not read-only is judged by its verb.
fn read_annotations(annotations: &Map<String, Value>, tool: &mut Definition) {
    let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
    let title = annotations.get("title").and_then(Value::as_str);
    tool.title = tool.title.take().or(title.map(str::to_string));
    tool.effect = match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) => Some(Effect::Read),
        (_, Some(true)) => Some(Effect::Destructive),
        (Some(false), _) => Some(Effect::of_name(&tool.name).max(Effect::Write)),
        _ => None,
    };
}

fn read_deferral(object: &Map<String, Value>, tool: &mut Definition) {
    let always = object.get("_meta").and_then(|meta| meta.get("anthropic/alwaysLoad"));
    if object.get("defer_loading").is_some_and(|defers| *defers == true) {
        tool.description_mode = Some(DescriptionMode::Deferred);
    } else if always.is_some_and(|always| *always == true) {
        tool.description_mode = Some(DescriptionMode::Full);
    }
}

/// Metadata that registries keep beside a function: category, short description, deferral, phases.
fn read_metadata(metadata: &Map<String, Value>, tool: &mut Definition) {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    tool.category.extend(text("category").and_then(CategoryPath::parse));
    let other = text("description").filter(|short| *short != tool.description);
    let short = text("short_description").or(other).map(str::to_string);
    tool.short_description = tool.short_description.take().or(short);
    let defers = metadata.get("defer_to_workspace").or_else(|| metadata.get("defer_loading"));
    if defers.is_some_and(|defers| *defers == true) {
        tool.description_mode = Some(DescriptionMode::Deferred);
    }
    tool.tags.extend(texts(metadata, "tags").chain(texts(metadata, "phases")));
}

/// The texts of a list.
fn texts(object: &Map<String, Value>, key: &str) -> impl Iterator<Item = String> {
    let items = keyword(object, key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_string)
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
