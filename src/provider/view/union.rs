//! Merges the branches of a union of objects into one object: every branch's properties, and the common requirements.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::finding::keyword::is_annotation;

/// A branch of a union, itself without unions.
pub(super) type Branch = Map<String, Value>;

/// Most alternatives of one property.
const MAX_ALTERNATIVES: usize = 100;
/// Most combinations that are written out.
const MAX_COMBINATIONS: usize = 6;

/// Additional requirements of the branches, in words: "Give one of: `name`; `names`."
pub(super) fn said_of_branches(object: &Branch, branches: &[Branch], only_one: bool) -> Option<String> {
    if !(2..=MAX_COMBINATIONS).contains(&branches.len()) {
        return None;
    }
    let known = names(object);
    let mut combinations = Vec::new();
    for branch in branches {
        let more: Vec<&str> = names(branch).into_iter().filter(|name| !known.contains(name)).collect();
        let is_tellable = |name: &&str| name.len() <= 64 && !name.chars().any(|c| c == '`' || c.is_control());
        if more.is_empty() || !more.iter().all(is_tellable) {
            return None;
        }
        let quoted: Vec<String> = more.iter().map(|name| format!("`{name}`")).collect();
        combinations.push(quoted.join(" and "));
    }
    let distinct: HashSet<&String> = combinations.iter().collect();
    let how_many = if only_one { "one" } else { "at least one" };
    (distinct.len() == combinations.len())
        .then(|| format!("Give {how_many} of: {}.", combinations.join("; ")))
}

fn names(object: &Branch) -> Vec<&str> {
    object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Requires the properties that all branches require.
pub(super) fn shared_requirements(object: &mut Branch, branches: &[Branch]) {
    let Some((first, others)) = branches.split_first() else { return };
    let sets: Vec<HashSet<&str>> = others.iter().map(|branch| names(branch).into_iter().collect()).collect();
    let known: HashSet<&str> = names(object).into_iter().collect();
    let shared: Vec<Value> = names(first)
        .into_iter()
        .filter(|name| !known.contains(name) && sets.iter().all(|set| set.contains(name)))
        .map(Value::from)
        .collect();
    if !shared.is_empty()
        && let Some(required) = object.entry("required").or_insert_with(|| json!([])).as_array_mut()
    {
        required.extend(shared);
    }
}

/// Adds the branches' properties. `one_applies`: every object follows one of them.
///
/// A property that only some branches have takes their schema, since it is meant for them.
pub(super) fn add_properties(object: &mut Branch, branches: Vec<Branch>, one_applies: bool) {
    let count = branches.len();
    let closed = |branch: &Branch| {
        branch.get("additionalProperties") == Some(&Value::Bool(false))
            && !branch.contains_key("patternProperties")
    };
    let all_closed = one_applies && count > 0 && branches.iter().all(closed);
    let mut found: IndexMap<String, Vec<Value>> = IndexMap::new();
    for mut branch in branches {
        if let Some(Value::Object(properties)) = branch.shift_remove("properties") {
            for (name, schema) in properties {
                found.entry(name).or_default().push(schema);
            }
        }
    }
    if all_closed && !object.contains_key("additionalProperties") && !object.contains_key("patternProperties")
    {
        object.insert("additionalProperties".into(), false.into());
    }
    if found.is_empty() {
        return;
    }
    let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() else {
        return;
    };
    for (name, alternatives) in found {
        let in_all = one_applies && alternatives.len() == count;
        match properties.get_mut(&name) {
            None => {
                properties.insert(name, any_of(alternatives));
            }
            // The object's schema of it holds for every branch; the branches only narrow it.
            Some(ours) if in_all && says_nothing(ours) => {
                let said = ours.as_object().cloned().unwrap_or_default();
                *ours = any_of(alternatives);
                if let Some(ours) = ours.as_object_mut() {
                    ours.extend(said);
                }
            }
            Some(_) => {}
        }
    }
}

fn says_nothing(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.keys().all(|key| is_annotation(key)),
        other => *other == Value::Bool(true),
    }
}

/// A schema that accepts a value that any of these accepts.
pub(super) fn any_of(schemas: Vec<Value>) -> Value {
    if let Some(listed) = listed(&schemas) {
        return listed;
    }
    let mut seen = HashSet::new();
    let mut distinct: Vec<Value> = Vec::new();
    for schema in schemas {
        if seen.insert(schema.to_string()) {
            distinct.push(schema);
        }
    }
    match distinct.len() {
        1 => distinct.swap_remove(0),
        count
            if count > MAX_ALTERNATIVES
                || distinct.contains(&json!({}))
                || distinct.contains(&Value::Bool(true)) =>
        {
            json!({})
        }
        _ => json!({ "anyOf": distinct }),
    }
}

/// Alternatives that are all constants, as one enum.
fn listed(schemas: &[Value]) -> Option<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    let mut types: Vec<Option<&Value>> = Vec::new();
    for schema in schemas {
        let object = schema.as_object()?;
        if !object.keys().all(|key| matches!(key.as_str(), "const" | "enum" | "type") || is_annotation(key)) {
            return None;
        }
        let constant = object.get("const").map(std::slice::from_ref);
        let given = constant.or_else(|| object.get("enum").and_then(Value::as_array).map(Vec::as_slice))?;
        values.extend(given.iter().filter(|value| seen.insert(value.to_string())).cloned());
        types.push(object.get("type"));
    }
    if schemas.len() < 2 {
        return None;
    }
    let mut listed = Map::new();
    if let Some(Some(word)) = types.first()
        && types.iter().all(|one| *one == Some(word))
    {
        listed.insert("type".into(), (*word).clone());
    }
    listed.insert("enum".into(), Value::Array(values));
    Some(Value::Object(listed))
}
