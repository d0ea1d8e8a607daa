//! Turns the tool lists of live servers into documents like those of files. `mcp` asks the servers for the lists.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::config::{Server, Source, ToolFilter, Workspace};
use crate::schema::{Repairs, is_compilable, pattern_work, repair};
use toolcrib_definition::finding::{Code, Document, Finding, Format, Place, Severity, from_json};
use toolcrib_definition::schema::walk::each_with_pointer_mut;
use toolcrib_definition::{clean_line, quoted};

/// The beginning of the name that the list of a live server has as a file.
pub const LIVE: &str = "mcp:";
/// Most characters of a server's title.
const MAX_TITLE: usize = 60;

/// Result of asking one server for its tools, and the reason if the server does not answer now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The server's last tool list, as a dump.
    pub tools: Option<Arc<str>>,
    /// Number of the tools.
    pub count: usize,
    /// The name that the server gives itself.
    pub server: Option<String>,
    /// The server's title for people, which becomes the category of its tools.
    pub title: Option<String>,
    /// Whether the server speaks the older protocol.
    pub is_older: bool,
    /// Why there is no list.
    pub problem: Option<String>,
    /// Mistakes in the list as the server sent it, each with what was done about it.
    pub notes: Vec<String>,
}

impl Listing {
    /// A listing that failed.
    pub fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

/// Tool lists of a workspace's live servers; empty if no server was asked.
#[derive(Clone, Debug, Default)]
pub struct Listings {
    /// The lists, by the number of their source.
    pub by_source: BTreeMap<usize, Listing>,
    /// The servers that have not answered yet, and may do so soon.
    pub awaited: Option<Awaited>,
}

/// New servers that may list their tools soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Their names.
    pub servers: Vec<String>,
    /// The time until which a tool list waits for these servers.
    pub until: Instant,
}

impl Listings {
    /// The servers that have not answered yet, and may do so soon.
    pub fn awaited(&self) -> Option<&Awaited> {
        self.awaited.as_ref()
    }
}

/// A workspace's servers with valid settings, each with the index of its source.
pub fn live_servers(workspace: &Workspace) -> impl Iterator<Item = (usize, &Server)> {
    let sources = workspace.config.sources.iter().enumerate();
    sources.filter_map(|(index, source)| {
        let server = source.mcp.as_ref().filter(|server| server.problem().is_none())?;
        Some((index, server))
    })
}

/// The list of one source.
pub(super) struct ServerListing {
    /// The number of the source.
    pub(super) index: usize,
    /// The source. If the configuration does not name its server, the server's name for itself is used.
    pub(super) source: Source,
    /// The tools as a dump, or why they could not be listed.
    pub(super) document: Result<Document, Finding>,
    /// Mistakes in the list, and the reason why it may be out of date.
    pub(super) findings: Vec<Finding>,
}

/// The lists as documents, like those of files.
pub(super) fn answers(workspace: &Workspace, listings: &Listings) -> Vec<ServerListing> {
    live_servers(workspace).map(|(index, _)| answer(workspace, listings, index)).collect()
}

fn answer(workspace: &Workspace, listings: &Listings, index: usize) -> ServerListing {
    let mut source = workspace.config.sources.get(index).cloned().unwrap_or_default();
    let name = format!("{LIVE}{}", source.server.clone().unwrap_or_else(|| (index + 1).to_string()));
    let found = |code: Code, message: String| {
        let finding = Finding::new(code, message);
        match &workspace.document {
            Some(config) => {
                let of_client = workspace.config.sources.get(index).and_then(|source| source.pointer.clone());
                let pointer = of_client.unwrap_or_else(|| format!("/source/{index}/mcp"));
                finding.at(Place::new(&config.file, pointer))
            }
            None => finding,
        }
    };
    let Some(listing) = listings.by_source.get(&index) else {
        let finding = found(Code::SourceUnreachable, format!("{name} was not contacted"));
        let document =
            Err(finding.help("its tools appear once toolcrib may contact it, without --offline for example"));
        return ServerListing { index, source, document, findings: Vec::new() };
    };
    source.server = source.server.or_else(|| listing.server.clone());
    // The title becomes one segment of a category path, so it must not contain a slash.
    let titled =
        |title: &String| clean_line(&title.replace('/', " ")).chars().take(MAX_TITLE).collect::<String>();
    let title = listing.title.as_ref().map(titled).filter(|title| !title.is_empty());
    source.category = source.category.or(title);
    let problem = listing.problem.as_deref().unwrap_or("no answer");
    let Some(tools) = &listing.tools else {
        let finding = found(Code::SourceUnreachable, format!("{name} gives no tools: {problem}"));
        let document = Err(if problem.ends_with(" is not set") {
            finding.help("set it before toolcrib starts; `${input:my-key}` of VS Code stands for the variable MY_KEY here")
        } else {
            finding
        });
        return ServerListing { index, source, document, findings: Vec::new() };
    };
    let stale = listing.problem.as_ref().map(|problem| {
        let message = format!("{name} cannot be reached, and its last known tools are kept: {problem}");
        found(Code::SourceStale, message)
    });
    let (tools, judged) = judged(tools, &name, source.filter.as_ref());
    let noted = |note: &String| {
        let message = format!("in the list of {name}: {note}");
        Finding::new(Code::DefinitionLeftOut, message).at(Place::new(&name, ""))
    };
    let noted = listing.notes.iter().map(noted);
    let findings = stale.into_iter().chain(noted).chain(judged).collect();
    let document = Document::parse(&name, tools.into_bytes(), Format::Json);
    ServerListing { index, source, document, findings }
}

// Judges each definition that a live server lists. What clients would refuse is repaired, or the definition is left out, so
// that no server costs the tools of another.

/// Most bytes of one definition.
const MAX_DEFINITION: usize = 1 << 20;

/// Work for the definitions of one server: bytes of their text, each as much as some bytes of compiled patterns, and these.
const MAX_WORK: usize = 256 << 20;
const WORK_OF_BYTE: usize = 16;

/// Fields of a definition in MCP. Others could make another format of it, with another name.
const FIELDS: [&str; 9] = [
    "name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution",
    "_meta",
];
/// Names that some servers give the schema of arguments.
const SCHEMA_NAMES: [&str; 2] = ["input_schema", "parameters"];

/// A list as clients can read it. Definitions without a mistake keep their bytes. A list that cannot be read stays whole, so
/// that its findings show.
pub(super) fn judged(tools: &str, file: &str, filter: Option<&ToolFilter>) -> (String, Vec<Finding>) {
    #[derive(Deserialize)]
    struct Dump<'t> {
        #[serde(borrow)]
        tools: Vec<&'t RawValue>,
    }
    let Ok(Dump { tools: all }) = serde_json::from_str(tools) else { return (tools.to_string(), Vec::new()) };
    let mut kept = Vec::with_capacity(all.len());
    let mut findings = Vec::new();
    let mut seen = HashSet::new();
    let mut work: usize = 0;
    if let Some(filter) = filter {
        let names: Vec<Judged> = all.iter().map(|written| Judged::of(written.get())).collect();
        let names: Vec<&str> = names.iter().filter_map(Judged::name).collect();
        findings.extend(filter.unmatched(&names).into_iter().map(|name| {
            let message =
                format!("`{}` in `{}` is the name of no tool of this server", quoted(name), filter.key);
            Finding::new(Code::ProfileUnused, message).at(Place::new(file, ""))
        }));
    }
    for (index, written) in all.into_iter().enumerate() {
        let mut definition = Judged::of(written.get());
        let name = definition.name().map(str::to_string);
        if name.as_deref().zip(filter).is_some_and(|(name, filter)| !filter.allows(name)) {
            continue;
        }
        let refused = definition.refuse(written.get().len(), &mut seen).or_else(|| {
            work = work.saturating_add(definition.work(written.get().len()));
            (work > MAX_WORK).then(|| "the schemas of its server take too much work to check".into())
        });
        let shown =
            name.map_or_else(|| format!("definition {}", index + 1), |name| format!("`{}`", quoted(&name)));
        if let Some(why) = refused {
            let message = format!("{shown} is left out: {why}");
            findings.push(Finding::new(Code::DefinitionLeftOut, message).at(Place::new(file, "")));
            continue;
        }
        definition.repair();
        let Judged { value, repairs, is_lossy, is_changed } = definition;
        if !repairs.is_empty() {
            let message = format!("in {shown}, {}", repairs.join("; "));
            let place = Place::new(file, format!("/tools/{}", kept.len()));
            let finding = Finding::new(Code::DefinitionRepaired, message).at(place);
            let severity = if is_lossy { Severity::Warning } else { finding.severity };
            findings.push(Finding { severity, ..finding });
        }
        kept.push(if is_changed { value.to_string() } else { written.get().to_string() });
    }
    (format!("{{\"tools\":[{}]}}", kept.join(",")), findings)
}

/// A definition, and what was done to it.
struct Judged {
    value: Value,
    repairs: Vec<String>,
    /// Whether some of what was written is lost.
    is_lossy: bool,
    is_changed: bool,
}

impl Judged {
    fn of(text: &str) -> Self {
        let value = from_json(text).unwrap_or_default();
        Self { value, repairs: Vec::new(), is_lossy: false, is_changed: false }
    }

    fn name(&self) -> Option<&str> {
        self.value.get("name")?.as_str().filter(|name| !name.trim().is_empty())
    }

    /// The reason why a definition cannot be used.
    fn refuse(&self, bytes: usize, seen: &mut HashSet<String>) -> Option<String> {
        if !self.value.is_object() {
            return Some("it is no object that can be read".into());
        }
        let Some(name) = self.name() else { return Some("it has no name".into()) };
        if bytes > MAX_DEFINITION {
            return Some(format!("it has {bytes} bytes, over the limit of {MAX_DEFINITION}"));
        }
        (!seen.insert(name.to_string())).then(|| "a definition before it has the same name".into())
    }

    /// The work that checking it takes.
    fn work(&self, bytes: usize) -> usize {
        let patterns = ["inputSchema", "outputSchema"].into_iter().filter_map(|key| self.value.get(key));
        bytes * WORK_OF_BYTE + patterns.map(pattern_work).sum::<usize>()
    }

    fn repair(&mut self) {
        let Value::Object(mut fields) = self.value.take() else { return };
        let schema =
            SCHEMA_NAMES.iter().find_map(|name| fields.get(*name).filter(|schema| schema.is_object()));
        if let (false, Some(schema)) = (fields.contains_key("inputSchema"), schema.cloned()) {
            fields.insert("inputSchema".into(), schema);
        }
        let before = fields.len();
        fields.retain(|key, _| FIELDS.contains(&key.as_str()));
        self.is_changed |= fields.len() < before;
        for key in ["title", "description"] {
            self.keep(&mut fields, key, Value::is_string, "text");
        }
        self.input(&mut fields);
        self.output(&mut fields);
        self.keep(&mut fields, "annotations", Value::is_object, "object");
        if let Some(Value::Object(hints)) = fields.get_mut("annotations") {
            for key in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                self.keep(hints, key, Value::is_boolean, "true or false");
            }
            self.keep(hints, "title", Value::is_string, "text");
        }
        self.keep(
            &mut fields,
            "icons",
            |icons| icons.as_array().is_some_and(|icons| icons.iter().all(is_icon)),
            "list of icons",
        );
        self.keep(&mut fields, "execution", is_execution, "object with a known `taskSupport`");
        self.keep(&mut fields, "_meta", Value::is_object, "object");
        self.value = Value::Object(fields);
    }

    fn note(&mut self, repair: impl Into<String>) {
        self.repairs.push(repair.into());
        self.is_changed = true;
    }

    fn lose(&mut self, what: impl Into<String>) {
        self.note(what);
        self.is_lossy = true;
    }

    /// Removes a field of the wrong kind.
    fn keep(
        &mut self,
        fields: &mut Map<String, Value>,
        key: &str,
        is_right: impl Fn(&Value) -> bool,
        kind: &str,
    ) {
        let Some(value) = fields.get(key).filter(|value| !is_right(value)) else { return };
        let is_null = value.is_null();
        fields.shift_remove(key);
        if is_null {
            self.is_changed = true
        } else {
            self.lose(format!("`{key}` is no {kind} and was left out"))
        }
    }

    /// Arguments are always an object.
    fn input(&mut self, fields: &mut Map<String, Value>) {
        let written = fields.get("inputSchema");
        let in_text = written.and_then(Value::as_str).and_then(|text| from_json(text).ok());
        let mut schema = match (written, in_text) {
            (_, Some(schema @ Value::Object(_))) => {
                self.note("`inputSchema` is the text of a schema and was read as the schema");
                schema
            }
            (Some(schema @ Value::Object(_)), _) => schema.clone(),
            _ => {
                let nothing = [Value::Null, json!([]), json!(true)];
                self.is_lossy |= written.is_some_and(|schema| !nothing.contains(schema));
                self.note("`inputSchema` is no schema and was read as one of any object");
                json!({})
            }
        };
        self.schema(&mut schema, "inputSchema");
        if schema.get("type").is_none_or(|kind| kind != "object")
            && let Some(keywords) = schema.as_object_mut()
        {
            keywords.shift_insert(0, "type".into(), "object".into());
            self.note("the `type` of `inputSchema` was read as `object`");
        }
        fields.insert("inputSchema".into(), schema);
    }

    /// Clients compile the schema of a result, and refuse the whole list where they cannot.
    fn output(&mut self, fields: &mut Map<String, Value>) {
        self.keep(fields, "outputSchema", Value::is_object, "object");
        let Some(mut schema) = fields.get("outputSchema").cloned() else { return };
        self.schema(&mut schema, "outputSchema");
        if let Some(keywords) = schema.as_object_mut() {
            // Two equal ones are an error for some clients.
            self.is_changed |= keywords.shift_remove("$id").is_some();
        }
        let what = match () {
            () if !is_compilable(&schema) => "cannot be compiled",
            () if has_foreign_parts(&schema) => "refers to other schemas",
            () if !has_portable_patterns(&schema) => "has a pattern that ECMAScript does not have",
            () => {
                fields.insert("outputSchema".into(), schema);
                return;
            }
        };
        fields.shift_remove("outputSchema");
        self.lose(format!("`outputSchema` {what} and was left out"));
    }

    /// Repairs a schema, whose properties must be objects for clients.
    fn schema(&mut self, schema: &mut Value, key: &str) {
        let counts = |repairs: &Repairs| {
            !repairs.words.is_empty() || !repairs.lost.is_empty() || !repairs.broken.is_empty()
        };
        if let Some((repaired, repairs)) = repair(schema).filter(|(_, repairs)| counts(repairs)) {
            self.is_lossy |= !repairs.lost.is_empty() || !repairs.broken.is_empty();
            let broken = repairs.broken.iter().map(|(place, reference)| {
                (place, format!("`{}` points nowhere and was left out", quoted(reference)))
            });
            let words = repairs.words.iter().map(|(place, what)| (place, what.clone()));
            let lost = repairs.lost.iter().map(|(place, what)| (place, what.clone()));
            let all: Vec<_> = lost.chain(broken).chain(words).collect();
            if let Some((place, what)) = all.first() {
                let others =
                    if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
                self.note(format!("{what} at `{key}{place}`{others}"));
            }
            *schema = repaired;
        }
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(Map::values_mut) {
            if let Value::Bool(accepts) = property {
                *property = if *accepts { json!({}) } else { json!({ "not": {} }) };
                self.is_changed = true;
            }
        }
        if let Some(keywords) = schema.as_object_mut() {
            self.is_changed |= drop_nullable(keywords);
        }
    }
}

/// Removes `nullable` where no type is next to it: it changes nothing there, and some clients refuse it.
fn drop_nullable(schema: &mut Map<String, Value>) -> bool {
    let mut is_changed = !schema.contains_key("type") && schema.shift_remove("nullable").is_some();
    each_with_pointer_mut(schema, &mut String::new(), &mut |_, child| {
        if let Value::Object(child) = child {
            is_changed |= drop_nullable(child);
        }
    });
    is_changed
}

fn is_icon(icon: &Value) -> bool {
    let is_text = |key: &str| icon.get(key).is_none_or(Value::is_string);
    let is_size = |sizes: &Value| sizes.as_array().is_some_and(|sizes| sizes.iter().all(Value::is_string));
    icon.get("src").is_some_and(Value::is_string)
        && is_text("mimeType")
        && icon.get("sizes").is_none_or(is_size)
        && icon.get("theme").is_none_or(|theme| theme == "light" || theme == "dark")
}

fn is_execution(execution: &Value) -> bool {
    let is_known = |support: &Value| matches!(support.as_str(), Some("forbidden" | "optional" | "required"));
    execution.is_object() && execution.get("taskSupport").is_none_or(is_known)
}

/// Whether a schema has parts that a client would look for elsewhere.
fn has_foreign_parts(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.iter().any(|(key, value)| match (key.as_str(), value) {
            ("$id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                true
            }
            ("$ref", Value::String(reference)) => !reference.starts_with('#'),
            _ => has_foreign_parts(value),
        }),
        Value::Array(items) => items.iter().any(has_foreign_parts),
        _ => false,
    }
}

fn has_portable_patterns(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.iter().all(|(key, value)| match (key.as_str(), value) {
            ("pattern", Value::String(pattern)) => is_portable(pattern),
            ("patternProperties", Value::Object(named)) => {
                named.iter().all(|(pattern, schema)| is_portable(pattern) && has_portable_patterns(schema))
            }
            _ => has_portable_patterns(value),
        }),
        Value::Array(items) => items.iter().all(has_portable_patterns),
        _ => true,
    }
}

/// Whether a pattern that compiles here surely compiles as `new RegExp(pattern, "u")` too.
fn is_portable(pattern: &str) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    let mut is_class = false;
    let next = |at: usize| letters.get(at).copied().unwrap_or_default();
    while at < letters.len() {
        match (letters[at], next(at + 1)) {
            ('\\', 'd' | 'D' | 'w' | 'W' | 's' | 'S') if is_class => {
                if next(at + 2) == '-' && next(at + 3) != ']' {
                    return false;
                }
                at += 1;
            }
            ('\\', '-') if is_class => at += 1,
            ('\\', escaped) if "dDwWsSbBnrtfv^$\\.*+?()[]{}|/".contains(escaped) => at += 1,
            ('\\', _) => return false,
            ('-', '\\') if is_class && next(at + 2).is_ascii_alphabetic() => return false,
            ('[', _) if is_class => return false,
            ('[', _) => is_class = true,
            (']', _) if !is_class => return false,
            (']', _) => is_class = false,
            ('(', '?') if !is_class && !matches!(next(at + 2), ':' | '=' | '!') => return false,
            ('{', count) if !is_class => {
                let end = letters[at..].iter().position(|letter| *letter == '}').map(|end| at + end);
                let Some(end) = end.filter(|_| count.is_ascii_digit()) else { return false };
                if !letters[at + 1..end].iter().all(|letter| letter.is_ascii_digit() || *letter == ',') {
                    return false;
                }
                at = end;
                if next(at + 1) == '+' {
                    return false;
                }
            }
            ('}', _) if !is_class => return false,
            ('*' | '+' | '?', '+') if !is_class => return false,
            _ => {}
        }
        at += 1;
    }
    true
}

#[cfg(test)]
#[path = "tests/listed.rs"]
mod tests;
