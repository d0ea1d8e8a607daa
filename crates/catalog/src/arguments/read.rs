//! Reading of arguments: from an object, from JSON text, or from nothing.

use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

use super::coerce::{Repair, RepairKind, properties};
use super::correct::ready_made;
use super::validate::{FieldError, InvalidArguments};
use crate::Tool;
use toolcrib_definition::Effect;
use toolcrib_definition::finding::{from_json, pointer_join};

/// A reader of JSON texts: fast at first, and once more with all digits if a number has lost some.
#[derive(Debug, Default)]
pub struct ArgumentReader {
    digits: Option<ExactNumbers>,
    /// Whether a number may have lost digits.
    pub inexact: bool,
}

impl ArgumentReader {
    /// A reader that keeps all digits of a text and of the texts encoded in it.
    pub fn exact(text: &str) -> Self {
        Self { digits: Some(ExactNumbers::of(text)), ..Self::default() }
    }

    /// The value of a whole text.
    pub fn body(&mut self, text: &str) -> serde_json::Result<Value> {
        match &mut self.digits {
            Some(digits) => digits.read(text),
            None => from_json(text),
        }
    }

    /// The value of a text encoded in another one.
    fn encoded(&mut self, text: &str) -> serde_json::Result<Value> {
        let value = self.body(text);
        self.inexact |= self.digits.is_none() && value.as_ref().map_or(true, holds_float);
        value
    }

    /// The list, object, number or flag that a text encodes, if any.
    pub(super) fn encoded_value(&mut self, text: &str) -> Option<Value> {
        let begins = |c: char| matches!(c, '[' | '{' | '-') || c.is_ascii_digit();
        let may_be = text.trim_start().starts_with(begins) || matches!(text, "true" | "false");
        may_be.then(|| self.encoded(text).ok()).flatten()
    }

    /// The text of a number or a flag, digit by digit as it was written. `None` where the digits are not known, as those of
    /// a fraction that was read as a float, and for an exponent, which can be written in several ways.
    pub(super) fn text_of(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::Bool(_) => Some(value.to_string()),
            Value::Number(number) if number.is_f64() => {
                self.inexact |= self.digits.is_none();
                None
            }
            Value::Number(number) => Some(number.to_string()),
            Value::String(marker) => {
                let digits = self.digits.as_ref()?.token(marker)?;
                (!digits.contains(['e', 'E'])).then(|| digits.to_string())
            }
            _ => None,
        }
    }

    /// Arguments that are a value or absent: an object, unless something else was given.
    pub fn arguments(&mut self, given: Option<Value>) -> Value {
        let value = given.filter(|value| !value.is_null()).unwrap_or_else(|| Value::Object(Map::new()));
        self.inexact |= self.digits.is_none() && holds_float(&value);
        value
    }

    /// Arguments that are text: an object, unless the text encodes something else.
    pub fn encoded_arguments(&mut self, text: &str, repaired: &mut Vec<Repair>) -> serde_json::Result<Value> {
        if !self.is_text(text) {
            return Ok(Value::String(text.into()));
        }
        match self.decoded(text)? {
            Value::String(text) if self.is_text(&text) => {
                repaired.push(Repair { pointer: String::new(), repair: RepairKind::DoubleEncoded });
                self.decoded(&text)
            }
            value => Ok(value),
        }
    }

    /// Reads JSON text.
    pub fn decoded(&mut self, text: &str) -> serde_json::Result<Value> {
        if text.trim().is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        Ok(match self.encoded(text)? {
            Value::Null => Value::Object(Map::new()),
            value => value,
        })
    }

    /// Whether a string is text, and not the marker of a number.
    fn is_text(&self, text: &str) -> bool {
        self.digits.as_ref().is_none_or(|digits| digits.token(text).is_none())
    }

    /// The integer that a marker such as the one of `5.0` stands for.
    pub(super) fn whole(&self, marker: &str) -> Option<i64> {
        let (whole, fraction) = self.digits.as_ref()?.token(marker)?.split_once('.')?;
        fraction.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
    }

    /// The digits of a marker; any other text unchanged.
    pub fn text(&self, text: String) -> String {
        match self.digits.as_ref().and_then(|digits| digits.token(&text)) {
            Some(token) => token.to_string(),
            None => text,
        }
    }

    /// Runs a check on a value with numbers in place of markers.
    pub(super) fn check<T>(&self, value: &Value, check: impl FnOnce(&Value) -> T) -> T {
        match &self.digits {
            Some(digits) => check(&digits.nearest(value)),
            None => check(value),
        }
    }

    /// A value with numbers in place of markers, and its text where that has more digits.
    pub fn finished(&self, value: Value) -> (Value, Option<String>) {
        match &self.digits {
            Some(digits) => (digits.nearest(&value), Some(digits.written(&value))),
            None => (value, None),
        }
    }

    /// A value as JSON text, with all its digits.
    pub fn written(&mut self, value: &Value) -> String {
        self.inexact |= self.digits.is_none() && holds_float(value);
        match &self.digits {
            Some(digits) => digits.written(value),
            None => value.to_string(),
        }
    }
}

/// The value of a text, and its text with all digits where a float has fewer.
pub fn exactly(text: &str) -> serde_json::Result<(Value, Option<String>)> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !holds_float(&value) => Ok((value, None)),
        _ => {
            let mut reading = ArgumentReader::exact(text);
            let value = reading.body(text)?;
            Ok(reading.finished(value))
        }
    }
}

/// The value that a text encodes, also as text within text.
pub fn decoded(text: &str) -> serde_json::Result<Value> {
    match from_json(text)? {
        Value::String(inner) => from_json(&inner),
        value => Ok(value),
    }
}

/// Makes the arguments of a call an object; `notes` gets each change. For a destructive tool with properties, blank text is
/// no empty object, and neither is an absent `args` where no other field could have arguments (`is_all`).
pub fn make_object(
    tool: &Tool,
    given: &mut Value,
    is_all: bool,
    notes: &mut Vec<String>,
) -> Result<(), InvalidArguments> {
    let is_blank = given.as_str().is_some_and(|text| text.trim().is_empty());
    let takes_any = || properties(tool).is_some_and(|properties| !properties.is_empty());
    if tool.effect == Effect::Destructive && (is_blank || (given.is_null() && is_all && takes_any())) {
        let message = format!("`{}` is destructive, and was called without `args`", tool.op);
        let next = "say `args: {}` if you mean no arguments";
        return Err(InvalidArguments::new(message, next).field(FieldError::expected_object()));
    }
    *given = match given {
        Value::Object(_) => return Ok(()),
        Value::String(text) if !is_blank => match decoded(text) {
            Ok(fields) if fields.is_object() => {
                notes.push("`args` was JSON text, and was decoded".into());
                fields
            }
            Err(error) if error.is_data() => {
                let message = format!("`args` is JSON text in which {error}");
                let invalid = InvalidArguments::new(message, "send it once");
                return Err(invalid.field(FieldError::new("", error.to_string())));
            }
            _ => return Err(no_object(tool)),
        },
        Value::Null | Value::String(_) => Value::Object(Map::new()),
        _ => return Err(no_object(tool)),
    };
    Ok(())
}

fn no_object(tool: &Tool) -> InvalidArguments {
    let message = format!("`args` of `{}` should be an object with its arguments", tool.op);
    let invalid = InvalidArguments::new(message, "send `args` as an object");
    let invalid = invalid.field(FieldError::expected_object());
    InvalidArguments { corrected: ready_made(tool, &Value::Null), ..invalid }
}

// Numbers with all their digits. A big integer or a decimal such as `1.10` loses digits as a float, and an identifier or a price
// becomes another one. A text is read with a marker string in place of each such number. Coercion moves markers like any text,
// validation sees the nearest float, and the written arguments get their digits back.

/// The digits of the numbers of one text.
#[derive(Debug)]
struct ExactNumbers {
    /// The prefix of markers: the hash of the whole text, which no text contains.
    prefix: String,
    tokens: Vec<String>,
}

impl ExactNumbers {
    /// Exact numbers for a text, and for the texts encoded in it.
    fn of(text: &str) -> Self {
        Self { prefix: blake3::hash(text.as_bytes()).to_hex().to_string(), tokens: Vec::new() }
    }

    /// Reads a text; numbers that a float would change become markers.
    fn read(&mut self, text: &str) -> serde_json::Result<Value> {
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
    fn token(&self, marker: &str) -> Option<&str> {
        let index = marker.strip_prefix(self.prefix.as_str())?.parse::<usize>().ok()?;
        self.tokens.get(index).map(String::as_str)
    }

    /// A value with the nearest numbers in place of markers.
    fn nearest(&self, value: &Value) -> Value {
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
    fn written(&self, value: &Value) -> String {
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
    holds_number(value, Number::is_f64)
}

fn holds_number(value: &Value, is_it: fn(&Number) -> bool) -> bool {
    match value {
        Value::Number(number) => is_it(number),
        Value::Array(items) => items.iter().any(|item| holds_number(item, is_it)),
        Value::Object(fields) => fields.values().any(|field| holds_number(field, is_it)),
        _ => false,
    }
}

/// Pointers to integers that have lost digits: the call would be run with other numbers.
pub(super) fn inexact_integers(value: &Value) -> Vec<String> {
    let mut places = Vec::new();
    if holds_number(value, is_inexact) {
        find_inexact(value, "", &mut places);
    }
    places
}

/// Whether an integer was read as the nearest float: from 2^64 up, and below -2^63.
fn is_inexact(number: &Number) -> bool {
    let is_beyond =
        |number: f64| number.fract() == 0.0 && !(i64::MIN as f64..u64::MAX as f64).contains(&number);
    number.is_f64() && number.as_f64().is_some_and(is_beyond)
}

fn find_inexact(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Number(number) if is_inexact(number) => places.push(at.to_string()),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| find_inexact(item, &pointer_join(at, index), places));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| find_inexact(field, &pointer_join(at, name), places));
        }
        _ => {}
    }
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
