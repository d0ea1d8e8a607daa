//! The shape of a result in one line: its keys, types and counts.

use serde_json::Value;

use toolcrib_definition::schema::Node;
use toolcrib_definition::{Schema, clean_line};

/// Levels that are described.
const LEVELS: usize = 3;

/// Most fields of an object that are named.
const MAX_NAMES: usize = 12;

/// Characters of a name.
const NAME: usize = 40;

/// Bytes from which the size of a text is said.
const LONG: usize = 200;

/// The shape of a value.
pub fn shape_of(value: &Value) -> String {
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
        Value::Object(fields) => {
            named(fields.iter().map(|(name, field)| (name.as_str(), shape(field, levels - 1))))
        }
    }
}

/// The shape of the values that a schema describes.
pub fn shape_of_schema(schema: &Schema) -> String {
    described(&schema.root(), LEVELS)
}

fn described(node: &Node<'_>, levels: usize) -> String {
    if let Some(levels) = levels.checked_sub(1) {
        if node.lists_properties() {
            let fields = node.properties();
            return named(fields.iter().map(|field| (field.name, described(&field.node(), levels))));
        }
        if let Some(items) = node.items() {
            return format!("[{}]", described(&items, levels));
        }
    }
    match node.type_words().collect::<Vec<_>>()[..] {
        ["string"] => "text".into(),
        ["integer"] => "number".into(),
        [other] => clean_line(other),
        _ => "any value".into(),
    }
}

/// The beginning of an object's fields, with their shapes.
fn named<'f>(fields: impl ExactSizeIterator<Item = (&'f str, String)>) -> String {
    let more = fields.len().saturating_sub(MAX_NAMES);
    let name = |name: &str| clean_line(&name.chars().take(NAME).collect::<String>());
    let shown = fields.take(MAX_NAMES).map(|(known, shape)| format!("{}: {shape}", name(known)));
    let rest = (more > 0).then(|| format!("{more} more"));
    format!("{{{}}}", shown.chain(rest).collect::<Vec<_>>().join(", "))
}
