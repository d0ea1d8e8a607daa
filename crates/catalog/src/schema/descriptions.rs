//! Descriptions in a schema: those that only a docstring has are added, and markup becomes Markdown.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use crate::docstring::Described;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::markdown::from_html;
use toolcrib_definition::schema::Node;

/// Copies descriptions that only the docstring has into the schema, where readers look for them.
pub(super) fn describe(schema: &mut Arc<Value>, described: &IndexMap<String, Described>) {
    let lacks = |property: &Value| {
        property.get("description").is_none_or(|text| text.as_str().is_none_or(str::is_empty))
    };
    for (name, described) in described {
        let text = property(schema, name)
            .filter(|property| lacks(property))
            .map(|property| beside(described, property));
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        if let Some(property) = Arc::make_mut(schema).pointer_mut(&pointer_join("/properties", name)) {
            property["description"] = text.into();
        }
    }
}

/// Whether the schema says everything that the docstring says of the arguments, and the docstring says something.
pub(crate) fn tells(schema: &Value, described: &IndexMap<String, Described>) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |(name, described): (&String, &Described)| {
        property(schema, name).is_some_and(|property| {
            let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
            squeezed(text).contains(&squeezed(&beside(described, property)))
        })
    };
    !described.is_empty() && described.iter().all(says)
}

/// A property of a schema's root.
fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name).filter(|property| property.is_object())
}

/// What a docstring says of a property, beside its schema.
fn beside(described: &Described, property: &Value) -> String {
    described.beside(&Node::without_references(property))
}

/// Keywords that hold values, not schemas.
pub(super) const VALUES: [&str; 6] = ["enum", "const", "default", "examples", "example", "required"];

/// Whether a description or a title in a schema has markup that is not Markdown.
pub(super) fn has_markup(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(keyword, value)| match value {
            Value::String(text) => is_text(keyword) && matches!(from_html(text), Cow::Owned(_)),
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
            Value::String(text) if is_text(keyword) => *text = from_html(text).into_owned(),
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
