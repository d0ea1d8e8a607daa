//! Writes subschemas that are a bare `true` or `false` as objects: some clients refuse bare ones.

use serde_json::{Value, json};

use crate::finding::keyword::below_mut;

/// Keywords at which every client knows a bare flag; strict mode demands it.
const FLAGS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];

/// Replaces `true` by `{}` and `false` by `{"not": {}}`, everywhere but at [`FLAGS`].
pub(super) fn to_objects(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({ "not": {} }),
        Value::Object(object) => {
            for (keyword, value) in object.iter_mut() {
                if !(value.is_boolean() && FLAGS.contains(&keyword.as_str())) {
                    below_mut(keyword, value, &mut to_objects);
                }
            }
        }
        _ => {}
    }
}
