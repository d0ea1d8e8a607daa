//! Edits of JSON values, of which mistakes consist.

use serde_json::{Map, Value};

pub fn object(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().unwrap()
}

/// Renames a key and keeps its place.
pub fn rename(value: &mut Value, from: &str, to: &str) {
    let fields = std::mem::take(object(value));
    let renamed = |(key, field): (String, Value)| (if key == from { to.to_string() } else { key }, field);
    *object(value) = fields.into_iter().map(renamed).collect();
}

pub fn remove(value: &mut Value, key: &str) -> Value {
    object(value).shift_remove(key).unwrap()
}

/// The place at which two values begin to differ: the deepest one that holds all differences.
pub fn difference(one: &Value, other: &Value) -> Option<String> {
    let below = |key: &str, one: Option<&Value>, other: Option<&Value>| match (one, other) {
        (Some(one), Some(other)) => {
            difference(one, other).map(|rest| format!("/{}{rest}", key.replace('~', "~0").replace('/', "~1")))
        }
        _ => Some(String::new()),
    };
    let places: Vec<String> = match (one, other) {
        _ if one == other => return None,
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().filter_map(|key| below(key, left.get(key), right.get(key))).collect()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs
                .filter_map(|(index, (left, right))| below(&index.to_string(), Some(left), Some(right)))
                .collect()
        }
        _ => Vec::new(),
    };
    match places.as_slice() {
        [only] => Some(only.clone()),
        _ => Some(String::new()),
    }
}
