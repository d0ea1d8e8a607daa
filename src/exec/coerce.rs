//! Names that were nearly right: properties and values that can only mean one thing are read as that.

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::finding::{Violation, pointer_join};
use crate::tool::{Effect, clean_line};

/// A name without what models vary: case and separators.
pub(super) fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How the names of properties may differ from those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameTolerance {
    /// In case and separators.
    Case,
    /// Also by a slip or two.
    Typos,
}

impl NameTolerance {
    /// As much as the effect of a tool allows: nothing is deleted on a guess.
    pub(super) fn of(tool: &Tool) -> Self {
        if tool.effect == Effect::Destructive { NameTolerance::Case } else { NameTolerance::Typos }
    }
}

/// Arguments whose names were put right, and what was done, in words. None where nothing was.
pub(super) fn coerce_round(tool: &Tool, given: &Value, wrong: &[Violation]) -> Option<(Value, Vec<String>)> {
    let mut value = given.clone();
    let mut notes = Vec::new();
    let slack = NameTolerance::of(tool);
    if let (Some(fields), Some(known)) = (value.as_object_mut(), properties(tool)) {
        rename(fields, &known.keys().map(String::as_str).collect::<Vec<_>>(), slack, "", &mut notes);
    }
    for violation in wrong {
        let known: Vec<&str> = violation.known.iter().map(String::as_str).collect();
        let (parent, _) = violation.pointer.rsplit_once('/').unwrap_or_default();
        if violation.unknown && !parent.is_empty() {
            if let Some(Value::Object(fields)) = value.pointer_mut(parent) {
                rename(fields, &known, NameTolerance::Case, parent, &mut notes);
            }
        } else if let Some(Value::String(word)) = value.pointer_mut(&violation.pointer) {
            let like = only(known.iter().copied().filter(|known| normalized(known) == normalized(word)));
            if let Some(meant) = like.filter(|meant| *meant != word.as_str()) {
                notes.push(format!("{}: `{}` was read as `{meant}`", violation.pointer, clean_line(word)));
                *word = meant.to_string();
            }
        }
    }
    (!notes.is_empty()).then_some((value, notes))
}

/// The properties of a tool whose schema says which there are, unless it says that there may be others.
pub(super) fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    let schema = tool.parameters.schema();
    let takes_any = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    schema.get("properties").filter(|_| !takes_any)?.as_object()
}

/// Gives properties that are not known the one name that they can mean, and that is not taken.
fn rename(
    fields: &mut Map<String, Value>,
    known: &[&str],
    slack: NameTolerance,
    at: &str,
    notes: &mut Vec<String>,
) {
    let unknown: Vec<String> =
        fields.keys().filter(|name| !known.contains(&name.as_str())).cloned().collect();
    for name in &unknown {
        let free = || known.iter().copied().filter(|known| !fields.contains_key(*known));
        let meant = match only(free().filter(|known| normalized(known) == normalized(name))) {
            Some(meant) => Some(meant),
            None if slack == NameTolerance::Typos => only(free().filter(|known| is_slip(name, known))),
            None => None,
        };
        let Some(meant) = meant else { continue };
        // Two that mean the same leave open which is right.
        let is_twice = unknown.iter().filter(|other| normalized(other) == normalized(name)).count() > 1;
        if is_twice {
            continue;
        }
        let (pointer, meant) = (pointer_join(at, name), meant.to_string());
        if let Some(value) = fields.shift_remove(name) {
            notes.push(format!("`{}` was read as `{meant}`", clean_line(pointer.trim_start_matches('/'))));
            fields.insert(meant, value);
        }
    }
}

/// Whether a name differs from another by a slip or two.
pub(super) fn is_slip(name: &str, known: &str) -> bool {
    let (name, known) = (normalized(name), normalized(known));
    let allowed = match known.chars().count() {
        0..4 => return false,
        4..8 => 1,
        _ => 2,
    };
    name.len() <= 200 && strsim::damerau_levenshtein(&name, &known) <= allowed
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
