//! Violations of a JSON Schema, in words that a person or a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use strsim::damerau_levenshtein;

use super::pointer_join;

/// The most violations reported for one value.
const LIMIT: usize = 50;
/// The most given names that are compared with known ones: more of them are not misspellings.
const MAX_UNKNOWN: usize = 200;
/// The most properties and values that a violation lists.
const MAX_KNOWN: usize = 1_000;
/// The longest quotation of a value.
const QUOTE: usize = 60;

/// One way in which a value does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        Self {
            pointer,
            message,
            unknown: false,
            nearest: None,
            expected: None,
            known: Vec::new(),
            knows_others: false,
            quoted: None,
        }
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
            let is_misspelled = unexpected.len() <= MAX_UNKNOWN;
            for name in unexpected.iter().take(LIMIT.saturating_sub(found.len())) {
                let near = known.iter().map(String::as_str).filter(|_| is_misspelled);
                let near = nearest(name, near).first().map(ToString::to_string);
                found.push(Violation {
                    unknown: true,
                    nearest: near,
                    known: known.clone(),
                    ..Violation::new(
                        pointer_join(&pointer, name),
                        format!("unknown property {}", quote(name)),
                    )
                });
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
            let closest = context
                .iter()
                .filter(|branch| !branch.is_empty())
                .min_by_key(|branch| branch_distance(branch));
            match closest {
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

// Near names: the policy by which one name is read as another, or suggested in its place. An edit is a letter too many, too
// few, wrong, or swapped with the next (Damerau-Levenshtein).

/// Bytes of the longest name: comparing longer texts would cost time and memory without end.
const LONGEST: usize = 200;

/// Likeness, from 0 to 1, below which a name is not suggested: the two have nothing to do with each other.
const LEAST: f64 = 0.6;

/// The lengths, in characters, from which a name may be off by one edit and by two, and still be read as the known one.
/// Shorter names are as likely to be other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlipPolicy {
    /// The least length for one edit.
    pub one_edit: usize,
    /// The least length for two edits.
    pub two_edits: usize,
}

impl SlipPolicy {
    /// An argument of a call, or a field beside it.
    pub const ARGUMENT: Self = Self { one_edit: 4, two_edits: 8 };
    /// A field of a definition in a file.
    pub const DEFINITION_FIELD: Self = Self { one_edit: 5, two_edits: 6 };
    /// A word of a query: no schema checks its reading, so two edits take a longer word.
    pub const QUERY_WORD: Self = Self { one_edit: 5, two_edits: 9 };

    /// The most edits that a name of this length may be off by.
    pub fn max_edits(self, length: usize) -> usize {
        usize::from(length >= self.one_edit) + usize::from(length >= self.two_edits)
    }

    /// Whether a name is a slip for a known one.
    pub fn is_slip(self, name: &str, known: &str) -> bool {
        let edits = self.max_edits(known.chars().count());
        edits > 0 && name.len() <= LONGEST && damerau_levenshtein(name, known) <= edits
    }
}

/// Whether a normalized name may stand for a known one in a call that is only offered: also short names, off by one edit,
/// when they begin alike.
pub fn is_plausible(name: &str, known: &str) -> bool {
    let begins_alike = known.len() >= 2 && name.chars().next() == known.chars().next();
    name == known
        || SlipPolicy::ARGUMENT.is_slip(name, known)
        || (begins_alike && name.len() <= LONGEST && damerau_levenshtein(name, known) <= 1)
}

/// A name without the differences of spelling between models: letter case and separators.
pub fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The known names most like `name`, best first, at most three; empty when nothing is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let letters = Letters::of(&name);
    // Edit distance relative to the longer name; a name that contains the other counts as close.
    let likeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let a = name.as_str();
        let b = candidate.as_str();
        let holds = a.len() >= 4 && b.len() >= 4 && (a.contains(b) || b.contains(a));
        // The distance is costly, and the letters alone rule out nearly every name of a large catalog.
        if !holds && letters.likeness(&Letters::of(b)) < LEAST {
            return None;
        }
        let edits = strsim::normalized_damerau_levenshtein(a, b);
        Some(if holds { edits.max(0.7) } else { edits }).filter(|likeness| *likeness >= LEAST)
    };
    let known = known.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let mut scored: Vec<(f64, &str)> =
        known.filter_map(|candidate| Some((likeness(candidate)?, candidate))).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Number of occurrences of each letter in a name, in 64 classes.
struct Letters {
    counts: [u8; 64],
    length: usize,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut letters = Self { counts: [0; 64], length: 0 };
        for c in name.chars() {
            letters.length += 1;
            let count = &mut letters.counts[c as usize % 64];
            *count = count.saturating_add(1);
        }
        letters
    }

    /// Upper bound of the similarity by edits: each letter that only one of them has takes an edit.
    fn likeness(&self, other: &Self) -> f64 {
        let shared: usize = self.counts.iter().zip(&other.counts).map(|(a, b)| usize::from(*a.min(b))).sum();
        let longest = self.length.max(other.length);
        if longest == 0 { 1.0 } else { shared as f64 / longest as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let known = ["create_issue", "list_issues", "search_code"];
        assert_eq!(nearest("craete_issue", known), ["create_issue"]);
        assert_eq!(nearest("issues", known), ["list_issues"]);
        assert!(nearest("weather", known).is_empty());
    }

    #[test]
    fn telling_names_apart_by_their_letters_loses_none() {
        let names =
            ["create_issue", "issue_create", "list_pull_requests", "täsk.löschen", "get", "a", "ab", ""];
        let others =
            ["craete_issue", "issues", "list_pull_request", "task.loschen", "gte", "b", "ba", "list_issues"];
        for name in names {
            for other in others {
                let edits = strsim::normalized_damerau_levenshtein(name, other);
                let letters = super::Letters::of(name).likeness(&super::Letters::of(other));
                assert!(letters >= edits - 1e-9, "{name} and {other}: {letters} is less than {edits}");
            }
        }
    }
}
