//! Values as text: for queries, forms, headers and paths.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value;

use crate::tool::{ArgumentPlace, Style};

/// A text without quotes; lists and objects as JSON.
pub(in crate::exec::backend) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// Percent-encodes all but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    escaped(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Percent-encodes the literal text of a template: characters that a path or query cannot have.
pub(super) fn encode_literal(text: &str) -> String {
    encode_but(b"-._~!$&()*+,;=:@/?", text)
}

/// Percent-encodes all but unreserved and reserved characters, and also brackets, which no path or query has (RFC 3986).
pub(super) fn encode_reserved(text: &str) -> String {
    encode_but(b"-._~:/?#@!$&'()*+,;=", text)
}

/// Percent-encodes all but letters, digits and `others`. Encoded triplets stay (RFC 6570, section 3.2.1).
fn encode_but(others: &[u8], text: &str) -> String {
    let plainly = |piece: &str| escaped(piece, |byte| byte.is_ascii_alphanumeric() || others.contains(&byte));
    let is_triplet =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let mut pieces = text.split('%');
    let mut encoded = plainly(pieces.next().unwrap_or_default());
    for piece in pieces {
        encoded.push_str(if is_triplet(piece) { "%" } else { "%25" });
        encoded.push_str(&plainly(piece));
    }
    encoded
}

fn escaped(text: &str, may_stand: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if may_stand(byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// One argument as names and values of a query or form. `null` gives none.
pub(super) fn pairs(name: &str, value: &Value, place: Option<&ArgumentPlace>) -> Vec<(String, String)> {
    let style = place.and_then(|place| place.style);
    let explodes = place.and_then(|place| place.explode).unwrap_or(matches!(style, None | Some(Style::Form)));
    let one = |text: String| vec![(name.to_string(), text)];
    match (value, style) {
        (Value::Null, _) => Vec::new(),
        (Value::Array(_) | Value::Object(_), Some(Style::Json)) => one(value.to_string()),
        (Value::Array(items), Some(Style::DeepObject)) => {
            items.iter().map(|item| (format!("{name}[]"), plain(item).into_owned())).collect()
        }
        (Value::Array(items), _) if explodes => {
            items.iter().map(|item| (name.to_string(), plain(item).into_owned())).collect()
        }
        (Value::Array(items), style) => one(joined(items.iter().map(plain), delimiter(style))),
        (Value::Object(_), None) => one(value.to_string()),
        (Value::Object(_), Some(Style::DeepObject)) => deep(name, value),
        (Value::Object(fields), _) if explodes => {
            fields.iter().map(|(name, value)| (name.clone(), plain(value).into_owned())).collect()
        }
        (Value::Object(fields), style) => {
            let parts = fields.iter().flat_map(|(name, value)| [Cow::Borrowed(name.as_str()), plain(value)]);
            one(joined(parts, delimiter(style)))
        }
        (value, _) => one(plain(value).into_owned()),
    }
}

/// A value on one line, for headers and cookies.
pub(super) fn simple(value: &Value) -> String {
    match value {
        Value::Array(items) => joined(items.iter().map(plain), ","),
        Value::Object(fields) => {
            joined(fields.iter().flat_map(|(name, value)| [Cow::Borrowed(name.as_str()), plain(value)]), ",")
        }
        value => plain(value).into_owned(),
    }
}

fn delimiter(style: Option<Style>) -> &'static str {
    match style {
        Some(Style::SpaceDelimited) => " ",
        Some(Style::PipeDelimited) => "|",
        _ => ",",
    }
}

fn joined<'t>(parts: impl Iterator<Item = Cow<'t, str>>, delimiter: &str) -> String {
    parts.collect::<Vec<_>>().join(delimiter)
}

/// Nested names: `filter[created][after]=...`, to any depth.
fn deep(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(field, value)| deep(&format!("{name}[{field}]"), value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| deep(&format!("{name}[]"), item)).collect(),
        value => vec![(name.to_string(), plain(value).into_owned())],
    }
}

/// Names and values as a query or form.
pub(super) fn form(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{form, pairs};
    use crate::tool::{ArgumentPlace, Location, Style};

    #[track_caller]
    fn check(value: Value, style: Option<Style>, explode: Option<bool>, expect: &str) {
        let place = ArgumentPlace { location: Location::Query, name: None, style, explode };
        assert_eq!(form(&pairs("a", &value, Some(&place))), expect, "{value}");
    }

    #[test]
    fn every_style_of_a_query() {
        let (list, map) = (json!(["x", "y z"]), json!({"b": 1, "c": "d"}));
        check(json!("x&y=+"), None, None, "a=x%26y%3D%2B");
        check(json!(null), None, None, "");
        check(json!(false), None, None, "a=false");
        check(list.clone(), None, None, "a=x&a=y%20z");
        check(list.clone(), Some(Style::Form), Some(false), "a=x%2Cy%20z");
        check(list.clone(), Some(Style::SpaceDelimited), None, "a=x%20y%20z");
        check(list.clone(), Some(Style::PipeDelimited), None, "a=x%7Cy%20z");
        check(list, Some(Style::Json), None, "a=%5B%22x%22%2C%22y%20z%22%5D");
        check(map.clone(), None, None, "a=%7B%22b%22%3A1%2C%22c%22%3A%22d%22%7D");
        check(map.clone(), Some(Style::Form), None, "b=1&c=d");
        check(map.clone(), Some(Style::Form), Some(false), "a=b%2C1%2Cc%2Cd");
        check(map, Some(Style::DeepObject), None, "a%5Bb%5D=1&a%5Bc%5D=d");
        check(
            json!({"b": {"c": [1, 2]}}),
            Some(Style::DeepObject),
            None,
            "a%5Bb%5D%5Bc%5D%5B%5D=1&a%5Bb%5D%5Bc%5D%5B%5D=2",
        );
    }
}
