//! Reading of arguments: from an object, from JSON text, or from nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::exact_numbers::{ExactNumbers, holds_float};
use super::repair::{Repair, RepairKind};
use toolcrib_definition::document::from_json;

/// Most times that a text is encoded in another one.
const MAX_ENCODED: usize = 4;

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
    pub(super) fn encoded(&mut self, text: &str) -> serde_json::Result<Value> {
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
        let mut value = self.decoded(text)?;
        for level in 0..MAX_ENCODED {
            let inner = match &value {
                Value::String(inner) if self.is_text(inner) => inner,
                _ => break,
            };
            if level == 0 {
                repaired.push(Repair { pointer: String::new(), repair: RepairKind::DoubleEncoded });
            }
            value = self.decoded(inner)?;
        }
        Ok(value)
    }

    /// The text that is encoded in a text, or in a text in it; else the text itself.
    pub(super) fn innermost<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut innermost = Cow::Borrowed(text);
        for _ in 0..MAX_ENCODED {
            match self.body(&innermost) {
                Ok(Value::String(inner)) => innermost = inner.into(),
                _ => break,
            }
        }
        innermost
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
