//! Values of the wrong kind that can only mean one thing: `"true"`, `"10"`.

use serde_json::{Number, Value};

/// The boolean that a value is, or that its text says.
pub fn plain_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// The number that a value is, or that its text says.
pub fn plain_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        _ => None,
    }
}
