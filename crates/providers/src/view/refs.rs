//! References: all of them lead to `#/$defs/NAME` or to `#`, and `$defs` holds only their targets, in the order of
//! the first reference. For formats without references they are replaced by their targets; cycles end at the second visit.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use super::defs::{DEFS, MAX_PARTS, measure, take_defs};
use super::loosened::{Loosened, guard};
use super::merge::merge;
use super::types::names_type;
use toolcrib_definition::document::{SchemaNames, percent_decoded};
use toolcrib_definition::schema::walk::{each, each_mut, each_with_pointer_mut, is_schema};

/// Most parts of definitions that are copied out of the middle of a schema, altogether.
const MAX_COPIED: usize = 20_000;
/// The longest name of a definition.
const MAX_NAME: usize = 64;

/// A copy of a schema in which all references lead to its own definitions.
pub(super) fn gathered(schema: &Value, loose: &mut Loosened) -> Value {
    if !refers(schema) {
        return schema.clone();
    }
    let Some(object) = schema.as_object() else { return schema.clone() };
    let without = |(key, value): (&String, &Value)| (!is_folder(key)).then(|| (key.clone(), value.clone()));
    let mut root = Value::Object(object.iter().filter_map(without).collect());
    let mut gathering = Gathering {
        source: schema,
        schema_names: SchemaNames::of(schema, &["$id", "id"]),
        names: HashMap::new(),
        taken: HashMap::new(),
        queue: VecDeque::new(),
        left: MAX_COPIED,
        loose,
    };
    gathering.schema(&mut root, &mut String::new());
    let mut defs = Map::new();
    while let Some((name, pointer)) = gathering.queue.pop_front() {
        let mut found = schema.pointer(&pointer).cloned().unwrap_or(Value::Bool(true));
        gathering.schema(&mut found, &mut pointer.clone());
        defs.insert(name, found);
    }
    if !defs.is_empty()
        && let Value::Object(root) = &mut root
    {
        root.insert("$defs".into(), Value::Object(defs));
    }
    root
}

fn is_folder(key: &str) -> bool {
    matches!(key, "$defs" | "definitions")
}

fn is_reference(key: &str) -> bool {
    matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
}

/// Whether there is a reference or a definition anywhere.
fn refers(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    object.keys().any(|key| is_reference(key) || is_folder(key)) || each(object).any(refers)
}

struct Gathering<'a> {
    source: &'a Value,
    schema_names: SchemaNames,
    /// The name of each definition by its place.
    names: HashMap<String, String>,
    /// Number of requests for each clean name.
    taken: HashMap<String, usize>,
    queue: VecDeque<(String, String)>,
    left: usize,
    loose: &'a mut Loosened,
}

impl Gathering<'_> {
    fn schema(&mut self, value: &mut Value, place: &mut String) {
        let Some(object) = value.as_object_mut() else { return };
        let before = self.loose.times();
        object.retain(|key, _| !is_folder(key));
        for dynamic in ["$dynamicRef", "$recursiveRef"] {
            if object.shift_remove(dynamic).is_some() {
                self.loose.record(format!("`{dynamic}`"));
            }
        }
        if let Some(reference) = object.get("$ref") {
            let found = reference.as_str().and_then(|reference| self.resolve(reference, place));
            match found {
                Some(target) => {
                    object.insert("$ref".into(), target.into());
                }
                None => {
                    object.shift_remove("$ref");
                    self.loose.record("a `$ref` that cannot be followed");
                }
            }
        }
        each_with_pointer_mut(object, place, &mut |place, child| self.schema(child, place));
        if self.loose.times() > before {
            guard(object, self.loose);
        }
    }

    /// The new form of a reference.
    fn resolve(&mut self, reference: &str, place: &str) -> Option<String> {
        let pointer = self.pointer(reference, place)?;
        // The root becomes a plain object; if it was more, references to it lead to a copy.
        if pointer.is_empty() && self.source.get("type").is_some_and(|word| word == "object") {
            return Some("#".into());
        }
        if let Some(name) = self.names.get(&pointer) {
            return Some(format!("{DEFS}{name}"));
        }
        let found = self.source.pointer(&pointer).filter(|found| is_schema(found))?;
        let folder = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"));
        if folder.is_none_or(|name| name.contains('/')) {
            self.left = self.left.checked_sub(measure(found).0)?;
        }
        let name = self.name(pointer.rsplit('/').next().unwrap_or_default());
        self.names.insert(pointer.clone(), name.clone());
        self.queue.push_back((name.clone(), pointer));
        Some(format!("{DEFS}{name}"))
    }

    fn pointer(&self, reference: &str, place: &str) -> Option<String> {
        if let Some(pointer) = self.schema_names.pointer(reference) {
            return Some(pointer.to_string());
        }
        let fragment = percent_decoded(reference.strip_prefix('#')?);
        let inside = format!("{}{fragment}", self.schema_names.base(place));
        let is_there = |pointer: &String| self.source.pointer(pointer).is_some();
        Some(inside).filter(is_there).or_else(|| Some(fragment.into_owned()).filter(is_there))
    }

    /// A name of plain characters that no other definition has.
    fn name(&mut self, written: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let clean: String =
            written.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect();
        let clean = if clean.is_empty() { "_".to_string() } else { clean };
        let mut name = clean.clone();
        while self.taken.contains_key(&name) {
            let times = self.taken.entry(clean.clone()).or_default();
            *times += 1;
            name = format!("{clean}_{}", *times + 1);
        }
        self.taken.insert(name.clone(), 0);
        name
    }
}

/// Deepest nesting that references may lead to; serde_json and others read 128 levels.
const MAX_DEPTH: usize = 100;

/// Replaces all references of a schema whose references all lead to its own definitions.
pub(super) fn inline(schema: &mut Value, loose: &mut Loosened) {
    let Some(root) = schema.as_object_mut() else { return };
    let defs = take_defs(root);
    Inlining { defs: &defs, open: Vec::new(), left: MAX_PARTS, loose }.schema(schema, 0);
}

/// Replaces a root that is a reference, in every format: the root must say that it is an object.
pub(super) fn open_root(schema: &mut Value, loose: &mut Loosened) {
    let mut seen: Vec<String> = Vec::new();
    while let Some(root) = schema.as_object_mut() {
        let Some(Value::String(reference)) = root.shift_remove("$ref") else { return };
        let defs = root.shift_remove("$defs");
        let name = reference.strip_prefix(DEFS).unwrap_or_default().to_string();
        if !seen.contains(&name)
            && let Some(Value::Object(target)) = defs.as_ref().and_then(|defs| defs.get(&name)).cloned()
        {
            merge(root, target, loose);
        }
        seen.push(name);
        if let Some(defs) = defs {
            root.insert("$defs".into(), defs);
        }
    }
}

struct Inlining<'a> {
    defs: &'a Map<String, Value>,
    /// The definitions that are being opened, outermost first.
    open: Vec<String>,
    left: usize,
    loose: &'a mut Loosened,
}

impl Inlining<'_> {
    fn schema(&mut self, value: &mut Value, depth: usize) {
        let Some(object) = value.as_object_mut() else { return };
        let before = self.loose.times();
        let outside = self.open.len();
        while let Some(Value::String(reference)) = object.shift_remove("$ref") {
            let name = reference.strip_prefix(DEFS).unwrap_or_default();
            let Some(target) = self.defs.get(name) else {
                // The root itself, which contains this place.
                self.loose.record("a reference to the whole schema ends as any object");
                object.entry("type").or_insert("object".into());
                break;
            };
            if !self.may_open(name, target, depth) {
                cut(object, target);
                break;
            }
            self.open.push(name.to_string());
            match target.clone() {
                Value::Object(target) => merge(object, target, self.loose),
                Value::Bool(false) => {
                    object.insert("not".into(), json!({}));
                }
                _ => {}
            }
        }
        each_mut(object, &mut |child| self.schema(child, depth + 2));
        self.open.truncate(outside);
        if self.loose.times() > before {
            guard(object, self.loose);
        }
    }

    fn may_open(&mut self, name: &str, target: &Value, depth: usize) -> bool {
        if self.open.iter().any(|open| open == name) {
            self.loose.record(format!("`{name}` contains itself, and is open at the second visit"));
            return false;
        }
        let (parts, levels) = if self.left == 0 { (1, 0) } else { measure(target) };
        if parts > self.left || depth + levels > MAX_DEPTH {
            self.left = if parts > self.left { 0 } else { self.left };
            self.loose.record("references that would make it too large or too deep are open");
            return false;
        }
        self.left -= parts;
        true
    }
}

/// The remainder of a definition that is not inlined: its type.
fn cut(object: &mut Map<String, Value>, target: &Value) {
    let Some(written) = target.get("type") else { return };
    if names_type(written, "array") {
        object.entry("items").or_insert(json!({}));
    }
    object.entry("type").or_insert(written.clone());
}
