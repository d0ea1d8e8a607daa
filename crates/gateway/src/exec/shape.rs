//! The shape of a result, in one line: its fields, their types and their sizes.

use serde_json::Value;

use toolcrib_definition::clean_line;
use toolcrib_definition::document::resolve_local;

/// Levels that are described.
const LEVELS: usize = 3;

/// Most fields of an object that are named.
const MAX_NAMES: usize = 12;

/// Characters of a name.
const NAME: usize = 40;

/// Bytes from which the size of a text is said.
const LONG: usize = 200;

/// The shape of a value.
pub(super) fn shape_of(value: &Value) -> String {
    shape(value, LEVELS)
}

fn shape(value: &Value, levels: usize) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Number(_) => "number".into(),
        Value::String(text) if text.len() < LONG => "text".into(),
        Value::String(text) => format!("text of {} bytes", text.len()),
        Value::Array(items) => match items.first() {
            Some(first) if levels > 0 => format!("[{} of {}]", items.len(), shape(first, levels - 1)),
            _ => format!("[{}]", items.len()),
        },
        Value::Object(fields) if levels == 0 => format!("{{{} fields}}", fields.len()),
        Value::Object(fields) => named(fields.iter().map(|(name, field)| (name, shape(field, levels - 1)))),
    }
}

/// The shape of the values that a schema describes.
pub(super) fn shape_of_schema(schema: &Value) -> String {
    described(schema, schema, LEVELS)
}

fn described(schema: &Value, root: &Value, levels: usize) -> String {
    let target = schema["$ref"].as_str().and_then(|reference| resolve_local(reference, root));
    match (&schema["properties"], &schema["items"], levels.checked_sub(1)) {
        (Value::Object(fields), _, Some(levels)) => {
            named(fields.iter().map(|(name, field)| (name, described(field, root, levels))))
        }
        (_, items @ Value::Object(_), Some(levels)) => format!("[{}]", described(items, root, levels)),
        (.., Some(levels)) if target.is_some_and(|target| target != schema) => {
            described(target.unwrap_or(schema), root, levels)
        }
        _ => match schema["type"].as_str() {
            Some("string") => "text".into(),
            Some("integer") => "number".into(),
            Some(other) => clean_line(other),
            None => "any value".into(),
        },
    }
}

/// The beginning of an object's fields, with their shapes.
fn named<'f>(fields: impl ExactSizeIterator<Item = (&'f String, String)>) -> String {
    let more = fields.len().saturating_sub(MAX_NAMES);
    let name = |name: &str| clean_line(&name.chars().take(NAME).collect::<String>());
    let shown = fields.take(MAX_NAMES).map(|(known, shape)| format!("{}: {shape}", name(known)));
    let rest = (more > 0).then(|| format!("{more} more"));
    format!("{{{}}}", shown.chain(rest).collect::<Vec<_>>().join(", "))
}
