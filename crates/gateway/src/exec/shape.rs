//! The shape of a result that is too long to be returned: its fields and sizes, in one line.

use serde_json::Value;

use toolcrib_definition::clean_line;

/// Levels that are described.
const LEVELS: usize = 3;

/// Most fields of an object that are named.
pub(super) const MAX_NAMES: usize = 12;

/// Characters of a name.
const NAME: usize = 40;

/// Bytes from which the size of a text is said.
const LONG: usize = 200;

/// The shape of an object or a list; `None` for anything else.
pub(super) fn shape_of(value: &Value) -> Option<String> {
    (value.is_object() || value.is_array()).then(|| shape(value, LEVELS))
}

pub(super) fn shape(value: &Value, levels: usize) -> String {
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
            let name = |name: &str| clean_line(&name.chars().take(NAME).collect::<String>());
            let named = fields.iter().take(MAX_NAMES);
            let mut shown: Vec<String> = named
                .map(|(known, field)| format!("{}: {}", name(known), shape(field, levels - 1)))
                .collect();
            if fields.len() > MAX_NAMES {
                shown.push(format!("{} more", fields.len() - MAX_NAMES));
            }
            format!("{{{}}}", shown.join(", "))
        }
    }
}
