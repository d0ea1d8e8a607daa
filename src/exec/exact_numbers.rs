//! Integers with more digits than a number holds here: they would be run with others, so they are not run.

use serde_json::{Number, Value};

use super::Failure;
use crate::catalog::Tool;
use crate::finding::pointer_join;

/// From here on, up or down, an integer was read as the nearest float.
const MAX_EXACT: f64 = u64::MAX as f64;
const MIN_EXACT: f64 = i64::MIN as f64;

/// That some number has lost digits, if one has.
pub(super) fn check(tool: &Tool, arguments: &Value) -> Option<Failure> {
    if !any(arguments) {
        return None;
    }
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

fn is_inexact(number: &Number) -> bool {
    let is_beyond = |number: f64| number.fract() == 0.0 && !(MIN_EXACT..MAX_EXACT).contains(&number);
    number.is_f64() && number.as_f64().is_some_and(is_beyond)
}

/// Whether there is one anywhere. Where it is, is asked of few.
fn any(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_inexact(number),
        Value::Array(items) => items.iter().any(any),
        Value::Object(fields) => fields.values().any(any),
        _ => false,
    }
}

fn find(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Number(number) if is_inexact(number) => places.push(at.to_string()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find(item, &pointer_join(at, index), places));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| find(field, &pointer_join(at, name), places));
        }
        _ => {}
    }
}
