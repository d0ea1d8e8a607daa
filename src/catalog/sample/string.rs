//! Strings: by format, by an example in the description, by the argument's name; then fitted to the limits.

use regex::RegexBuilder;
use serde_json::{Map, Value};

use super::{mention, pattern, values};

const MAX_LENGTH: usize = 2_000;

/// A string for a schema.
pub(super) fn sample(schema: &Map<String, Value>, name: &str) -> String {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let length =
        |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let description = word("description").unwrap_or("");
    let by_format = word("format").and_then(values::by_format).map(str::to_string);
    let text =
        by_format.or_else(|| mention::find(description)).unwrap_or_else(|| values::string(name, description));
    let text = fitted(text, length("minLength").unwrap_or(0), length("maxLength").unwrap_or(MAX_LENGTH));
    let Some(wanted) = word("pattern") else { return text };
    let compiled = RegexBuilder::new(wanted).size_limit(1 << 18).build();
    let matches = |text: &str| compiled.as_ref().is_ok_and(|regex| regex.is_match(text));
    if matches(&text) {
        return text;
    }
    [values::string(name, ""), "1".to_string()]
        .into_iter()
        .find(|text| matches(text) && text.len() >= length("minLength").unwrap_or(0))
        .or_else(|| pattern::generate(wanted))
        .unwrap_or(text)
}

/// The text within the limits: repeated when it is too short, cut when it is too long.
fn fitted(text: String, least: usize, most: usize) -> String {
    let count = text.chars().count();
    if count > most {
        return text.chars().take(most).collect::<String>().trim_end().to_string();
    }
    if count < least && count > 0 {
        let wanted = least.min(MAX_LENGTH).min(most);
        return text.chars().chain(std::iter::once(' ')).cycle().take(wanted).collect();
    }
    text
}
