//! Numbers: by the argument's name, within the schema's limits.

use serde_json::{Map, Number, Value};

use super::{mention, values};

/// A number for a schema; `None` when its limits leave none.
pub(super) fn sample(schema: &Map<String, Value>, name: &str, whole: bool) -> Option<Value> {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let step = limit("multipleOf").filter(|step| *step > 0.0).or_else(|| whole.then_some(1.0));
    let said = mention::find(description).and_then(|text| text.replace(',', "").parse::<f64>().ok());
    let said = said.filter(|said| said.is_finite() && (!whole || said.fract() == 0.0));
    let mut number =
        said.or_else(|| values::number(name, description)).unwrap_or(if whole { 10.0 } else { 1.5 });
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
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
