//! Numbers and texts within limits.

use serde_json::{Number, Value};

use super::pattern::text_of_pattern;
use toolcrib_definition::schema::limits::Limits;
use toolcrib_definition::words;

/// Most characters of a text.
const MAX_LENGTH: u64 = 2_000;

/// A number within its limits; `None` when they leave none.
pub(super) fn number(limits: &Limits<'_>, is_whole: bool, name: &str) -> Option<Value> {
    let float = |number: Option<&Number>| number.and_then(Number::as_f64);
    let step = float(limits.step).filter(|step| *step > 0.0).or_else(|| is_whole.then_some(1.0));
    let above = float(limits.above);
    let below = float(limits.below);
    let open = match above.zip(below) {
        Some((above, below)) if !is_whole => (below - above) / 4.0,
        _ => step.unwrap_or(1.0),
    };
    let low = float(limits.minimum).into_iter().chain(above.map(|above| above + open)).reduce(f64::max);
    let high = float(limits.maximum).into_iter().chain(below.map(|below| below - open)).reduce(f64::min);
    let is_year = words(name).last().is_some_and(|last| last == "year");
    let mut number =
        if is_year { 2024f64 } else { 1f64 }.max(low.unwrap_or(f64::MIN)).min(high.unwrap_or(f64::MAX));
    if let Some(step) = step {
        let down = (number / step).floor() * step;
        number = if low.is_some_and(|low| down < low) { down + step } else { down };
    }
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Some((number as i64).into())
    } else {
        Number::from_f64(number).map(Value::Number)
    }
}

/// A text by its pattern or format, or by the form that its description names, or one that names the argument; within
/// the limits of its length.
pub(super) fn string(limits: &Limits<'_>, name: &str, described: Option<String>) -> String {
    if let Some(text) = limits.pattern.and_then(text_of_pattern) {
        return text;
    }
    let encoded = limits.encoding.filter(|encoding| *encoding == "base64").map(|_| "byte");
    let words = words(name);
    let known = limits.format.or(encoded).and_then(by_format).map(str::to_string).or(described);
    let known = known.or_else(|| words.last().and_then(|word| by_format(word)).map(str::to_string));
    let named = || if words.is_empty() { "example".into() } else { format!("example-{}", words.join("-")) };
    let text = known.unwrap_or_else(named);
    let least = limits.length.least.unwrap_or_default().min(MAX_LENGTH) as usize;
    let most = limits.length.most.unwrap_or(MAX_LENGTH);
    match text.chars().count() {
        count if count as u64 > most => text.chars().take(most as usize).collect(),
        count if count < least => text.chars().cycle().take(least).collect(),
        _ => text,
    }
}

/// A text of a format of JSON Schema or OpenAPI, reserved for examples where there is such a form. An argument with this name
/// and no format gets the same.
fn by_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2030-01-01",
        "date-time" | "datetime" | "timestamp" => "2030-01-01T09:00:00Z",
        "time" => "09:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "user@example.com",
        "hostname" | "idn-hostname" | "host" | "domain" => "example.com",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" | "iri" | "link" => "https://example.com",
        "uri-reference" | "iri-reference" => "/docs",
        "uuid" | "guid" => "00000000-0000-4000-8000-000000000000",
        "json-pointer" => "/a",
        "regex" => "^a",
        "byte" | "base64" => "SGVsbG8=",
        "binary" => "data:text/plain;base64,SGVsbG8=",
        "phone" => "+12025550123",
        "color" => "#336699",
        _ => return None,
    })
}
