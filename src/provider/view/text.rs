//! Texts in a schema come from strangers: nothing hidden in them reaches a model.

use serde_json::Value;

use super::keyword::each_mut;
use crate::tool::{clean_text, hidden_characters};

/// Cleans descriptions and titles. Values stay as they are: the canonical schema compares with them.
pub(super) fn clean(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    for keyword in ["description", "title"] {
        if let Some(Value::String(text)) = object.get_mut(keyword)
            && !hidden_characters(text).is_empty()
        {
            *text = clean_text(text).into_owned();
        }
    }
    each_mut(object, &mut clean);
}
