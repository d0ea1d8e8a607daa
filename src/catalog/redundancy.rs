//! Descriptions of arguments without text that only repeats their schema: a list of the enum's values, "Defaults to 5",
//! "(str, optional)". The author's own schema keeps this text; the canonical one, from which docs, payloads and help
//! are made, does not.

mod facts;
mod text;
mod tokens;

use std::sync::Arc;

use serde_json::Value;

use super::schema_view::SchemaView;
use crate::finding::keyword::{each_with_pointer, keyword};
use crate::finding::pointer_split;
use facts::Facts;

/// Shortens the descriptions in a schema; one without anything to remove stays shared with its author's.
pub(super) fn remove(schema: &mut Arc<Value>) {
    let mut shortened = Shortened { root: schema, texts: Vec::new() };
    shortened.schema(schema, None, &mut String::new());
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
    fn schema(&mut self, schema: &Value, is_required: Option<bool>, pointer: &mut String) {
        let Value::Object(place) = schema else { return };
        if let Some(description) = keyword(place, "description").and_then(Value::as_str)
            && let Some(shorter) = self.shorter(description, schema, is_required)
        {
            self.texts.push((pointer.clone(), shorter));
        }
        let required = keyword(place, "required").and_then(Value::as_array);
        let is_required = |at: &str| {
            let name = pointer_split(at).map(|(_, name)| name);
            required.is_some_and(|names| names.iter().any(|other| other.as_str() == name.as_deref()))
        };
        each_with_pointer(place, pointer, &mut |keyword, at, schema| {
            self.schema(schema, (keyword == "properties").then(|| is_required(at)), at);
        });
    }

    fn shorter(&self, description: &str, schema: &Value, is_required: Option<bool>) -> Option<String> {
        let mut facts = Facts::of(SchemaView::of(schema, self.root), is_required);
        let shorter = text::without_repetition(description, &facts)?;
        // Where a wire has no keyword for a default, text that still speaks of one is taken for it.
        if facts.default.is_none() || !shorter.to_lowercase().contains("default") {
            return Some(shorter);
        }
        facts.default = None;
        text::without_repetition(description, &facts)
    }
}

#[cfg(test)]
mod tests;
