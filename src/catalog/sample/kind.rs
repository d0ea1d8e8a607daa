//! The type of a value, by its schema.

use serde_json::{Map, Value};

use crate::tool::beginning;

pub(super) fn fits(value: &Value, kind: &str) -> bool {
    is_kind(value, kind) && value.to_string().len() <= 400
}

pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

pub(super) fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => true,
    }
}

/// The type of a schema: the first that is not null, or the type that its keywords imply.
pub(super) fn kind(schema: &Map<String, Value>) -> &str {
    const SIGNS: [(&str, &[&str]); 4] = [
        ("object", &["properties", "required", "additionalProperties", "minProperties"]),
        ("array", &["items", "prefixItems", "minItems", "uniqueItems"]),
        ("string", &["pattern", "minLength", "maxLength", "format"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.contains_key("enum") || schema.contains_key("const") => "",
        _ => SIGNS
            .iter()
            .find(|(_, keys)| keys.iter().any(|key| schema.contains_key(*key)))
            .map_or_else(|| described_kind(schema), |(kind, _)| kind),
    }
}

/// The type that a description begins with, where the schema has none; else a text.
pub(super) fn described_kind(schema: &Map<String, Value>) -> &'static str {
    const OPENINGS: [(&str, &str); 21] = [
        ("list of", "array"),
        ("array of", "array"),
        ("(list", "array"),
        ("(array", "array"),
        ("dictionary", "object"),
        ("dict", "object"),
        ("(dict", "object"),
        ("(object", "object"),
        ("object with", "object"),
        ("object containing", "object"),
        ("list[", "array"),
        ("dict[", "object"),
        ("int ", "integer"),
        ("int,", "integer"),
        ("float,", "number"),
        ("whether", "boolean"),
        ("(bool", "boolean"),
        ("(int", "integer"),
        ("number of", "integer"),
        ("(float", "number"),
        ("(number", "number"),
    ];
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let start = beginning(description.trim_start(), 40).to_ascii_lowercase();
    let start = ["a ", "an ", "the "].into_iter().find_map(|word| start.strip_prefix(word)).unwrap_or(&start);
    OPENINGS.iter().find(|(opening, _)| start.starts_with(opening)).map_or("string", |(_, kind)| kind)
}

pub(super) fn required(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
