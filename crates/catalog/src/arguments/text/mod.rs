//! Arguments that are text, as models write them: the only place that reads them, for calls of responses and of the gateway.
//!
//! A text is JSON, maybe encoded several times; else it holds objects, each of which is a call if no other part of the text can
//! be JSON. Each change is a repair, and a text without a certain meaning is refused.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::coerce::Reading;
use super::read::ArgumentReader;
use super::repair::{Repair, RepairKind};
use super::rewrite::value_at;
use crate::tool::Tool;
use toolcrib_definition::Effect;

/// Reason why a text has no certain arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("are cut off after {0} characters; send the whole call again")]
    Cut(usize),
    #[error(
        "are several JSON objects, or an object among other text; call the tool once for each object, with this object and \
         nothing else"
    )]
    Unclear,
    /// With the error of the reader.
    #[error("are not one JSON object: {0}; send one JSON object, and nothing else")]
    NotJson(String),
}

/// The arguments in a text: those of one call, or of several calls that a model wrote into one text.
pub fn arguments_in_text(
    tool: &Tool,
    text: &str,
    reader: &mut ArgumentReader,
) -> Result<Vec<Reading>, Unreadable> {
    let mut repaired = Vec::new();
    let error = match reader.encoded_arguments(text, &mut repaired) {
        Ok(value) => return Ok(vec![Reading { value, repaired }]),
        Err(error) => error,
    };
    let inner = reader.innermost(text);
    let Some(parts) = Parts::of(&inner) else { return Err(unreadable(&error, &inner)) };
    let Some((calls, dropped)) = parts.calls(reader) else { return Err(unreadable(&error, &inner)) };
    let is_clear = if tool.rules.effect == Effect::Destructive {
        let takes_none = || !tool.input.parameters.is_checked() || tool.input.parameters.accepts(&json!({}));
        calls.len() == 1 && !parts.has_words && (dropped == 0 || !takes_none())
    } else {
        calls.len() == 1 || !parts.is_divided
    };
    if !is_clear {
        return Err(Unreadable::Unclear);
    }
    let is_one = parts.objects.len() == 1 && !parts.has_words;
    let kinds = [
        (parts.is_rewritten, RepairKind::Rewritten),
        (calls.len() > 1, RepairKind::Split),
        (calls.len() == 1 && !is_one, RepairKind::Extracted),
    ];
    let kinds = kinds.into_iter().filter_map(|(is_made, repair)| is_made.then_some(repair));
    repaired.extend(kinds.map(|repair| Repair { pointer: String::new(), repair }));
    Ok(calls.into_iter().map(|value| Reading { value, repaired: repaired.clone() }).collect())
}

/// The object or list in a text that is not for one tool; anything else is no guess.
pub fn value_in_text(text: &str) -> Result<Value, Unreadable> {
    let mut reader = ArgumentReader::default();
    let error = match reader.encoded_arguments(text, &mut Vec::new()) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let inner = reader.innermost(text);
    let only = Parts::of(&inner).filter(|parts| parts.objects.len() == 1 && !parts.has_words);
    let value = only.and_then(|parts| parts.calls(&mut reader)?.0.pop());
    value.ok_or_else(|| unreadable(&error, &inner))
}

impl ArgumentReader {
    /// The object at the beginning of a text, and the rest of the text.
    pub fn object_at<'t>(&mut self, text: &'t str) -> Option<(Value, &'t str)> {
        let (json, rest) = value_at(text)?;
        Some((self.encoded(&json).ok()?, rest))
    }
}

fn unreadable(error: &serde_json::Error, text: &str) -> Unreadable {
    // An object that goes on to the end is cut, whatever stands before it.
    let is_begun = text.trim_start().starts_with(['{', '[', '"']);
    if error.is_eof() && is_begun {
        Unreadable::Cut(text.chars().count())
    } else {
        Unreadable::NotJson(error.to_string())
    }
}

/// A text in parts.
struct Parts<'t> {
    /// Its objects, as JSON; at least one.
    objects: Vec<Cow<'t, str>>,
    /// Whether an object was not quite JSON.
    is_rewritten: bool,
    /// Whether there is anything else but the fence of a code block.
    has_words: bool,
    /// Whether there is anything else between two objects.
    is_divided: bool,
}

impl<'t> Parts<'t> {
    /// `None`: the text has no object, or has other JSON, cut short or misplaced.
    fn of(text: &'t str) -> Option<Self> {
        let mut parts =
            Self { objects: Vec::new(), is_rewritten: false, has_words: false, is_divided: false };
        let mut rest = text;
        loop {
            let (between, object) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            let has_words = !matches!(between.trim(), "" | "," | ";" | "```" | "```json" | "```python");
            if has_words && (may_be_json(between) || (!object.is_empty() && between.contains('['))) {
                return None;
            }
            parts.has_words |= has_words;
            if object.is_empty() {
                return (!parts.objects.is_empty()).then_some(parts);
            }
            parts.is_divided |= has_words && !parts.objects.is_empty();
            let (json, after) = value_at(object)?;
            parts.is_rewritten |= matches!(json, Cow::Owned(_));
            parts.objects.push(json);
            rest = after;
        }
    }

    /// The different objects, in order, and the number of those that were left out because they are empty. An empty object
    /// before or after another is no call, since some providers begin every text with it.
    fn calls(&self, reader: &mut ArgumentReader) -> Option<(Vec<Value>, usize)> {
        let is_empty = |text: &str| text[1..].trim_start().starts_with('}');
        let dropped = self.objects.iter().filter(|text| is_empty(text)).count() % self.objects.len();
        let mut calls = Vec::new();
        let mut seen = HashSet::new();
        for object in self.objects.iter().filter(|text| dropped == 0 || !is_empty(text)) {
            let value = reader.encoded(object).ok()?;
            let mut sorted = value.clone();
            sorted.sort_all_objects();
            if seen.insert(reader.written(&sorted)) {
                calls.push(value);
            }
        }
        Some((calls, dropped))
    }
}

/// Whether a text between objects may be JSON, or a piece of an object. With a bracket too many, the end of the object is
/// not certain.
fn may_be_json(text: &str) -> bool {
    let text = text.trim();
    let is_name = |after: &str| after.trim_start().starts_with(':');
    text.starts_with(['}', '[', ']', '"', ',', ':'])
        || text.ends_with(['}', ']'])
        || text.split('"').skip(1).any(is_name)
        || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests;
