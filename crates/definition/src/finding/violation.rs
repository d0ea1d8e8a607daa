//! Violations of a JSON Schema, in words that a person or a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::document::pointer_join;
use crate::near_names::nearest;

/// The most violations reported for one value.
const LIMIT: usize = 50;
/// The most given names that are compared with known ones: more of them are not misspellings.
const MAX_UNKNOWN: usize = 200;
/// The most properties and values that a violation lists.
const MAX_KNOWN: usize = 1_000;
/// The longest quotation of a value.
const QUOTE: usize = 60;

/// One way in which a value does not fit its schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer to the wrong value; for a missing or unknown property, to that property.
    pub pointer: String,
    /// The mistake in one line, with the expected and the given value.
    pub message: String,
    /// Whether the property at `pointer` is not known to the schema.
    pub unknown: bool,
    /// The nearest known property or value.
    pub nearest: Option<String>,
    /// The expected value, where the value itself is wrong.
    pub expected: Option<String>,
    /// The properties or values that exist at this place, where an unknown one was given.
    pub known: Vec<String>,
    /// Whether values that are no text exist at this place too.
    pub knows_others: bool,
    /// The text that the message quotes.
    quoted: Option<String>,
}

impl Violation {
    /// A violation at a place, with this message.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let pointer = pointer.into();
        let message = message.into();
        Self { pointer, message, ..Self::default() }
    }

    /// A value that should be another one.
    fn expected(pointer: String, expected: String, given: &Value) -> Self {
        let message = format!("expected {expected}, got {}", quoted_value(given));
        Self { expected: Some(expected), ..Self::new(pointer, message) }.quoting(given)
    }

    fn quoting(self, given: &Value) -> Self {
        Self { quoted: given.as_str().map(|text| beginning(text).to_string()), ..self }
    }

    /// The same violation with its quoted text replaced, for example redacted.
    pub fn requoted(mut self, tell: impl FnOnce(&str) -> Value) -> Self {
        if let Some(text) = &self.quoted {
            let replacement = tell(text);
            self.message = self.message.replace(&quote(text), &quoted_value(&replacement));
            self.quoted = replacement.as_str().map(str::to_string);
        }
        self
    }
}

/// The part of a text that is searched for secrets before its first words are quoted. Any secret that begins there is whole.
pub fn beginning(text: &str) -> &str {
    const SEARCHED: usize = 16 << 10;
    &text[..text.floor_char_boundary(SEARCHED)]
}

/// All violations of `value`; `validator` was compiled from `schema`.
pub fn violations(validator: &Validator, schema: &Value, value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    for error in validator.iter_errors(value).take(LIMIT) {
        describe(&error, schema, &mut found);
    }
    found.truncate(LIMIT);
    found
}

fn describe(error: &ValidationError<'_>, schema: &Value, found: &mut Vec<Violation>) {
    let pointer = error.instance_path().to_string();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_properties(error, schema);
            let compared = if unexpected.len() <= MAX_UNKNOWN { &known[..] } else { &[] };
            for name in unexpected.iter().take(LIMIT.saturating_sub(found.len())) {
                let near = nearest(name, compared.iter().map(String::as_str));
                let near = near.first().map(ToString::to_string);
                let message = format!("unknown property {}", quote(name));
                let violation = Violation::new(pointer_join(&pointer, name), message);
                found.push(Violation { unknown: true, nearest: near, known: known.clone(), ..violation });
            }
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let message = format!("missing required property {}", quote(name));
            let known = known_properties(error, schema);
            let given = error.instance().as_object().filter(|given| given.len() <= MAX_UNKNOWN);
            let others = given.into_iter().flat_map(|given| given.keys());
            // Where no other properties are allowed, each unknown one is reported by itself.
            let is_taken = holder(error, schema).and_then(|holder| holder.get("additionalProperties"));
            let unknown = others
                .filter(|key| !known.contains(key) && is_taken != Some(&Value::Bool(false)))
                .map(String::as_str);
            let near = nearest(name, unknown).first().map(|near| near.to_string());
            let message = match &near {
                Some(near) => format!("{message}; {} is not a property", quote(near)),
                None => message,
            };
            let nearest = near.map(|_| name.to_string());
            found.push(Violation { nearest, ..Violation::new(pointer_join(&pointer, name), message) });
        }
        Kind::Enum { options } => {
            let words = options.as_array().map(Vec::as_slice).unwrap_or_default();
            found.push(one_of_these(pointer, words, error.instance()));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            if let Some(words) = constants(context) {
                return found.push(one_of_these(pointer, &words, error.instance()));
            }
            let branches = context.iter().filter(|branch| !branch.is_empty());
            match branches.min_by_key(|branch| branch_distance(branch)) {
                Some(branch) if branch_distance(branch) < (1, 0) => {
                    branch.iter().for_each(|error| describe(error, schema, found))
                }
                _ => {
                    let message = format!("{} does not fit any allowed form", quoted_value(error.instance()));
                    found.push(Violation::new(pointer, message).quoting(error.instance()));
                }
            }
        }
        kind => found.push(Violation::expected(pointer, expectation(kind), error.instance())),
    }
}

/// A value that is not one of the allowed ones.
fn one_of_these(pointer: String, words: &[Value], given: &Value) -> Violation {
    let known = words.iter().filter_map(Value::as_str).take(MAX_KNOWN);
    let known: Vec<String> = known.map(ToString::to_string).collect();
    let near = nearest(given.as_str().unwrap_or_default(), known.iter().map(String::as_str));
    let nearest = near.first().map(ToString::to_string);
    let knows_others = !words.iter().all(Value::is_string);
    Violation { nearest, known, knows_others, ..Violation::expected(pointer, one_of(words), given) }
}

/// The values of a union that is an enumeration, each branch a constant.
fn constants(branches: &[Vec<ValidationError<'static>>]) -> Option<Vec<Value>> {
    let constant = |branch: &Vec<ValidationError<'static>>| {
        branch.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } => Some((**expected_value).clone()),
            _ => None,
        })
    };
    branches.iter().map(constant).collect()
}

/// A branch of a union that fails below its root is closer than one of another type.
fn branch_distance(branch: &[ValidationError<'static>]) -> (usize, usize) {
    let wrong_type = branch.iter().filter(|error| matches!(error.kind(), Kind::Type { .. })).count();
    (wrong_type, branch.len())
}

fn known_properties(error: &ValidationError<'_>, schema: &Value) -> Vec<String> {
    let properties =
        holder(error, schema).and_then(|holder| holder.get("properties")).and_then(Value::as_object);
    properties.map(|map| map.keys().take(MAX_KNOWN).cloned().collect()).unwrap_or_default()
}

/// The schema that holds the violated keyword.
fn holder<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Option<&'s Value> {
    let path = error.schema_path().to_string();
    schema.pointer(path.rsplit_once('/').map_or("", |(parent, _)| parent))
}

fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => match kind {
            TypeKind::Single(one) => one.to_string(),
            TypeKind::Multiple(set) => set.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or "),
        },
        Kind::Constant { expected_value } => quoted_value(expected_value),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("at most {limit} properties"),
        Kind::UniqueItems => "items that all differ".into(),
        Kind::Pattern { pattern } => format!("text that matches {}", quote(pattern)),
        Kind::BacktrackLimitExceeded { .. } => {
            "a shorter text: to check this one against its pattern takes too many steps".into()
        }
        Kind::FalseSchema => "no value here".into(),
        Kind::OneOfMultipleValid { .. } => SEVERAL_FORMS.into(),
        other => format!("a value that satisfies `{}`", other.keyword()),
    }
}

/// What is expected where a value fits more than one branch of a `oneOf`.
pub const SEVERAL_FORMS: &str = "a value that fits exactly one of the allowed forms";

fn one_of(words: &[Value]) -> String {
    let listed: Vec<String> = words.iter().take(12).map(quoted_value).collect();
    let more = words.len().saturating_sub(listed.len());
    let tail = if more > 0 { format!(" or {more} more") } else { String::new() };
    format!("one of {}{tail}", listed.join(", "))
}

/// A value as messages quote it; large ones by their type alone.
fn quoted_value(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::String(text) => quote(text),
        other => other.to_string(),
    }
}

fn quote(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(QUOTE).collect();
    let dots = if text.chars().nth(QUOTE).is_some() { "…" } else { "" };
    format!("\"{line}{dots}\"")
}
