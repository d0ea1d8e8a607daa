//! Explanation of invalid arguments: field by field, in words, with near names.

use serde_json::{Map, Value};

use super::correct::Corrected;
use super::field_error::{FieldError, MAX_EXPLAINED, MAX_POINTER, and_more, in_words};
use super::respell::MAX_NAME;
use crate::tool::Tool;
use toolcrib_definition::document::pointer_split;
use toolcrib_definition::finding::{Violation, beginning};
use toolcrib_definition::secret::{REDACTED, SecretPolicy};
use toolcrib_definition::{clipped, words};

/// Characters of a value that a message repeats.
const MAX_QUOTED: usize = 60;

/// Names that a message lists.
const LISTED: usize = 12;

/// The error of invalid arguments, with a corrected call.
#[derive(Debug)]
pub struct InvalidArguments {
    /// What is wrong, in a sentence.
    pub message: String,
    /// What the caller does next.
    pub next_action: String,
    /// Each wrong place.
    pub fields: Vec<FieldError>,
    /// Near names, best first.
    pub nearest: Vec<String>,
    /// A call that would be valid.
    pub corrected: Option<Corrected>,
}

impl InvalidArguments {
    pub(super) fn new(message: impl Into<String>, next_action: &str) -> Self {
        let message = message.into();
        let next_action = next_action.into();
        Self { message, next_action, fields: Vec::new(), nearest: Vec::new(), corrected: None }
    }

    /// The same error with the first 20 fields and names alone, and short pointers.
    pub fn shortened(mut self) -> Self {
        self.message.push_str(&and_more(self.fields.len().saturating_sub(MAX_EXPLAINED)));
        self.fields.truncate(MAX_EXPLAINED);
        self.nearest.truncate(MAX_EXPLAINED);
        let fields = self.fields.iter_mut().map(|field| &mut field.pointer);
        let corrected =
            self.corrected.iter_mut().flat_map(|call| call.dropped.iter_mut().chain(&mut call.unnamed));
        for pointer in fields.chain(corrected) {
            *pointer = clipped(pointer, MAX_POINTER).into_owned();
        }
        self
    }

    pub(super) fn field(mut self, error: FieldError) -> Self {
        self.fields.push(error);
        self
    }
}

/// The error of arguments that violate their schema.
pub(super) fn invalid_arguments(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    given: &Value,
    wrong: Vec<Violation>,
) -> InvalidArguments {
    let others: Vec<String> = wrong.iter().take(MAX_EXPLAINED).flat_map(possible).collect();
    let more = wrong.len().saturating_sub(MAX_EXPLAINED);
    let explained = wrong.into_iter().take(MAX_EXPLAINED);
    let fields: Vec<FieldError> =
        explained.map(|violation| field_error(tool, secrets, given, violation)).collect();
    let message = if given.as_object().is_some_and(Map::is_empty) {
        format!("`{}` was called without arguments: {}", tool.names.op, in_words(&fields, 8))
    } else {
        format!("the arguments of `{}` do not fit: {}", tool.names.op, in_words(&fields, 3))
    };
    let next = "correct the arguments and send the call again; tool_help with `help_path` says more";
    let nearest = fields.iter().filter_map(|error| error.nearest.clone()).chain(others);
    let nearest: indexmap::IndexSet<String> = nearest.collect();
    let invalid = InvalidArguments::new(message + &and_more(more), next);
    InvalidArguments { fields, nearest: nearest.into_iter().collect(), ..invalid }
}

/// A violation with the expected value, and the given one unless it is secret.
fn field_error(tool: &Tool, secrets: SecretPolicy<'_>, given: &Value, mut wrong: Violation) -> FieldError {
    let schema = tool.input.parameters.schema();
    let place = given.pointer(&wrong.pointer);
    wrong.expected = wrong.expected.take().or_else(|| expected(tool, &wrong, place.is_none()));
    let is_secret = secrets.covers(schema, given, &wrong.pointer);
    let place = place.map(|value| match value {
        _ if is_secret => REDACTED.into(),
        Value::String(text) => cut(&secrets.redacted(&Value::Null, &beginning(text).into())),
        value => cut(value),
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
pub(super) fn expected(tool: &Tool, wrong: &Violation, is_missing: bool) -> Option<String> {
    if wrong.unknown {
        let listed: Vec<&str> = wrong.known.iter().take(LISTED).map(String::as_str).collect();
        let more = if wrong.known.len() > LISTED { ", ..." } else { "" };
        return (!listed.is_empty()).then(|| format!("one of the properties {}{more}", listed.join(", ")));
    }
    let name = wrong.pointer.strip_prefix('/').filter(|name| is_missing && !name.contains('/'))?;
    let property = tool.input.parameters.root().property(name)?;
    if let Some(values) = property.values {
        let listed: Vec<String> = values.iter().take(LISTED).map(Value::to_string).collect();
        return Some(format!("one of {}", listed.join(", ")));
    }
    let words: Vec<&str> = property.type_words().collect();
    property.is_typed().then(|| words.join(" or "))
}

/// A value, cut where it is long.
fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) => clipped(text, MAX_QUOTED).into(),
        Value::Array(items) if !items.is_empty() => format!("an array of {}", items.len()).into(),
        Value::Object(fields) if !fields.is_empty() => "an object".into(),
        other => other.clone(),
    }
}

/// Suggestions for a place: its possible values, or names that contain the given one.
fn possible(wrong: &Violation) -> Vec<String> {
    let all = match wrong.expected {
        _ if wrong.unknown => related(wrong),
        Some(_) => wrong.known.iter().map(String::as_str).take(LISTED).collect(),
        None => Vec::new(),
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
