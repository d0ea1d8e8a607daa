//! Intersects two schemas. If the intersection cannot be expressed, the first schema is kept, so that no value that both
//! accept is refused.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::loosened::Loosened;
use toolcrib_definition::schema::walk::is_annotation;

/// Adds the constraints of another schema.
pub(super) fn merge(into: &mut Map<String, Value>, other: Map<String, Value>, loose: &mut Loosened) {
    if into.keys().all(|key| is_annotation(key)) {
        // The first schema only describes, so the second one gets its descriptions.
        let said = std::mem::replace(into, other);
        into.extend(said);
        return;
    }
    if !is_exact(into, &other) {
        loose.count();
    }
    for group in [&["if", "then", "else"][..], &["contains", "minContains", "maxContains"]] {
        if group.iter().any(|key| into.contains_key(*key)) && group.iter().any(|key| other.contains_key(*key))
        {
            return merge(into, without(other, group), loose);
        }
    }
    let items = items_of_both(into, &other, loose);
    for (key, theirs) in other {
        if key == "items" && items.is_some() {
            continue;
        }
        match into.get_mut(&key) {
            None => {
                into.insert(key, theirs);
            }
            Some(ours) if *ours == theirs => {}
            Some(ours) => both(&key, ours, theirs, loose),
        }
    }
    if let Some(items) = items {
        into.insert("items".into(), items);
    }
    // Which properties and items are unevaluated depends on the schema that had the keyword.
    for key in ["unevaluatedProperties", "unevaluatedItems"] {
        if into.shift_remove(key).is_some() {
            loose.record(format!("`{key}`"));
        }
    }
}

/// Whether the keywords can simply be combined without loss.
fn is_exact(ours: &Map<String, Value>, theirs: &Map<String, Value>) -> bool {
    let depends_on_others = ["additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems"];
    let lone = |one: &Map<String, Value>| !depends_on_others.iter().any(|key| one.contains_key(*key));
    lone(ours) && lone(theirs) && !theirs.keys().any(|key| ours.contains_key(key))
}

fn without(mut object: Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    object.retain(|key, _| !keys.contains(&key.as_str()));
    object
}

/// The schema of all items beyond `prefixItems`, whose lengths may differ.
fn items_of_both(
    into: &Map<String, Value>,
    other: &Map<String, Value>,
    loose: &mut Loosened,
) -> Option<Value> {
    if !into.contains_key("prefixItems") && !other.contains_key("prefixItems") {
        return None;
    }
    match (into.get("items"), other.get("items")) {
        (Some(ours), Some(theirs)) => Some(schemas(ours.clone(), theirs.clone(), loose)),
        (Some(only), None) | (None, Some(only)) => Some(only.clone()),
        (None, None) => None,
    }
}

/// Intersects two values of one keyword.
fn both(key: &str, ours: &mut Value, theirs: Value, loose: &mut Loosened) {
    match (key, &mut *ours, theirs) {
        ("type", ours, theirs) => {
            if let Some(common) = common_types(ours, &theirs) {
                *ours = common;
            }
        }
        (
            "properties" | "patternProperties" | "dependentSchemas",
            Value::Object(ours),
            Value::Object(theirs),
        ) => {
            for (name, theirs) in theirs {
                let merged = match ours.get_mut(&name) {
                    Some(ours) => schemas(ours.take(), theirs, loose),
                    None => theirs,
                };
                ours.insert(name, merged);
            }
        }
        ("prefixItems", Value::Array(ours), Value::Array(theirs)) => {
            for (index, theirs) in theirs.into_iter().enumerate() {
                match ours.get_mut(index) {
                    Some(place) => *place = schemas(place.take(), theirs, loose),
                    None => ours.push(theirs),
                }
            }
        }
        ("items" | "additionalProperties" | "propertyNames", ours, theirs) => {
            *ours = schemas(ours.take(), theirs, loose);
        }
        ("required", Value::Array(ours), Value::Array(theirs)) => add_names(ours, theirs),
        ("dependentRequired", Value::Object(ours), Value::Object(theirs)) => {
            for (name, theirs) in theirs {
                match (ours.get_mut(&name), theirs) {
                    (Some(Value::Array(ours)), Value::Array(theirs)) => add_names(ours, theirs),
                    (_, theirs) => {
                        ours.insert(name, theirs);
                    }
                }
            }
        }
        ("enum", Value::Array(ours), Value::Array(theirs)) => {
            let listed: HashSet<String> = theirs.iter().map(Value::to_string).collect();
            let common: Vec<Value> =
                ours.iter().filter(|value| listed.contains(&value.to_string())).cloned().collect();
            // 1 and 1.0 are the same value, written differently: better accept too much than too little.
            let exact = |values: &[Value]| !values.iter().any(|value| value.is_f64() || !is_plain(value));
            if !common.is_empty() && exact(ours) && exact(&theirs) {
                *ours = common;
            }
        }
        ("allOf", Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", ours, theirs) => {
            tighter(ours, theirs, f64::gt);
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", ours, theirs) => {
            tighter(ours, theirs, f64::lt);
        }
        ("uniqueItems", ours, Value::Bool(true)) => *ours = Value::Bool(true),
        (key, _, _) if is_annotation(key) => {}
        (key, _, _) => loose.record(format!("a second `{key}` for the same value")),
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn tighter(ours: &mut Value, theirs: Value, is_tighter: fn(&f64, &f64) -> bool) {
    if let (Some(our), Some(their)) = (ours.as_f64(), theirs.as_f64())
        && is_tighter(&their, &our)
    {
        *ours = theirs;
    }
}

fn add_names(ours: &mut Vec<Value>, theirs: Vec<Value>) {
    let known: HashSet<String> = ours.iter().filter_map(Value::as_str).map(str::to_string).collect();
    ours.extend(theirs.into_iter().filter(|name| name.as_str().is_some_and(|name| !known.contains(name))));
}

/// Intersection of two schemas.
fn schemas(ours: Value, theirs: Value, loose: &mut Loosened) -> Value {
    match (ours, theirs) {
        (Value::Object(mut ours), Value::Object(theirs)) => {
            merge(&mut ours, theirs, loose);
            Value::Object(ours)
        }
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (Value::Bool(true), one) | (one, _) => one,
    }
}

/// The types that both allow; an integer is also a number. `None` without a common type.
fn common_types(ours: &Value, theirs: &Value) -> Option<Value> {
    let words = |value: &Value| -> Vec<String> {
        let listed = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        listed.into_iter().filter_map(Value::as_str).map(str::to_string).collect()
    };
    let ours = words(ours);
    let theirs = words(theirs);
    let has = |words: &[String], word: &str| words.iter().any(|one| one == word);
    let allowed =
        |words: &[String], word: &str| has(words, word) || word == "integer" && has(words, "number");
    let either = ours.iter().chain(theirs.iter().filter(|word| !has(&ours, word)));
    let common: Vec<&String> = either.filter(|word| allowed(&ours, word) && allowed(&theirs, word)).collect();
    match common.as_slice() {
        [] => None,
        [one] => Some(Value::from(one.as_str())),
        several => Some(several.iter().map(|word| Value::from(word.as_str())).collect()),
    }
}
