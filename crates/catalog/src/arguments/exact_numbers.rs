//! Numbers with all their digits. A big integer or a decimal such as `1.10` loses digits as a float, and an identifier or a price
//! becomes another one. A text is read with a marker string in place of each such number. Coercion moves markers like any text,
//! validation sees the nearest float, and the written arguments get their digits back.

use serde::de::IgnoredAny;
use serde_json::{Number, Value};

use crate::tool::Tool;
use toolcrib_definition::document::{from_json, pointer_join};
use toolcrib_definition::schema::Node;

/// The digits of the numbers of one text.
#[derive(Debug)]
pub(super) struct ExactNumbers {
    /// The prefix of markers: the hash of the whole text, which no text contains.
    prefix: String,
    tokens: Vec<String>,
}

impl ExactNumbers {
    /// Exact numbers for a text, and for the texts encoded in it.
    pub(super) fn of(text: &str) -> Self {
        Self { prefix: blake3::hash(text.as_bytes()).to_hex().to_string(), tokens: Vec::new() }
    }

    /// Reads a text; numbers that a float would change become markers.
    pub(super) fn read(&mut self, text: &str) -> serde_json::Result<Value> {
        // An error's place is wanted in the text without markers.
        from_json(&self.marked(text)).map_err(|error| from_json(text).err().unwrap_or(error))
    }

    fn marked(&mut self, text: &str) -> String {
        let mut marked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            let (before, here) = rest.split_at(start);
            marked.push_str(before);
            let is_string = here.starts_with('"');
            let (token, after) = here.split_at(if is_string { string_end(here) } else { number_end(here) });
            if is_string || !needs_digits(token) {
                marked.push_str(token);
            } else {
                marked.push_str(&format!("\"{}{}\"", self.prefix, self.tokens.len()));
                self.tokens.push(token.to_string());
            }
            rest = after;
        }
        marked.push_str(rest);
        marked
    }

    /// The digits of a marker; `None` for any other text.
    pub(super) fn token(&self, marker: &str) -> Option<&str> {
        let index = marker.strip_prefix(self.prefix.as_str())?.parse::<usize>().ok()?;
        self.tokens.get(index).map(String::as_str)
    }

    /// A value with the nearest numbers in place of markers.
    pub(super) fn nearest(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match self.token(text) {
                Some(token) => Value::Number(nearest(token)),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.nearest(item)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, field)| (name.clone(), self.nearest(field))).collect(),
            ),
            other => other.clone(),
        }
    }

    /// A value as JSON text, with the digits in place of markers.
    pub(super) fn written(&self, value: &Value) -> String {
        let text = value.to_string();
        let marker = format!("\"{}", self.prefix);
        let mut pieces = text.split(marker.as_str());
        let mut written = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let (index, rest) = piece.split_once('"').unwrap_or((piece, ""));
            let token = index.parse::<usize>().ok().and_then(|index| self.tokens.get(index));
            written.push_str(token.map_or("null", String::as_str));
            written.push_str(rest);
        }
        written
    }
}

/// Whether a value holds a number that was read as a float.
pub fn holds_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(holds_float),
        Value::Object(fields) => fields.values().any(holds_float),
        _ => false,
    }
}

/// Pointers to integers that have lost digits: the call would be run with other numbers. Where the tool takes any number, it
/// takes the nearest one.
pub(super) fn inexact_integers(tool: &Tool, value: &Value) -> Vec<String> {
    let mut places = Vec::new();
    if holds_float(value) {
        find_inexact(value, &tool.input.parameters.root(), "", &mut places);
    }
    places
}

/// Whether an integer was read as the nearest float: from 2^64 up, and below -2^63.
fn is_inexact(number: &Number) -> bool {
    let is_beyond =
        |number: f64| number.fract() == 0.0 && !(i64::MIN as f64..u64::MAX as f64).contains(&number);
    number.is_f64() && number.as_f64().is_some_and(is_beyond)
}

fn find_inexact(value: &Value, node: &Node<'_>, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Number(number) if is_inexact(number) && !takes_number(node) => places.push(at.to_string()),
        Value::Array(items) => {
            let node = node.items().unwrap_or_default();
            for (index, item) in items.iter().enumerate() {
                find_inexact(item, &node, &pointer_join(at, index), places);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let node = node.property(name).or_else(|| node.other_values()).unwrap_or_default();
                find_inexact(field, &node, &pointer_join(at, name), places);
            }
        }
        _ => {}
    }
}

/// Whether a schema says `number`, also in a union.
fn takes_number(node: &Node<'_>) -> bool {
    node.has_type("number") || node.variants().any(|variant| variant.has_type("number"))
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn number_end(text: &str) -> usize {
    let is_inside = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    text.bytes().position(|byte| !is_inside(byte)).unwrap_or(text.len())
}

/// Whether a token is a number that is not read as an integer. An invalid number stays, so that the reader reports it.
fn needs_digits(token: &str) -> bool {
    let is_plain = token != "-0" && (token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok());
    !is_plain && serde_json::from_str::<IgnoredAny>(token).is_ok()
}

/// The nearest number that Rust can hold; a number too large for a float becomes the largest float.
fn nearest(token: &str) -> Number {
    let parsed = serde_json::from_str::<Number>(token).ok();
    let largest = if token.starts_with('-') { f64::MIN } else { f64::MAX };
    parsed.or_else(|| Number::from_f64(largest)).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_string()),
            "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
            "[a-z0-9\"\\\\\u{e9}.-]{0,8}".prop_map(|text| Value::String(text).to_string()),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let named = |(index, value): (usize, String)| format!("\"k{index}\":{value}");
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(inner, 0..5).prop_map(move |items| {
                    let fields: Vec<String> = items.into_iter().enumerate().map(named).collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_to_the_digit(text in json()) {
            let mut digits = ExactNumbers::of(&text);
            let value = digits.read(&text).unwrap();
            prop_assert_eq!(digits.written(&value), text);
        }

        #[test]
        fn the_nearest_value_is_what_a_plain_reader_gives(text in json()) {
            let mut digits = ExactNumbers::of(&text);
            let value = digits.read(&text).unwrap();
            if let Ok(plain) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(digits.nearest(&value), plain);
            }
        }

        #[test]
        fn what_is_no_json_stays_none(text in "[-+0-9.eE,\\[\\]{}\": \\\\a]{0,24}") {
            let plain = serde_json::from_str::<Value>(&text);
            let too_large = plain.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
            prop_assert!(too_large || ExactNumbers::of(&text).read(&text).is_ok() == plain.is_ok());
        }
    }
}
