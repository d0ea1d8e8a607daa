//! Limits that a wire's keywords cannot express, in a few words at the end of the description.

use std::cell::LazyCell;

use serde_json::{Map, Value};

use crate::tool::hidden_characters;

/// Longest pattern or default that is written out.
const MAX: usize = 60;

/// Appends the lost limits to the description: " (1 to 100, default 30)".
pub(super) fn tell(object: &mut Map<String, Value>, listed: &[&str]) {
    if !object.keys().any(|key| is_told(key) && !listed.contains(&key.as_str())) {
        return;
    }
    let description = object.get("description").and_then(Value::as_str).unwrap_or_default();
    let limits = limits(object, listed, description);
    if limits.is_empty() {
        return;
    }
    let limits = limits.join(", ");
    let description = description.trim_end();
    let text = if description.is_empty() { limits } else { format!("{description} ({limits})") };
    object.insert("description".into(), text.into());
}

/// Appends a default that will be lost to the description.
pub(super) fn tell_default(object: &mut Map<String, Value>) {
    if object.contains_key("default") {
        let others: Vec<String> = object.keys().filter(|key| *key != "default").cloned().collect();
        tell(object, &others.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

fn is_told(key: &str) -> bool {
    matches!(
        key,
        "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "minLength"
            | "maxLength"
            | "minItems"
            | "maxItems"
            | "minProperties"
            | "maxProperties"
            | "uniqueItems"
            | "pattern"
            | "format"
            | "default"
            | "deprecated"
    )
}

fn limits(object: &Map<String, Value>, listed: &[&str], description: &str) -> Vec<String> {
    let lost = |key: &str| object.get(key).filter(|_| !listed.contains(&key));
    let number = |key: &str| lost(key).filter(|value| value.is_number()).map(Value::to_string);
    let lower = LazyCell::new(|| description.to_lowercase());
    // Limits that the author already mentions are not repeated.
    let is_said =
        |limit: &Option<String>| limit.as_ref().is_none_or(|limit| holds_number(description, limit));
    let mut phrases = Vec::new();
    for (least, most, what) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", "character"),
        ("minItems", "maxItems", "item"),
        ("minProperties", "maxProperties", "property"),
    ] {
        let (least, most) = (number(least).filter(|least| what.is_empty() || least != "0"), number(most));
        if !(is_said(&least) && is_said(&most)) {
            phrases.extend(range(least, most, what));
        }
    }
    phrases.extend(number("exclusiveMinimum").map(|limit| format!("more than {limit}")));
    phrases.extend(number("exclusiveMaximum").map(|limit| format!("less than {limit}")));
    phrases.extend(number("multipleOf").map(|step| format!("a multiple of {step}")));
    if lost("uniqueItems") == Some(&Value::Bool(true)) {
        phrases.push("no item twice".into());
    }
    let text =
        |key: &str| lost(key).and_then(Value::as_str).filter(|text| text.len() <= MAX && !has_control(text));
    phrases
        .extend(text("format").filter(|format| !lower.contains(&format.to_lowercase())).map(str::to_string));
    phrases.extend(
        text("pattern")
            .filter(|pattern| !description.contains(pattern))
            .map(|pattern| format!("matches `{pattern}`")),
    );
    let default =
        lost("default").filter(|value| !value.is_null() && value.as_str() != Some("")).map(Value::to_string);
    phrases.extend(
        default
            .filter(|value| value.len() <= MAX && !has_control(value) && !lower.contains("default"))
            .map(|value| format!("default {value}")),
    );
    if lost("deprecated") == Some(&Value::Bool(true)) && !lower.contains("deprecated") {
        phrases.push("deprecated".into());
    }
    phrases
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control) || !hidden_characters(text).is_empty()
}

/// Whether a text has this number, not as a part of another.
fn holds_number(text: &str, number: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(number).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + number.len()..].chars().next())
    })
}

fn range(least: Option<String>, most: Option<String>, what: &str) -> Option<String> {
    let (numbers, last) = match (least, most) {
        (Some(least), Some(most)) if least == most => (least.clone(), least),
        (Some(least), Some(most)) => (format!("{least} to {most}"), most),
        (Some(least), None) => (format!("at least {least}"), least),
        (None, Some(most)) => (format!("at most {most}"), most),
        (None, None) => return None,
    };
    let what = match (what, last.as_str()) {
        ("", _) => String::new(),
        (what, "1") => format!(" {what}"),
        ("property", _) => " properties".into(),
        (what, _) => format!(" {what}s"),
    };
    Some(format!("{numbers}{what}"))
}
