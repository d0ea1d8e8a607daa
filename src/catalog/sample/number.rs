//! Numbers: one that the description names, else one by the argument's name, within the limits.

use serde_json::{Map, Number, Value};

use super::{Source, mention, values};
use crate::tool::beginning;

/// A number for a schema, and its source; `None` when its limits leave none.
pub(super) fn sample(schema: &Map<String, Value>, name: &str, whole: bool) -> Option<(Value, Source)> {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let said = mention::number(description).filter(|said| !whole || said.fract() == 0.0);
    let invented = || {
        let number = values::number(name, description).unwrap_or(10.0);
        within_words(number, description, whole)
    };
    let number = limited(schema, said.unwrap_or_else(invented), whole);
    let source = if said == Some(number) { Source::Named } else { Source::Invented };
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some((Value::from(number as i64), source));
    }
    Number::from_f64(number).map(|number| (Value::Number(number), source))
}

/// The number within the limits of a schema.
fn limited(schema: &Map<String, Value>, mut number: f64, whole: bool) -> f64 {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = limit("multipleOf").filter(|step| *step > 0.0).or_else(|| whole.then_some(1.0));
    if whole {
        number = number.round();
    }
    let between =
        limit("exclusiveMinimum").zip(limit("exclusiveMaximum")).map(|(low, high)| (high - low) / 4.0);
    let open = if whole { 1.0 } else { between.unwrap_or(0.5) };
    // Draft 4 wrote the exclusive limits as flags.
    let is_flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
    let low = limit("minimum").map(|low| if is_flag("exclusiveMinimum") { low + open } else { low });
    let low = low.into_iter().chain(limit("exclusiveMinimum").map(|low| low + open)).reduce(f64::max);
    let high = limit("maximum").map(|high| if is_flag("exclusiveMaximum") { high - open } else { high });
    let high = high.into_iter().chain(limit("exclusiveMaximum").map(|high| high - open)).reduce(f64::min);
    number = number.max(low.unwrap_or(f64::MIN)).min(high.unwrap_or(f64::MAX));
    if let Some(step) = step {
        let steps = number / step;
        let down = steps.floor() * step;
        number = if low.is_some_and(|low| down < low) { steps.ceil() * step } else { down };
    }
    number
}

/// The number within a range that a description tells: "0 to 255", "between 0 and 1", "1-100".
fn within_words(number: f64, description: &str, whole: bool) -> f64 {
    let Some((low, high)) = range(description) else { return number };
    let middle = (low + high) / 2.0;
    match (low..=high).contains(&number) {
        true => number,
        false if whole => middle.floor().max(low),
        false => middle,
    }
}

fn range(description: &str) -> Option<(f64, f64)> {
    let start = beginning(description, 300);
    let words: Vec<&str> =
        start.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '[' | ']')).collect();
    let number = |word: &str| {
        word.trim_end_matches(['.', '%', ';', ':']).parse::<f64>().ok().filter(|n| n.is_finite())
    };
    let pairs = words.windows(3).filter_map(|three| match three[1] {
        "to" | "and" | "-" => number(three[0]).zip(number(three[2])),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| {
        let (low, high) = word.split_once(['-', '–'])?;
        number(low).zip(number(high))
    });
    pairs.chain(joined).find(|(low, high)| low < high)
}
