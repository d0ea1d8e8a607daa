//! One wrong field of the arguments of a call, and fields in words.

use serde::Serialize;
use serde_json::Value;

use toolcrib_definition::clipped;
use toolcrib_definition::finding::Violation;

/// Characters of a pointer that a message repeats: a name in it may be as long as the arguments.
pub(super) const MAX_POINTER: usize = 1_000;

/// Fields that are explained one by one, and names that are suggested.
pub const MAX_EXPLAINED: usize = 20;

/// One field of invalid arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// JSON pointer into the arguments; for a missing or unknown property, the pointer to it.
    pub pointer: String,
    /// The mistake, on one line.
    pub message: String,
    /// The expected value, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The given value, cut where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Value>,
    /// The nearest valid property or value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl FieldError {
    /// An error at a place, with this message.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), expected: None, given: None, nearest: None }
    }

    /// The same error with the expected value.
    pub fn expecting(self, expected: &str) -> Self {
        Self { expected: Some(expected.into()), ..self }
    }

    /// The error of arguments that are no object.
    pub(super) fn expected_object() -> Self {
        Self::new("", "expected an object").expecting("object")
    }

    /// The pointer, message and nearest name alone, as the error of a function has them.
    pub fn brief(self) -> Self {
        Self { expected: None, given: None, ..self }
    }
}

impl From<Violation> for FieldError {
    fn from(violation: Violation) -> Self {
        Self { nearest: violation.nearest, ..Self::new(violation.pointer, violation.message) }
    }
}

/// The number of fields that are not explained, for the end of a message.
pub fn and_more(fields: usize) -> String {
    match fields {
        0 => String::new(),
        more => format!("; and at least {more} more fields do not fit"),
    }
}

/// The first field errors, each with its pointer, in words.
pub fn in_words(fields: &[FieldError], most: usize) -> String {
    let words = fields.iter().take(most).map(|error| match error.pointer.as_str() {
        "" => error.message.clone(),
        pointer => format!("{}: {}", clipped(pointer, MAX_POINTER), error.message),
    });
    words.collect::<Vec<_>>().join("; ")
}
