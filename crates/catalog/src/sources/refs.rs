//! `$ref`s in a value.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use toolcrib_definition::finding::pointer_join;

/// Whether a document, or a schema, has a `$ref` to something outside itself.
pub(super) fn refers_outside(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, child)| match child {
            Value::String(reference) => key == "$ref" && !reference.starts_with('#'),
            child => refers_outside(child),
        }),
        Value::Array(items) => items.iter().any(refers_outside),
        _ => false,
    }
}

/// Keys in `$defs` that a rewritten schema, or a part of one, names. Data that looks like a `$ref` may add a key that
/// is not needed.
pub(super) fn refs_in(schema: &Value, found: &mut IndexSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| refs_in(item, found)),
        Value::Object(map) => {
            let key = map
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix("#/$defs/"));
            found.extend(key.map(str::to_string));
            map.values().for_each(|value| refs_in(value, found));
        }
        _ => {}
    }
}

/// Keywords whose values are data: a `$ref` in them refers to nothing.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "value"];

/// Keywords whose values are named by their author: the names are no keywords.
const NAMED: [&str; 14] = [
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas", "parameters",
    "responses", "headers", "examples", "requestBodies", "pathItems", "paths", "content",
];

/// Visits the objects below a value that may be a `$ref`, with their pointers. `is_named`: the keys of the value are names.
pub(super) fn visit_objects(
    value: &mut Value,
    pointer: &str,
    is_named: bool,
    visit: &mut impl FnMut(&mut Map<String, Value>, &str),
) {
    match value {
        Value::Object(object) => {
            visit(object, pointer);
            for (key, child) in object.iter_mut().filter(|(_, child)| child.is_object() || child.is_array()) {
                let is_list_of_data = key == "examples" && child.is_array();
                if is_named || !(DATA.contains(&key.as_str()) || is_list_of_data) {
                    let names = !is_named && NAMED.contains(&key.as_str());
                    visit_objects(child, &pointer_join(pointer, key), names, visit);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit_objects(item, &pointer_join(pointer, index), false, visit);
            }
        }
        _ => {}
    }
}
