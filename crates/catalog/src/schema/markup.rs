//! Descriptions and titles in a schema, written as Markdown.

use std::borrow::Cow;

use serde_json::Value;

use toolcrib_definition::markup::markdown;

/// Keywords that hold values, not schemas.
pub(super) const VALUES: [&str; 6] = ["enum", "const", "default", "examples", "example", "required"];

/// Whether a description or a title in a schema has markup that is not Markdown.
pub(super) fn has_markup(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(keyword, value)| match value {
            Value::String(text) => is_text(keyword) && matches!(markdown(text), Cow::Owned(_)),
            value => !VALUES.contains(&keyword.as_str()) && has_markup(value),
        }),
        Value::Array(items) => items.iter().any(has_markup),
        _ => false,
    }
}

/// Writes the descriptions and titles of a schema as Markdown.
pub(super) fn write_markdown(schema: &mut Value) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(keyword, value)| match value {
            Value::String(text) if is_text(keyword) => *text = markdown(text).into_owned(),
            value if !VALUES.contains(&keyword.as_str()) => write_markdown(value),
            _ => {}
        }),
        Value::Array(items) => items.iter_mut().for_each(write_markdown),
        _ => {}
    }
}

fn is_text(keyword: &str) -> bool {
    matches!(keyword, "description" | "title")
}
