//! Descriptions of arguments without text that only repeats their schema: a list of the enum's values, "Defaults to 5",
//! "(str, optional)". The author's own schema keeps this text; the canonical one, from which docs, payloads and help
//! are made, does not.

mod facts;
mod text;
mod tokens;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::schema_view::SchemaView;
use crate::finding::pointer_join;
use facts::Facts;

/// Shortens the descriptions in a schema; one without anything to remove stays shared with its author's.
pub(super) fn remove(schema: &mut Arc<Value>) {
    let mut shortened = Shortened { root: schema, texts: Vec::new() };
    shortened.schema(schema, None, "");
    let texts = shortened.texts;
    if texts.is_empty() {
        return;
    }
    let schema = Arc::make_mut(schema);
    for (pointer, text) in texts {
        let Some(Value::Object(place)) = schema.pointer_mut(&pointer) else { continue };
        if text.is_empty() {
            place.shift_remove("description");
        } else {
            place.insert("description".into(), text.into());
        }
    }
}

/// The shorter descriptions of a schema, each with the pointer of its place.
struct Shortened<'a> {
    root: &'a Value,
    texts: Vec<(String, String)>,
}

impl Shortened<'_> {
    /// Reads one place and the places below it. `is_required` is `None` where the word makes no sense.
    fn schema(&mut self, schema: &Value, is_required: Option<bool>, pointer: &str) {
        let Value::Object(place) = schema else { return };
        if let Some(description) = place.get("description").and_then(Value::as_str)
            && let Some(shorter) = self.shorter(description, schema, is_required)
        {
            self.texts.push((pointer.to_string(), shorter));
        }
        for (keyword, value) in place {
            let at = || pointer_join(pointer, keyword);
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => self.properties(place, properties, &at()),
                ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                    let schemas = schemas.iter();
                    schemas.for_each(|(name, schema)| self.schema(schema, None, &pointer_join(&at(), name)));
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                    let schemas = schemas.iter().enumerate();
                    schemas
                        .for_each(|(index, schema)| self.schema(schema, None, &pointer_join(&at(), index)));
                }
                ("items" | "additionalProperties", schema) => self.schema(schema, None, &at()),
                _ => {}
            }
        }
    }

    fn shorter(&self, description: &str, schema: &Value, is_required: Option<bool>) -> Option<String> {
        let mut facts = Facts::of(&SchemaView::of(schema, self.root), is_required);
        let shorter = text::without_repetition(description, &facts)?;
        // Where a wire has no keyword for a default, text that still speaks of one is taken for it.
        if facts.default.is_none() || !shorter.to_lowercase().contains("default") {
            return Some(shorter);
        }
        facts.default = None;
        text::without_repetition(description, &facts)
    }

    fn properties(&mut self, object: &Map<String, Value>, properties: &Map<String, Value>, pointer: &str) {
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        for (name, schema) in properties {
            self.schema(schema, Some(is_required(name)), &pointer_join(pointer, name));
        }
    }
}

#[cfg(test)]
mod tests;
