//! Misspelled names of arguments and words of enums. A name is corrected only if there is one name that it can mean.

use serde_json::{Map, Value};

use super::coerce::{Coerced, Coercion, Reading};
use super::field_error::MAX_EXPLAINED;
use super::properties::has_all;
use super::read::ArgumentReader;
use super::repair::{Repair, RepairKind};
use crate::tool::Tool;
use toolcrib_definition::document::{pointer_join, pointer_split};
use toolcrib_definition::finding::{SlipPolicy, Violation, normalized};
use toolcrib_definition::{Effect, clean_line, words};

/// Rounds of coercion after the first: a value is validated only under its right name, which can reveal names below it.
const MAX_NAME_ROUNDS: usize = 3;
/// Most unknown names that are read as known ones: more of them are not misspellings.
const MAX_UNKNOWN: usize = 200;
/// Bytes of a name or a word that may be spelled otherwise: longer text is not a name.
pub(super) const MAX_NAME: usize = 200;

/// The misspellings that are corrected in addition to case and separators; `None` for a destructive tool, which is never guessed.
fn tolerated_slips(tool: &Tool) -> Option<SlipPolicy> {
    (tool.rules.effect != Effect::Destructive).then_some(SlipPolicy::ARGUMENT)
}

/// Arguments with names and enum values coerced, and each change in words. `None` where nothing was changed.
pub(super) fn coerce_names(tool: &Tool, given: &Value) -> Option<(Value, Vec<String>)> {
    let (mut value, mut notes) = coerce_round(tool, given, &tool.input.parameters.violations(given))?;
    for _ in 0..MAX_NAME_ROUNDS {
        let wrong = tool.input.parameters.violations(&value);
        let Some((better, more)) = coerce_round(tool, &value, &wrong) else { break };
        value = better;
        notes.extend(more);
    }
    Some((value, notes))
}

/// A reading with misspelled names and words of enums corrected, where it fits then.
pub fn respelled(tool: &Tool, reader: &mut ArgumentReader, read: Coerced) -> Coerced {
    let respelled = |read: &Reading| {
        let slip = Repair { pointer: String::new(), repair: RepairKind::Respelled };
        read.repaired.iter().cloned().chain([slip]).collect::<Vec<_>>()
    };
    match read {
        Ok(read) if read.value.as_object().is_none_or(|fields| has_all(tool, fields)) => Ok(read),
        Ok(read) => {
            let value = coerce_accepted_names(tool, read.value.clone(), &mut Vec::new());
            let repaired = if value == read.value { read.repaired } else { respelled(&read) };
            Ok(Reading { value, repaired })
        }
        Err((read, wrong)) => {
            let coercion = Coercion { tool, reader, to_canonical: &|value| value, requires_nulls: false };
            let coerced = coerce_names(tool, &read.value);
            let fit = coerced.and_then(|(value, _)| coercion.check(value, respelled(&read)).ok());
            fit.ok_or((read, wrong))
        }
    }
}

/// Arguments of an open schema, which accepts any names. A name that can mean only one known name becomes that; `notes` gets
/// the others.
pub(super) fn coerce_accepted_names(tool: &Tool, arguments: Value, notes: &mut Vec<String>) -> Value {
    let root = tool.input.parameters.root();
    if !root.lists_all() {
        return arguments;
    }
    let is_respelled = |name: &String| root.names().any(|meant| meant != name && is_same(name, meant));
    let unknown = arguments.as_object().into_iter().flat_map(Map::keys);
    let unknown: Vec<&String> = unknown.filter(|name| !root.has_property(name)).collect();
    let is_misnamed = unknown.len() <= MAX_UNKNOWN && unknown.iter().any(|name| is_respelled(name));
    let mut settled = arguments;
    if is_misnamed
        && let Some((coerced, changes)) = coerce_round(tool, &settled, &[])
        && tool.input.parameters.accepts(&coerced)
    {
        notes.extend(changes);
        settled = coerced;
    }
    let unknown = settled.as_object().into_iter().flat_map(Map::keys);
    let mut unknown = unknown.filter(|name| !root.has_property(name));
    for name in unknown.by_ref().take(MAX_EXPLAINED) {
        let name = clean_line(&name.chars().take(MAX_NAME).collect::<String>());
        notes.push(format!("`{name}` is no argument of `{}`; it is passed on as it is", tool.names.op));
    }
    let more = unknown.count();
    if more > 0 {
        let op = &tool.names.op;
        notes.push(format!("{more} more names are no arguments of `{op}`; they are passed on as they are"));
    }
    settled
}

/// Whether a name is that of a property, tolerated misspellings included.
pub(super) fn is_property_name(tool: &Tool, name: &str) -> bool {
    let root = tool.input.parameters.root();
    let is_respelled = || root.names().any(|known| is_same(known, name));
    root.has_property(name) || (tolerated_slips(tool).is_some() && is_respelled())
}

fn coerce_round(tool: &Tool, given: &Value, wrong: &[Violation]) -> Option<(Value, Vec<String>)> {
    let mut value = given.clone();
    let mut notes = Vec::new();
    let root = tool.input.parameters.root();
    if let Some(fields) = value.as_object_mut()
        && root.lists_all()
    {
        let known: Vec<&str> = root.names().collect();
        rename(fields, &known, tolerated_slips(tool), "", &mut notes);
    }
    for violation in wrong {
        let (parent, _) = pointer_split(&violation.pointer).unwrap_or_default();
        if violation.unknown && !parent.is_empty() {
            if let Some(Value::Object(fields)) = value.pointer_mut(parent) {
                let known: Vec<&str> = violation.known.iter().map(String::as_str).collect();
                rename(fields, &known, None, parent, &mut notes);
            }
        } else if let Some(Value::String(word)) = value.pointer_mut(&violation.pointer)
            && let Some(meant) = meant_word(&violation.known, word)
            && meant != word
        {
            notes.push(format!("{}: `{}` was read as `{meant}`", violation.pointer, clean_line(word)));
            *word = meant.into();
        }
    }
    (!notes.is_empty()).then_some((value, notes))
}

/// Renames each unknown property to the one free name that it can mean.
fn rename(
    fields: &mut Map<String, Value>,
    known: &[&str],
    slips: Option<SlipPolicy>,
    at: &str,
    notes: &mut Vec<String>,
) {
    let unknown = fields.keys().filter(|name| !known.contains(&name.as_str()));
    let unknown: Vec<String> = unknown.take(MAX_UNKNOWN + 1).cloned().collect();
    if unknown.len() > MAX_UNKNOWN {
        return;
    }
    for name in &unknown {
        let free = || known.iter().copied().filter(|known| !fields.contains_key(*known));
        let is_slip = |known: &&str| {
            !is_another(name, known)
                && slips.is_some_and(|slips| slips.is_slip(&normalized(name), &normalized(known)))
        };
        let meant =
            only(free().filter(|known| is_same(known, name))).or_else(|| only(free().filter(is_slip)));
        let Some(meant) = meant else { continue };
        // Of two properties with the same meaning neither is renamed.
        if unknown.iter().filter(|other| is_same(other, name)).count() > 1 {
            continue;
        }
        let pointer = pointer_join(at, name);
        let meant = meant.to_string();
        if let Some(value) = fields.shift_remove(name) {
            notes.push(format!("`{}` was read as `{meant}`", clean_line(pointer.trim_start_matches('/'))));
            fields.insert(meant, value);
        }
    }
}

/// Beginnings that turn a word into its opposite.
const OPPOSITE: [&str; 8] = ["un", "dis", "non", "in", "im", "de", "re", "not"];

/// Whether two names that look alike differ in a number, or in a word that means something else: `min_price` is no slip for
/// `max_price`, nor `archived` for `unarchived`.
fn is_another(name: &str, known: &str) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let others = words(known);
    let words = words(name);
    let lacking = |words: &[String], others: &[String]| {
        words.iter().filter(|word| !others.contains(word)).cloned().collect::<Vec<String>>()
    };
    let pairs = lacking(&words, &others).into_iter().zip(lacking(&others, &words));
    let is_opposite = |word: &str, other: &str| {
        OPPOSITE.iter().any(|begin| word.strip_prefix(begin) == Some(other))
            || word.strip_suffix("ee").is_some_and(|stem| other == format!("{stem}er"))
            || (word == "minimum" && other == "maximum")
    };
    let differ = |(word, other): (String, String)| {
        let is_beginning = word.starts_with(&*other) || other.starts_with(&*word);
        let is_bound = |word: &str| matches!(word, "lt" | "gt");
        (word.len() <= 3 && other.len() <= 3 && (!is_beginning || is_bound(&word) || is_bound(&other)))
            || word.chars().next() != other.chars().next()
            || is_opposite(&word, &other)
            || is_opposite(&other, &word)
    };
    digits(name) != digits(known) || pairs.into_iter().any(differ)
}

/// The one known word that differs from this one in case and separators alone.
pub(super) fn meant_word<'k>(known: &'k [String], word: &str) -> Option<&'k str> {
    only(known.iter().map(String::as_str).filter(|known| is_same(known, word)))
}

fn is_same(one: &str, other: &str) -> bool {
    one == other || (one.len().max(other.len()) <= MAX_NAME && normalized(one) == normalized(other))
}

/// The only item; `None` if there are several.
pub(super) fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
