//! Replaces references by their targets, for wires without references; cycles end at the second visit.

use serde_json::{Map, Value, json};

use super::loosened::{Loosened, guard};
use super::measure::{measure, names_type};
use super::merge::merge;
use super::refs::DEFS;
use crate::finding::keyword::each_mut;

/// Most parts that references may add to a schema.
const MAX_PARTS: usize = 20_000;
/// Deepest nesting that references may lead to; serde_json and others read 128 levels.
const MAX_DEPTH: usize = 100;

/// Replaces all references of a schema whose references all lead to its own definitions.
pub(super) fn inline(schema: &mut Value, loose: &mut Loosened) {
    let Some(root) = schema.as_object_mut() else { return };
    let defs = match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    Inlining { defs: &defs, open: Vec::new(), left: MAX_PARTS, loose }.schema(schema, 0);
}

/// Replaces a root that is a reference, on every wire: the root must say that it is an object.
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
        let (before, outside) = (self.loose.times(), self.open.len());
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
