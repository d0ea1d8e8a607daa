//! Replaces names of properties that a provider refuses; the same name gets the same replacement at every depth.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::Keys;
use super::loosened::{Loosened, guard};
use crate::finding::keyword::{KeywordKind, each_mut, holds};

/// The longest name that every provider takes.
const MAX: usize = 64;

/// The replacements, each with the canonical name, in the order of the schema.
pub(super) fn renamed(schema: &Value, keys: Keys) -> Vec<(String, String)> {
    if keys == Keys::Any || !any_name(schema, &mut |name| !is_portable(name)) {
        return Vec::new();
    }
    let mut all: HashSet<String> = HashSet::new();
    let mut odd: Vec<String> = Vec::new();
    any_name(schema, &mut |name| {
        if all.insert(name.to_string()) && !is_portable(name) {
            odd.push(name.to_string());
        }
        false
    });
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut rename = |name: String| {
        let plain = plain(&name);
        let mut emitted = plain.clone();
        while !all.insert(emitted.clone()) {
            let count = times.entry(plain.clone()).or_insert(1);
            *count += 1;
            let tail = format!("_{count}");
            emitted = format!("{}{tail}", &plain[..plain.len().min(MAX - tail.len())]);
        }
        (emitted, name)
    };
    odd.into_iter().map(&mut rename).collect()
}

/// Renames the properties of a schema; `names` come from [`renamed`].
pub(super) fn rename(schema: &mut Value, names: &[(String, String)], loose: &mut Loosened) {
    if names.is_empty() {
        return;
    }
    let names: HashMap<&str, &str> =
        names.iter().map(|(emitted, canonical)| (canonical.as_str(), emitted.as_str())).collect();
    rename_in(schema, &names, loose);
}

fn rename_in(schema: &mut Value, names: &HashMap<&str, &str>, loose: &mut Loosened) {
    let Some(object) = schema.as_object_mut() else { return };
    let before = loose.times();
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "dependentSchemas", Value::Object(named)) => rename_keys(named, names),
            ("dependentRequired", Value::Object(named)) => {
                rename_keys(named, names);
                named.values_mut().for_each(|list| rename_list(list, names));
            }
            ("required", list) => rename_list(list, names),
            _ => {}
        }
    }
    // These keywords hold canonical names.
    if object.shift_remove("propertyNames").is_some() {
        loose.record("`propertyNames`");
    }
    if object.shift_remove("patternProperties").is_some() {
        object.shift_remove("additionalProperties");
        loose.record("`patternProperties`");
    }
    each_mut(object, &mut |child| rename_in(child, names, loose));
    if loose.times() > before {
        guard(object, loose);
    }
}

fn rename_keys(named: &mut Map<String, Value>, names: &HashMap<&str, &str>) {
    if !named.keys().any(|name| names.contains_key(name.as_str())) {
        return;
    }
    let seen = |name: String| names.get(name.as_str()).map_or(name.clone(), |emitted| emitted.to_string());
    *named = std::mem::take(named).into_iter().map(|(name, value)| (seen(name), value)).collect();
}

fn rename_list(list: &mut Value, names: &HashMap<&str, &str>) {
    for name in list.as_array_mut().into_iter().flatten() {
        if let Some(emitted) = name.as_str().and_then(|name| names.get(name)) {
            *name = Value::from(*emitted);
        }
    }
}

fn is_portable(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Plain characters as they are, others as one `_` between them.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let words: Vec<&str> = name.split(|c| !is_plain(c)).filter(|word| !word.is_empty()).collect();
    let mut plain = words.join("_");
    plain.truncate(MAX);
    if plain.is_empty() { "_".into() } else { plain }
}

/// Whether any name of a property satisfies `test`, in a schema of any draft. A schema below an unknown keyword
/// counts, since it may be referred to.
fn any_name(schema: &Value, test: &mut dyn FnMut(&str) -> bool) -> bool {
    let Some(object) = schema.as_object() else { return false };
    object.iter().any(|(key, value)| match (key.as_str(), value) {
        ("properties" | "dependentSchemas" | "dependencies", Value::Object(named)) => {
            named.iter().any(|(name, child)| test(name) || any_name(child, test))
        }
        ("dependentRequired", Value::Object(named)) => {
            named.iter().any(|(name, list)| test(name) || any_of_list(list, test))
        }
        ("required", list) => any_of_list(list, test),
        (key, Value::Object(named)) if holds(key) == KeywordKind::Named || key == "definitions" => {
            named.values().any(|child| any_name(child, test))
        }
        (key, value) => match (holds(key), value) {
            (KeywordKind::Any | KeywordKind::Values, _) => false,
            (_, Value::Array(list)) => list.iter().any(|child| any_name(child, test)),
            (_, value) => any_name(value, test),
        },
    })
}

fn any_of_list(list: &Value, test: &mut dyn FnMut(&str) -> bool) -> bool {
    list.as_array().is_some_and(|names| names.iter().filter_map(Value::as_str).any(test))
}
