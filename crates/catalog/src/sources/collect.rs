//! Finds tools in any container: bare arrays, `tools/list` results, request bodies, maps of servers.
//!
//! The walk goes down through objects and arrays until a value reads as a tool, and remembers the server and the
//! category around it.

use std::cell::LazyCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::formats::{SETS, is_list_key, schema_keys};
use super::raw_tool::RawTool;
use super::read_tool::{is_about_rule, lacks_schema, made_call};
use super::shape::{Shape, Surroundings, has_schema, is_meant_as_tool, is_provider_tool};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place, nearest};
use toolcrib_definition::{CategoryPath, Definition, Schema, quoted};

/// Containers nest no deeper than this in any known format.
const MAX_DEPTH: usize = 10;
/// Containers whose name says nothing about a server.
const ENVELOPES: [&str; 9] =
    ["result", "toolConfig", "tool_config", "request", "response", "body", "params", "data", "payload"];
/// The tools of a VS Code extension, among other contributions of it. Without a schema, they have no arguments.
pub(super) const EXTENSION: &str = "languageModelTools";
/// Parts of documents that hold named and described things, but no tools.
const SKIPPED: [&str; 13] = [
    "inputSchema", "input_schema", "parameters", "properties", "$defs", "messages", "components", "paths",
    "mcpServers", "config", "resources", "prompts", "env",
];

/// Facts about a tool from the containers around it.
#[derive(Clone, Default)]
struct Context {
    server: Option<String>,
    category: Option<String>,
    /// Kind of the container.
    around: Surroundings,
}

/// All tools of a document, in order.
pub fn collect(file: &str, document: &Value) -> (Vec<RawTool>, Vec<Finding>) {
    let (tools, findings, seen, sets) = Default::default();
    let mut walk = Walk { file, document, tools, findings, seen, sets };
    walk.value(document, "", &Context::default(), 0);
    walk.categories_of_sets();
    (walk.tools, walk.findings)
}

/// The place of the list of tools of a document, if it is empty.
pub(super) fn empty_list(document: &Value) -> Option<String> {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if document.as_array().is_some_and(Vec::is_empty) {
        return Some(String::new());
    }
    let (at, fields) = answer(document)?;
    let (key, _) = fields.iter().find(|(key, value)| is_list_key(key) && is_empty(value))?;
    Some(pointer_join(&at, key))
}

/// The place of the cursor of a further page, in a document or in the last of its lines.
pub(super) fn next_page(document: &Value) -> Option<String> {
    let (at, last) = match document {
        Value::Array(pages) => (format!("/{}", pages.len().checked_sub(1)?), pages.last()?),
        _ => (String::new(), document),
    };
    let (inside, fields) = answer(last)?;
    let is_page = fields.keys().any(|key| is_list_key(key));
    let cursor = fields.get("nextCursor").and_then(Value::as_str);
    (is_page && cursor.is_some_and(|cursor| !cursor.is_empty())).then(|| format!("{at}{inside}/nextCursor"))
}

/// The fields of a document, or of the JSON-RPC answer that it is, and their place.
fn answer(document: &Value) -> Option<(String, &Map<String, Value>)> {
    match document.get("result") {
        Some(Value::Object(result)) => Some(("/result".into(), result)),
        _ => Some((String::new(), document.as_object()?)),
    }
}

/// Whether a document is a client's table of servers that has none.
pub(super) fn maps_no_servers(document: &Value) -> bool {
    let servers = document.get("mcpServers").and_then(Value::as_object);
    servers.is_some_and(Map::is_empty)
}

struct Walk<'a> {
    file: &'a str,
    document: &'a Value,
    tools: Vec<RawTool>,
    findings: Vec<Finding>,
    /// Tools by server and name: dumps often hold the same list twice.
    seen: HashMap<(Option<String>, String), Vec<usize>>,
    /// Sets that name their tools.
    sets: Vec<&'a Value>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a Value, pointer: &str, context: &Context, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(object) => match Shape::of(object, context.around) {
                Some(shape) => self.tool(shape, object, pointer, context),
                None if context.around != Surroundings::Anything && maps_tools(object) => {
                    self.map(object, pointer, context)
                }
                None if context.around != Surroundings::Anything && is_meant_as_tool(object) => {
                    self.unread(object, pointer, true)
                }
                None => self.container(object, pointer, context, depth),
            },
            Value::Array(items) => {
                let has_tool = LazyCell::new(|| items.iter().any(|item| Shape::of_value(item).is_some()));
                let is_beside_tools = |item: &Map<String, Value>| is_nameless(item) && *has_tool;
                let context = &Context { around: context.around.in_list(items), ..context.clone() };
                let is_tools = context.around == Surroundings::Tools || (pointer.is_empty() && *has_tool);
                for (index, item) in items.iter().enumerate() {
                    let at = || pointer_join(pointer, index);
                    let found = (self.tools.len(), self.findings.len());
                    match item {
                        Value::Object(object) if is_beside_tools(object) => self.nameless(object, &at()),
                        Value::Object(_) | Value::Array(_) => self.value(item, &at(), context, depth + 1),
                        _ if is_tools => self.not_a_tool(item, &at()),
                        _ => {}
                    }
                    if !is_tools || found != (self.tools.len(), self.findings.len()) {
                        continue;
                    }
                    match item {
                        Value::Object(object) if Shape::of(object, context.around).is_none() => {
                            self.unread(object, &at(), *has_tool)
                        }
                        Value::Array(items) if items.is_empty() && *has_tool => self.not_a_tool(item, &at()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Tools by name, as the AI SDK has them.
    fn map(&mut self, tools: &Map<String, Value>, pointer: &str, context: &Context) {
        for (name, tool) in tools {
            let pointer = pointer_join(pointer, name);
            let Some(tool) = tool.as_object().filter(|tool| !is_provider_tool(tool)) else {
                tool.as_object().into_iter().for_each(|tool| self.provider_tool(tool, &pointer));
                continue;
            };
            let mut named = tool.clone();
            named.insert("name".into(), name.as_str().into());
            if let Some(shape) = Shape::of(&named, Surroundings::Tools) {
                self.tool(shape, &named, &pointer, context);
            }
        }
    }

    /// Puts the tools that a set names into the category of its name.
    fn categories_of_sets(&mut self) {
        for set in &self.sets {
            let named = set.get("tools").and_then(Value::as_array).into_iter().flatten();
            let named: Vec<&str> = named.filter_map(Value::as_str).collect();
            let category = set.get("name").and_then(Value::as_str).and_then(CategoryPath::parse);
            for RawTool { definition, .. } in &mut self.tools {
                let is_named = |name: &String| named.contains(&name.as_str());
                let is_in_set = is_named(&definition.name) || definition.aliases.iter().any(is_named);
                if is_in_set && definition.category.is_empty() {
                    definition.category.extend(category.clone());
                }
            }
        }
    }

    fn container(&mut self, object: &'a Map<String, Value>, pointer: &str, context: &Context, depth: usize) {
        if context.around == Surroundings::Tools {
            if is_provider_tool(object) {
                return self.provider_tool(object, pointer);
            }
            if is_nameless(object) {
                return self.nameless(object, pointer);
            }
        }
        let inner = enter(object, context);
        let is_map_of_lists = maps_servers(object, context.around);
        let is_extension = object.contains_key(EXTENSION);
        for (key, value) in object {
            let child = pointer_join(pointer, key);
            let of_tools = is_list_key(key);
            if is_extension && !of_tools && !SETS.contains(&key.as_str()) {
                continue;
            }
            let first = self.tools.len();
            let is_skipped = SKIPPED.contains(&key.as_str());
            match value {
                Value::Array(items) if SETS.contains(&key.as_str()) => self.sets.extend(items),
                Value::Array(items) if of_tools && items.iter().all(Value::is_string) => {}
                Value::Object(tools) if of_tools && maps_tools(tools) => self.map(tools, &child, &inner),
                Value::Array(items) if of_tools || (is_map_of_lists && maps_a_server(key, items)) => {
                    let server = if of_tools { inner.server.clone() } else { Some(key.clone()) };
                    let context = Context { server, around: Surroundings::Tools, ..inner.clone() };
                    self.value(value, &child, &context, depth + 1);
                }
                Value::Object(fields) if !is_skipped => {
                    let maps_server =
                        !of_tools && !ENVELOPES.contains(&key.as_str()) && fields.contains_key("tools");
                    let server = inner.server.clone().or_else(|| maps_server.then(|| key.clone()));
                    self.value(value, &child, &Context { server, ..inner.clone() }, depth + 1);
                }
                Value::Array(_) if !is_skipped => self.value(value, &child, &inner, depth + 1),
                _ => {}
            }
            let added = if key == EXTENSION { &mut self.tools[first..] } else { &mut [] };
            for tool in added.iter_mut().filter(|tool| tool.parameters.is_none()) {
                let written = self.document.pointer(&tool.place.pointer).and_then(Value::as_object);
                if tool.definition.parameters.is_none() && written.is_some_and(lacks_schema) {
                    let nothing = serde_json::json!({"type": "object", "properties": {}});
                    tool.definition.parameters = Some(Schema::shared_value(nothing.into()));
                }
            }
        }
    }

    fn tool(&mut self, shape: Shape, object: &Map<String, Value>, pointer: &str, context: &Context) {
        let place = Place::new(self.file, pointer);
        let before = self.findings.len();
        let Some((mut definition, parameters)) = shape.read(object, &place, &mut self.findings) else {
            return;
        };
        let loses_rule = self.findings[before..].iter().any(|finding| is_about_rule(finding, pointer));
        if definition.name.trim().is_empty() {
            return self.nameless(object, pointer);
        }
        let parameters = parameters.map(|path| format!("{pointer}{path}"));
        let same = self.seen.entry((context.server.clone(), definition.name.clone())).or_default();
        let is_same = |&index: &usize| {
            let known: &RawTool = &self.tools[index];
            let of_known = parameters_of(self.document, &known.definition, known.parameters.as_deref());
            known.definition.description == definition.description
                && of_known == parameters_of(self.document, &definition, parameters.as_deref())
        };
        // A copy of a listed tool is not a second tool.
        let is_of_another_line = |index: &usize| {
            let line = |pointer: &str| pointer.split('/').nth(1).map(str::to_string);
            let is_below = pointer.split('/').nth(2).is_some();
            is_below && line(&self.tools[*index].place.pointer) != line(pointer)
        };
        let may_repeat = context.server.is_some() || self.document.is_array();
        let is_copy =
            |index: &usize| is_same(index) && (context.server.is_some() || is_of_another_line(index));
        if may_repeat && same.iter().any(is_copy) {
            return;
        }
        same.push(self.tools.len());
        if let Some(category) = context.category.as_deref()
            && definition.category.is_empty()
        {
            let segments = std::iter::once(category).chain(context.server.as_deref());
            definition.category.extend(CategoryPath::from_segments(segments));
        }
        let own = (shape == Shape::Registry).then(|| object.get("server").and_then(Value::as_str)).flatten();
        let server = own.map(str::to_string).or_else(|| context.server.clone());
        self.tools.push(RawTool {
            definition,
            server,
            place,
            body: format!("{pointer}{}", shape.body()),
            parameters,
            call: (shape == Shape::Registry).then(|| made_call(object)).flatten(),
            unread: loses_rule.then_some("a rule for its calls"),
            ..RawTool::default()
        });
    }

    fn nameless(&mut self, object: &Map<String, Value>, pointer: &str) {
        let finding = Finding::new(Code::DefinitionInvalid, "a definition without a name was left out");
        let others = object.keys().map(String::as_str).filter(|key| *key != "name");
        let near = nearest("name", others);
        let help = match near.first() {
            _ if object.contains_key("name") => {
                "its `name` is empty, or no text: name it by what it does".into()
            }
            Some(near) => format!("write `name` for `{near}`"),
            None => "give it a `name`".into(),
        };
        self.findings.push(finding.at(Place::new(self.file, pointer)).help(help));
    }

    /// An item of a list of tools in which nothing was found; `is_sure`: others in the list are tools.
    fn unread(&mut self, object: &Map<String, Value>, pointer: &str, is_sure: bool) {
        if let Some(function) = object.get("function").and_then(Value::as_object) {
            return self.nameless(function, &pointer_join(pointer, "function"));
        }
        let Some(name) = object.get("name").and_then(Value::as_str) else {
            let is_described = object.contains_key("name") || object.contains_key("description");
            if is_described {
                self.nameless(object, pointer);
            } else if is_sure {
                self.not_a_tool(&object.clone().into(), pointer);
            }
            return;
        };
        let message = format!("`{}` was left out: the schema of its arguments was not found", quoted(name));
        let written = object.keys().map(String::as_str).filter(|key| !matches!(*key, "name" | "description"));
        let slip =
            written.clone().find_map(|key| Some((key, schema_keys().find(|known| is_near(key, known))?)));
        let help = match slip {
            Some((key, known)) if key == known => format!("`{key}` must be an object, a JSON Schema"),
            Some((key, known)) => format!("write `{known}` for `{key}`"),
            None => "write it under `parameters`, as a JSON Schema".into(),
        };
        let finding = Finding::new(Code::DefinitionInvalid, message).help(help);
        self.findings.push(finding.at(Place::new(self.file, pointer)));
    }

    fn provider_tool(&mut self, object: &Map<String, Value>, pointer: &str) {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let kind = text("type").or_else(|| object.keys().next().map(String::as_str)).unwrap_or_default();
        let message = format!("`{kind}` is run by its provider and has no definition to document");
        self.findings.push(Finding::new(Code::ProviderTool, message).at(Place::new(self.file, pointer)));
    }

    fn not_a_tool(&mut self, item: &Value, pointer: &str) {
        let kind = match item {
            Value::Null => "null",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object without a name",
            _ => "a number or boolean",
        };
        let finding = Finding::new(Code::DefinitionInvalid, format!("expected a definition, got {kind}"));
        self.findings.push(
            finding.at(Place::new(self.file, pointer)).help("remove it, or write an object with a `name`"),
        );
    }
}

/// Whether a key was meant to be another: in other letters, a short form of it, or a word of it.
fn is_near(key: &str, known: &str) -> bool {
    let plain = |key: &str| key.to_lowercase().replace(['_', '-'], "");
    let key = plain(key);
    let known = plain(known);
    known.starts_with(&key) || known.ends_with(&key)
}

/// Whether an object holds tools by their names.
fn maps_tools(object: &Map<String, Value>) -> bool {
    let is_tool = |tool: &Map<String, Value>| !tool.contains_key("name") && has_schema(tool);
    let is_like = |tool: &Map<String, Value>| {
        is_tool(tool)
            || is_provider_tool(tool)
            || !tool.contains_key("name") && tool.contains_key("description")
    };
    let mut tools = object.values().map(Value::as_object);
    object.values().filter_map(Value::as_object).any(is_tool) && tools.all(|tool| tool.is_some_and(is_like))
}

/// Whether an object has what a definition has, but no name and nothing that could hold tools.
fn is_nameless(object: &Map<String, Value>) -> bool {
    let has_schema = schema_keys().any(|key| object.contains_key(key));
    let holds_nothing = object.values().all(|value| !value.is_array() && !value.is_object());
    let is_described = object.get("description").is_some_and(Value::is_string);
    !["name", "function", "toolSpec", "tool_name"].iter().any(|key| object.contains_key(*key))
        && (has_schema || (is_described && holds_nothing))
}

/// The parameters of a tool, which may still be in the document alone.
fn parameters_of<'v>(document: &'v Value, tool: &'v Definition, pointer: Option<&str>) -> Option<&'v Value> {
    tool.parameters.as_ref().map(Schema::value).or_else(|| document.pointer(pointer?))
}

/// Reads the facts about its tools from a container.
fn enter(object: &Map<String, Value>, context: &Context) -> Context {
    let text = |key: &str| {
        object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_string)
    };
    let named = object.contains_key("tools").then(|| text("name")).flatten();
    Context {
        server: text("server_name").or(named).or_else(|| context.server.clone()),
        category: text("category").or_else(|| context.category.clone()),
        around: Surroundings::Anything,
    }
}

/// `{"server": [tool, ...], ...}`: lists only, and one of them has a value that can only be a tool. Such a value is
/// not needed if the lists hold nothing but bare tools and there are several lists; a single list could be of people.
fn maps_servers(object: &Map<String, Value>, around: Surroundings) -> bool {
    let sure = |item: &Value| Shape::of_value(item).is_some();
    let bare = |item: &Value| {
        let keys = ["name", "description", "arguments"];
        item.as_object().is_some_and(|item| item.keys().all(|key| keys.contains(&key.as_str())))
    };
    let lists = || object.values().filter_map(Value::as_array).filter(|items| !items.is_empty());
    object.values().all(Value::is_array)
        && (lists().flatten().any(sure)
            || (around == Surroundings::Nothing && lists().count() > 1 && lists().flatten().all(bare)))
}

/// One list of such a map: every entry is named, and the first described.
fn maps_a_server(key: &str, items: &[Value]) -> bool {
    let named = |item: &Value| item.get("name").is_some_and(Value::is_string);
    let described = |item: &Value| item.get("description").is_some() || Shape::of_value(item).is_some();
    !SKIPPED.contains(&key) && items.first().is_some_and(described) && items.iter().all(named)
}
