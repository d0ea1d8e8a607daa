//! Integers with more digits than a number holds here: they would be run with others, so they are not run.

use serde_json::Value;

use super::Failure;
use crate::catalog::Tool;
use crate::finding::pointer_join;

/// From here on, up or down, an integer was read as the nearest float.
const UP: f64 = u64::MAX as f64;
const DOWN: f64 = i64::MIN as f64;

/// That some number has lost digits, if one has.
pub(super) fn lost(tool: &Tool, arguments: &Value) -> Option<Failure> {
    let mut places = Vec::new();
    find(arguments, "", &mut places);
    let first = places.first()?;
    let message =
        format!("the arguments of `{}` do not fit: {first}: this integer has too many digits", tool.op);
    let next = "send it as text if the tool takes text, else a number with at most 19 digits";
    let failure = Failure::invalid(message, next);
    Some(places.iter().fold(failure, |failure, place| {
        failure.field(
            place,
            "an integer that cannot be held to its last digit",
            Some("at most 19 digits, or text"),
        )
    }))
}

fn find(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let is_beyond = |number: f64| number.fract() == 0.0 && !(DOWN..UP).contains(&number);
            if number.as_f64().is_some_and(is_beyond) {
                places.push(at.to_string());
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find(item, &pointer_join(at, index), places));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| find(field, &pointer_join(at, name), places));
        }
        _ => {}
    }
}
