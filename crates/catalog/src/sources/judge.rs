//! Judges each definition that a live server lists. What clients would refuse is repaired, or the definition is left out, so
//! that no server costs the tools of another.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::pattern::has_portable_patterns;
use super::ref_visitor::children;
use crate::config::ToolFilter;
use crate::schema::{Repairs, is_compilable, pattern_work, repair};
use toolcrib_definition::document::from_json;
use toolcrib_definition::finding::{Code, Finding, Place, Severity};
use toolcrib_definition::quoted;
use toolcrib_definition::schema::walk::each_with_pointer_mut;

/// Most bytes of one definition.
const MAX_DEFINITION: usize = 1 << 20;

/// Work for the definitions of one server: bytes of their text, each as much as some bytes of compiled patterns, and these.
const MAX_WORK: usize = 256 << 20;

const WORK_OF_BYTE: usize = 16;

/// The field for further fields, which only clients read.
pub(super) const MORE: &str = "toolcrib/more";

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
        let (mut fields, more): (Map<_, _>, Map<_, _>) =
            fields.into_iter().partition(|(key, _)| FIELDS.contains(&key.as_str()));
        if !more.is_empty() {
            fields.insert(MORE.into(), more.into());
            self.is_changed = true;
        }
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
        let are_icons = |icons: &Value| icons.as_array().is_some_and(|icons| icons.iter().all(is_icon));
        self.keep(&mut fields, "icons", are_icons, "list of icons");
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
    children(schema).any(|(key, value)| match (key, value) {
        ("$id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => true,
        ("$ref", Value::String(reference)) => !reference.starts_with('#'),
        _ => has_foreign_parts(value),
    })
}

#[cfg(test)]
#[path = "tests/listed.rs"]
mod tests;
