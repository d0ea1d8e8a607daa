//! The types that a schema allows, and null beside them.

use serde_json::{Map, Value};

/// Allows null beside the types and values of a schema.
pub(super) fn add_null(object: &mut Map<String, Value>) {
    match object.get_mut("type") {
        Some(Value::Array(words)) => words.push("null".into()),
        Some(word) => *word = Value::Array(vec![word.take(), "null".into()]),
        None => {}
    }
}

/// Lists null beside the values of an enumeration.
pub(super) fn list_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Whether the `type` of a schema allows values of this type.
pub(super) fn allows(object: &Map<String, Value>, word: &str) -> bool {
    object.get("type").is_none_or(|written| names_type(written, word))
}

/// The texts of a list, such as those of `required`.
pub(super) fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a `type` names this word.
pub(super) fn names_type(written: &Value, word: &str) -> bool {
    match written {
        Value::Array(words) => words.iter().any(|one| one == word),
        one => one == word,
    }
}
