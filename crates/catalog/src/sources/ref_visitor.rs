//! `$ref`s in a value.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use toolcrib_definition::document::pointer_join;

/// The values in a value; those of an object with their keys.
pub(super) fn children(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let items = value.as_array().into_iter().flatten().map(|item| ("", item));
    items.chain(value.as_object().into_iter().flatten().map(|(key, child)| (key.as_str(), child)))
}

/// Whether a document, or a schema, has a `$ref` to something outside itself.
pub(super) fn refers_outside(value: &Value) -> bool {
    children(value).any(|(key, child)| match child {
        Value::String(reference) => key == "$ref" && !reference.starts_with('#'),
        child => refers_outside(child),
    })
}

/// Keys in `$defs` that a rewritten schema, or a part of one, names. Data that looks like a `$ref` may add a key that
/// is not needed.
pub(super) fn refs_in(schema: &Value, found: &mut IndexSet<String>) {
    let reference = schema.get("$ref").and_then(Value::as_str);
    found.extend(reference.and_then(|reference| reference.strip_prefix("#/$defs/")).map(str::to_string));
    children(schema).for_each(|(_, child)| refs_in(child, found));
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
