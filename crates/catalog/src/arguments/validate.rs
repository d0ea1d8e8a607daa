//! Validation of arguments by the schema of their tool: unchanged, then coerced. Each change is described in words.

use serde::Serialize;
use serde_json::{Map, Value};

use super::coerce::{
    MAX_NAME, Repair, check_dropped_nulls, coerce_accepted_names, coerce_names, coerce_to_schema,
    describe_repairs, has_all, is_property_name, property, wrapped, write_integers,
};
use super::correct::{Corrected, corrected};
use super::read::ArgumentReader;
use super::read::inexact_integers;
use crate::Tool;
use toolcrib_definition::finding::{Violation, beginning, pointer_join, pointer_split};
use toolcrib_definition::secret::{REDACTED, SecretPolicy};
use toolcrib_definition::{Effect, clean_line, clipped, words};

/// Characters of a name that a message repeats.
const QUOTE: usize = 80;

/// Makes arguments valid by the schema of their tool, and returns the repairs; `notes` gets each change in words. `beside`
/// are unknown fields next to `args`. Arguments that cannot be made valid stay as they were read.
pub fn validate(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<Vec<Repair>, InvalidArguments> {
    let inexact = inexact_integers(arguments);
    if let Some(first) = inexact.first() {
        return Err(too_many_digits(tool, first, &inexact));
    }
    take_extra_fields(tool, secrets, arguments, beside, notes)?;
    let is_known = || arguments.as_object().is_none_or(|fields| has_all(tool, fields));
    if !tool.parameters.is_checked() || (is_known() && tool.parameters.accepts(arguments)) {
        write_integers(tool, &ArgumentReader::default(), arguments);
        return Ok(Vec::new());
    }
    if let Some(filled) = with_defaults(tool, arguments).filter(|filled| tool.parameters.accepts(filled)) {
        *arguments = filled;
        write_integers(tool, &ArgumentReader::default(), arguments);
        return Ok(Vec::new());
    }
    match coerce_to_schema(tool, arguments.clone()) {
        Ok((fit, repaired)) => {
            check_dropped_nulls(tool, &fit, &repaired)?;
            describe_repairs(&repaired, notes);
            *arguments = coerce_accepted_names(tool, fit, notes);
            Ok(repaired)
        }
        Err(wrong) => coerce_names_and_values(tool, secrets, arguments, wrong, notes),
    }
}

/// Arguments with the defaults of required properties, where such properties are missing. Some servers call a property
/// required because they always have a value for it.
fn with_defaults(tool: &Tool, arguments: &Value) -> Option<Value> {
    let schema = tool.parameters.schema();
    let given = arguments.as_object()?;
    let required = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    let mut defaults = required
        .filter(|name| !given.contains_key(*name))
        .filter_map(|name| {
            let default = schema.get("properties")?.get(name)?.get("default")?;
            Some((name.to_string(), default.clone()))
        })
        .peekable();
    defaults.peek()?;
    Some(Value::Object(given.clone().into_iter().chain(defaults).collect()))
}

/// Coerces names, then values.
fn coerce_names_and_values(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    wrong: Vec<Violation>,
    notes: &mut Vec<String>,
) -> Result<Vec<Repair>, InvalidArguments> {
    let wrapper = wrapped(tool, arguments).filter(|(_, inside)| inside.is_object());
    let base = wrapper.map_or(&*arguments, |(_, inside)| inside);
    let coerced = coerce_names(tool, base);
    if let Some((value, changes)) = &coerced
        && let Ok((fit, repaired)) = coerce_to_schema(tool, value.clone())
    {
        check_dropped_nulls(tool, &fit, &repaired)?;
        notes.extend(wrapper.map(|(key, _)| format!("the arguments were one level too deep, below `{key}`")));
        notes.extend_from_slice(changes);
        describe_repairs(&repaired, notes);
        *arguments = fit;
        return Ok(repaired);
    }
    let invalid = invalid_arguments(tool, secrets, base, wrong);
    let start = coerced.as_ref().map_or(base, |(value, _)| value);
    Err(InvalidArguments { corrected: corrected(tool, secrets, start), ..invalid })
}

/// Moves fields from next to `args` into it, if they are properties of the tool.
fn take_extra_fields(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<(), InvalidArguments> {
    for (name, value) in beside {
        match arguments.as_object_mut() {
            Some(fields) if is_property_name(tool, &name) && !fields.contains_key(&name) => {
                notes
                    .push(format!("`{}` stood beside `args`, and was read as part of it", clean_line(&name)));
                fields.insert(name, value);
            }
            _ => return Err(out_of_place(tool, secrets, arguments, &name)),
        }
    }
    Ok(())
}

fn out_of_place(tool: &Tool, secrets: SecretPolicy<'_>, arguments: &Value, name: &str) -> InvalidArguments {
    let shown = clean_line(&name.chars().take(QUOTE).collect::<String>());
    let message = format!(
        "`{shown}` is neither a field of the call nor an argument of `{}` that is not given already",
        tool.op
    );
    let pointer = pointer_join("", name);
    let mut corrected = corrected(tool, secrets, arguments).filter(|_| tool.effect != Effect::Destructive);
    if let Some(corrected) = &mut corrected {
        corrected.dropped.push(pointer.clone());
    }
    let next = "put the arguments of the op into `args`, and nothing else beside it";
    let invalid = InvalidArguments { corrected, ..InvalidArguments::new(message, next) };
    invalid.field(FieldError::new(pointer, "this is beside `args`, and is no field of the call"))
}

fn too_many_digits(tool: &Tool, first: &str, places: &[String]) -> InvalidArguments {
    let message =
        format!("the arguments of `{}` do not fit: {first}: this integer has too many digits", tool.op);
    let next = "send it as text if the tool takes text, else a number with at most 19 digits";
    places.iter().fold(InvalidArguments::new(message, next), |invalid, place| {
        let error = FieldError::new(place, "an integer that cannot be held to its last digit");
        invalid.field(error.expecting("at most 19 digits, or text"))
    })
}

// Explanation of invalid arguments: field by field, in words, with near names.

/// Characters of a value that a message repeats.
const MAX_QUOTED: usize = 60;
/// Characters of a pointer that a message repeats: a name in it may be as long as the arguments.
const MAX_POINTER: usize = 1_000;
/// Names that a message lists.
const LISTED: usize = 12;
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
        format!("`{}` was called without arguments: {}", tool.op, in_words(&fields, 8))
    } else {
        format!("the arguments of `{}` do not fit: {}", tool.op, in_words(&fields, 3))
    };
    let next = "correct the arguments and send the call again; tool_help with `help_path` says more";
    let nearest = fields.iter().filter_map(|error| error.nearest.clone()).chain(others);
    let nearest: indexmap::IndexSet<String> = nearest.collect();
    let invalid = InvalidArguments::new(message + &and_more(more), next);
    InvalidArguments { fields, nearest: nearest.into_iter().collect(), ..invalid }
}

/// A violation with the expected value, and the given one unless it is secret.
fn field_error(tool: &Tool, secrets: SecretPolicy<'_>, given: &Value, mut wrong: Violation) -> FieldError {
    let schema = tool.parameters.schema();
    let place = given.pointer(&wrong.pointer);
    wrong.expected = wrong.expected.take().or_else(|| expected(tool, &wrong, place.is_none()));
    let is_secret = secrets.covers(schema, given, &wrong.pointer);
    let place = place.map(|value| {
        if is_secret {
            REDACTED.into()
        } else {
            match value {
                Value::String(text) => cut(&secrets.redacted(&Value::Null, &beginning(text).into())),
                value => cut(value),
            }
        }
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
        Value::String(text) => clipped(text, MAX_QUOTED).into(),
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
