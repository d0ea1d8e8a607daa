//! Fields of JSON objects: put in without a copy, and taken out.

use serde_json::{Map, Value};

/// A JSON object from values that are moved into it; `json!` copies them.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// Takes a field out; `None` when it is absent.
pub(super) fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.get_mut(key).map(Value::take)
}

/// Takes out a field that is an object.
pub(super) fn take_object(fields: &mut Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
    match take(fields, key)? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Takes out a field that is a list. A field of another type stays, and gives `None`.
pub(super) fn take_list(fields: &mut Map<String, Value>, key: &str) -> Option<Vec<Value>> {
    match fields.get_mut(key)? {
        Value::Array(items) => Some(std::mem::take(items)),
        _ => None,
    }
}

/// Takes out a field that is text, or a number in place of text; `None` when it is empty.
pub(super) fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match take(fields, key)? {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The objects of a list.
pub(super) fn objects(items: Vec<Value>) -> impl Iterator<Item = Map<String, Value>> {
    items.into_iter().filter_map(|item| match item {
        Value::Object(fields) => Some(fields),
        _ => None,
    })
}
