//! Questions of views about the types and the size of a schema.

use serde_json::{Map, Value};

/// Whether the `type` of a schema allows values of this type.
pub(super) fn allows(object: &Map<String, Value>, word: &str) -> bool {
    object.get("type").is_none_or(|written| names_type(written, word))
}

/// Whether a `type` names this word.
pub(super) fn names_type(written: &Value, word: &str) -> bool {
    match written {
        Value::Array(words) => words.iter().any(|one| one == word),
        one => one == word,
    }
}

/// Number of values within a value, and its depth.
pub(super) fn measure(value: &Value) -> (usize, usize) {
    let inside = |parts: &mut dyn Iterator<Item = &Value>| {
        parts
            .map(measure)
            .fold((1, 0), |(nodes, deepest), (more, depth)| (nodes + more, deepest.max(depth + 1)))
    };
    match value {
        Value::Object(object) => inside(&mut object.values()),
        Value::Array(list) => inside(&mut list.iter()),
        _ => (1, 0),
    }
}
