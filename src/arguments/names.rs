//! The properties of a schema, and the names of arguments that are spelled otherwise or stand one level too deep.

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::finding::{SlipPolicy, Violation, normalized, pointer_join, pointer_split};
use crate::tool::{Effect, clean_line};

/// Rounds of coercion after the first: a value is validated only under its right name, which can reveal names below it.
const MAX_ROUNDS: usize = 3;

/// The misspellings that are corrected beside case and separators; `None` for a destructive tool, which is never guessed.
fn tolerated_slips(tool: &Tool) -> Option<SlipPolicy> {
    (tool.effect != Effect::Destructive).then_some(SlipPolicy::ARGUMENT)
}

/// Arguments with names and enum values coerced, and each change in words. `None` where nothing was changed.
pub(super) fn coerce_names(tool: &Tool, given: &Value) -> Option<(Value, Vec<String>)> {
    let (mut value, mut notes) = coerce_round(tool, given, &tool.parameters.violations(given))?;
    for _ in 0..MAX_ROUNDS {
        let wrong = tool.parameters.violations(&value);
        let Some((better, more)) = coerce_round(tool, &value, &wrong) else { break };
        value = better;
        notes.extend(more);
    }
    Some((value, notes))
}

/// Arguments of an open schema, which accepts any names. A name that can mean only one known name becomes that; `notes` gets
/// the others.
pub(super) fn coerce_accepted_names(tool: &Tool, arguments: Value, notes: &mut Vec<String>) -> Value {
    let Some(known) = closed_properties(tool) else { return arguments };
    let is_respelled = |name: &String| known.keys().any(|meant| meant != name && is_same(name, meant));
    let is_misnamed = arguments.as_object().is_some_and(|fields| fields.keys().any(is_respelled));
    let mut settled = arguments;
    if is_misnamed
        && let Some((coerced, changes)) = coerce_round(tool, &settled, &[])
        && tool.parameters.accepts(&coerced)
    {
        notes.extend(changes);
        settled = coerced;
    }
    for name in settled.as_object().into_iter().flat_map(Map::keys).filter(|name| !known.contains_key(*name))
    {
        notes.push(format!(
            "`{}` is no argument of `{}`; it is passed on as it is",
            clean_line(name),
            tool.op
        ));
    }
    settled
}

/// Whether a name is that of a property, tolerated misspellings included.
pub(super) fn is_property_name(tool: &Tool, name: &str) -> bool {
    let Some(known) = properties(tool) else { return false };
    let is_respelled = || known.keys().any(|known| is_same(known, name));
    known.contains_key(name) || (tolerated_slips(tool).is_some() && is_respelled())
}

fn coerce_round(tool: &Tool, given: &Value, wrong: &[Violation]) -> Option<(Value, Vec<String>)> {
    let mut value = given.clone();
    let mut notes = Vec::new();
    if let (Some(fields), Some(known)) = (value.as_object_mut(), closed_properties(tool)) {
        let known: Vec<&str> = known.keys().map(String::as_str).collect();
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
    let unknown: Vec<String> =
        fields.keys().filter(|name| !known.contains(&name.as_str())).cloned().collect();
    for name in &unknown {
        let free = || known.iter().copied().filter(|known| !fields.contains_key(*known));
        let is_slip =
            |known: &&str| slips.is_some_and(|slips| slips.is_slip(&normalized(name), &normalized(known)));
        let meant =
            only(free().filter(|known| is_same(known, name))).or_else(|| only(free().filter(is_slip)));
        let Some(meant) = meant else { continue };
        // Of two properties with the same meaning neither is renamed.
        let is_twice = unknown.iter().filter(|other| is_same(other, name)).count() > 1;
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

/// The one known word that differs from this one in case and separators alone.
pub(super) fn meant_word<'k>(known: &'k [String], word: &str) -> Option<&'k str> {
    only(known.iter().map(String::as_str).filter(|known| is_same(known, word)))
}

fn is_same(one: &str, other: &str) -> bool {
    normalized(one) == normalized(other)
}

/// The only item; `None` if there are several.
pub(super) fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Keys below which models put the arguments by mistake, most frequent first.
pub(crate) const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];

/// The properties that a schema lists.
pub(super) fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    tool.parameters.schema().get("properties")?.as_object()
}

/// The schema of one property.
pub(super) fn property<'t>(tool: &'t Tool, name: &str) -> Option<&'t Value> {
    properties(tool)?.get(name)
}

/// Whether a schema lists a property.
pub(crate) fn has_property(tool: &Tool, name: &str) -> bool {
    property(tool, name).is_some()
}

/// Whether a schema lists every given property.
pub(super) fn has_all(tool: &Tool, fields: &Map<String, Value>) -> bool {
    let known = properties(tool);
    fields.keys().all(|name| known.is_some_and(|known| known.contains_key(name)))
}

/// The properties that a schema lists, unless it allows others.
pub(super) fn closed_properties(tool: &Tool) -> Option<&Map<String, Value>> {
    let schema = tool.parameters.schema();
    let takes_any = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    properties(tool).filter(|_| !takes_any)
}

/// The single key that wraps the arguments, and the value below it: a usual wrapper or a name of the tool, but no property.
pub(super) fn wrapped<'v>(tool: &Tool, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let fields = arguments.as_object().filter(|fields| fields.len() == 1)?;
    let (key, inside) = fields.iter().next()?;
    let is_wrapper =
        WRAPPERS.contains(&key.as_str()) || [&tool.name, &tool.safe_name, &tool.op].contains(&key);
    (is_wrapper && !has_property(tool, key)).then_some((key, inside))
}
