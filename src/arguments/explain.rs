//! Explanation of invalid arguments: field by field, in words, with near names.

use serde::Serialize;
use serde_json::{Map, Value};

use super::correct::Corrected;
use super::names::property;
use crate::catalog::Tool;
use crate::finding::{Violation, pointer_split};
use crate::secret::{REDACTED, SecretPolicy};
use crate::tool::words;

/// Characters of a value that a message repeats.
const QUOTE: usize = 60;
/// Names that a message lists.
const LISTED: usize = 12;
/// Characters of a name that are split into words: longer text is no name.
const MAX_NAME: usize = 200;

/// One field of invalid arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
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
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), expected: None, given: None, nearest: None }
    }

    /// The same error with the expected value.
    pub(crate) fn expecting(self, expected: &str) -> Self {
        Self { expected: Some(expected.into()), ..self }
    }

    /// The error of arguments that are no object.
    pub(super) fn expected_object() -> Self {
        Self::new("", "expected an object").expecting("object")
    }

    /// The pointer, message and nearest name alone, as the refusal of a function has them.
    pub(crate) fn brief(self) -> Self {
        Self { expected: None, given: None, ..self }
    }
}

impl From<Violation> for FieldError {
    fn from(violation: Violation) -> Self {
        Self { nearest: violation.nearest, ..Self::new(violation.pointer, violation.message) }
    }
}

/// The error of invalid arguments, with a corrected call.
#[derive(Debug)]
pub(crate) struct InvalidArguments {
    pub(crate) message: String,
    pub(crate) next_action: String,
    pub(crate) fields: Vec<FieldError>,
    /// Near names, best first.
    pub(crate) nearest: Vec<String>,
    pub(crate) corrected: Option<Corrected>,
}

impl InvalidArguments {
    pub(super) fn new(message: impl Into<String>, next_action: &str) -> Self {
        let (message, next_action) = (message.into(), next_action.into());
        Self { message, next_action, fields: Vec::new(), nearest: Vec::new(), corrected: None }
    }

    pub(super) fn field(mut self, error: FieldError) -> Self {
        self.fields.push(error);
        self
    }
}

/// The first field errors, each with its pointer, in words.
pub(crate) fn in_words(fields: &[FieldError], most: usize) -> String {
    let words = fields.iter().take(most).map(|error| match error.pointer.as_str() {
        "" => error.message.clone(),
        pointer => format!("{pointer}: {}", error.message),
    });
    words.collect::<Vec<_>>().join("; ")
}

/// The error of arguments that violate their schema.
pub(super) fn invalid_arguments(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    given: &Value,
    wrong: Vec<Violation>,
) -> InvalidArguments {
    let others: Vec<String> = wrong.iter().flat_map(possible).collect();
    let fields: Vec<FieldError> =
        wrong.into_iter().map(|violation| field_error(tool, secrets, given, violation)).collect();
    let message = match given.as_object().is_some_and(Map::is_empty) {
        true => format!("`{}` was called without arguments: {}", tool.op, in_words(&fields, 8)),
        false => format!("the arguments of `{}` do not fit: {}", tool.op, in_words(&fields, 3)),
    };
    let next = "correct the arguments and send the call again; tool_help with `help_path` says more";
    let nearest = fields.iter().filter_map(|error| error.nearest.clone()).chain(others);
    let nearest: indexmap::IndexSet<String> = nearest.collect();
    let invalid = InvalidArguments::new(message, next);
    InvalidArguments { fields, nearest: nearest.into_iter().collect(), ..invalid }
}

/// A violation with the expected value, and the given one unless it is secret.
fn field_error(tool: &Tool, secrets: SecretPolicy<'_>, given: &Value, mut wrong: Violation) -> FieldError {
    let (schema, place) = (tool.parameters.schema(), given.pointer(&wrong.pointer));
    wrong.expected = wrong.expected.take().or_else(|| expected(tool, &wrong, place.is_none()));
    let is_secret = secrets.covers(schema, given, &wrong.pointer);
    let place = place.map(|value| match is_secret {
        true => REDACTED.into(),
        false => cut(&secrets.redacted(&Value::Null, value)),
    });
    let mut wrong = secrets.conceal(schema, given, wrong);
    if wrong.nearest.is_none()
        && wrong.unknown
        && let [only] = related(&wrong).as_slice()
    {
        wrong.nearest = Some((*only).to_string());
    }
    let expected = wrong.expected.take();
    FieldError { expected, given: place, ..FieldError::from(wrong) }
}

/// The known properties, or the type of a missing one.
fn expected(tool: &Tool, wrong: &Violation, is_missing: bool) -> Option<String> {
    if wrong.unknown {
        let listed: Vec<&str> = wrong.known.iter().take(LISTED).map(String::as_str).collect();
        let more = if wrong.known.len() > LISTED { ", ..." } else { "" };
        return (!listed.is_empty()).then(|| format!("one of the properties {}{more}", listed.join(", ")));
    }
    let name = wrong.pointer.strip_prefix('/').filter(|name| is_missing && !name.contains('/'))?;
    let property = property(tool, name)?;
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        let listed: Vec<String> = words.iter().take(LISTED).map(Value::to_string).collect();
        return Some(format!("one of {}", listed.join(", ")));
    }
    match property.get("type")? {
        Value::String(word) => Some(word.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")),
        _ => None,
    }
}

/// A value, cut where it is long.
fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().nth(QUOTE).is_some() => {
            format!("{}…", text.chars().take(QUOTE).collect::<String>()).into()
        }
        Value::Array(items) if !items.is_empty() => format!("an array of {}", items.len()).into(),
        Value::Object(fields) if !fields.is_empty() => "an object".into(),
        other => other.clone(),
    }
}

/// Suggestions for a place: its possible values, or names that contain the given one.
fn possible(wrong: &Violation) -> Vec<String> {
    let all = match wrong.unknown {
        true => related(wrong),
        false if wrong.expected.is_some() => wrong.known.iter().map(String::as_str).take(LISTED).collect(),
        false => Vec::new(),
    };
    all.into_iter().map(str::to_string).collect()
}

/// Known names that share words with an unknown one: `id` with `item_id`, or the other way round.
fn related(wrong: &Violation) -> Vec<&str> {
    let (_, name) = pointer_split(&wrong.pointer).unwrap_or_default();
    let given = words(&name.chars().take(MAX_NAME).collect::<String>());
    let is_end = |all: &[String], end: &[String]| !end.is_empty() && all.ends_with(end);
    let is_related = |other: &&String| {
        let other = words(other);
        is_end(&other, &given) || is_end(&given, &other)
    };
    wrong.known.iter().filter(is_related).map(String::as_str).take(LISTED).collect()
}
