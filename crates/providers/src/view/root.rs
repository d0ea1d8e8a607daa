//! Makes the root an object with its own properties. Unions and conditions at the root become one object.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::defs::{Opening, take_defs};
use super::loosened::Loosened;
use super::merge::merge;
use super::rules::Root;
use super::types::{allows, texts};
use super::unfit::Unfit;
use toolcrib_definition::clean_text;
use toolcrib_definition::schema::walk::is_annotation;

/// Keywords that only MCP allows at the root. Other providers refuse unions, constants and `not` there
/// (docs/reference/formats.md, OpenAI Chat Completions). No rule for conditions is known, so they count as refused.
const REFUSED: [&str; 11] = [
    "allOf", "anyOf", "oneOf", "enum", "const", "not", "if", "then", "else", "dependentRequired",
    "dependentSchemas",
];
/// Longest text about properties that are required together.
const MAX_SAID: usize = 200;

/// Gives the root the form that a provider takes. `say`: whether the description may state lost constraints.
pub(super) fn shape(schema: &mut Value, root: Root, say: bool, loose: &mut Loosened) -> Result<(), Unfit> {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return Err(Unfit::AcceptsNothing) };
    if !allows(object, "object") {
        return Err(Unfit::NoObject);
    }
    set_type(object);
    if root == Root::Object {
        return Ok(());
    }
    if REFUSED.iter().any(|key| object.contains_key(*key)) {
        flatten(object, say && root == Root::Properties, loose);
    }
    object.entry("properties").or_insert_with(|| json!({}));
    if root == Root::Bare {
        let says = |key: &str| object.get(key).is_some_and(|value| !value.is_boolean());
        for lost in
            ["patternProperties", "additionalProperties", "propertyNames", "minProperties", "maxProperties"]
        {
            if says(lost) {
                loose.record(format!("`{lost}` at the root"));
            }
        }
        object.retain(|key, _| matches!(key.as_str(), "type" | "properties" | "required"));
    }
    Ok(())
}

/// Sets the type to `object`. A missing type is put first, where people write it.
fn set_type(object: &mut Map<String, Value>) {
    match object.get_mut("type") {
        Some(written) => *written = "object".into(),
        None => {
            let rest = std::mem::take(object);
            object.insert("type".into(), "object".into());
            object.extend(rest);
        }
    }
}

fn flatten(object: &mut Map<String, Value>, say: bool, loose: &mut Loosened) {
    let lost: Vec<String> = REFUSED
        .iter()
        .filter(|key| object.contains_key(**key) && **key != "allOf")
        .map(|key| format!("`{key}`"))
        .collect();
    let defs = take_defs(object);
    let mut flattening = Flattening { opening: Opening::of(&defs), said: Vec::new(), loose };
    flattening.object(object);
    let said = std::mem::take(&mut flattening.said);
    set_type(object);
    if say {
        tell(object, &said);
    }
    if !defs.is_empty() {
        object.insert("$defs".into(), Value::Object(defs));
    }
    if !lost.is_empty() {
        loose.record(format!("{} at the root", lost.join(", ")));
    }
}

fn tell(object: &mut Map<String, Value>, said: &[String]) {
    let said = said.join(" ");
    if said.is_empty() || said.len() > MAX_SAID {
        return;
    }
    let text = match object.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => said,
        Some(before) if before.ends_with(['.', '!', '?', ':']) => format!("{before} {said}"),
        Some(before) => format!("{before}. {said}"),
    };
    object.insert("description".into(), clean_text(&text).into());
}

struct Flattening<'a> {
    opening: Opening<'a>,
    said: Vec<String>,
    loose: &'a mut Loosened,
}

impl Flattening<'_> {
    /// Removes unions and conditions from a schema for objects.
    fn object(&mut self, object: &mut Map<String, Value>) {
        let outside = self.opening.open.len();
        while let Some(Value::String(reference)) = object.shift_remove("$ref") {
            if let Some(Value::Object(target)) = self.opening.enter(&reference) {
                merge(object, target.clone(), self.loose);
            }
        }
        if let Some(Value::Array(parts)) = object.shift_remove("allOf") {
            for part in parts {
                if let Value::Object(mut part) = part {
                    self.object(&mut part);
                    part.retain(|key, _| !is_annotation(key));
                    merge(object, part, self.loose);
                }
            }
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.shift_remove(key) {
                self.union(object, key, branches);
            }
        }
        let mut conditional: Vec<Value> =
            ["then", "else"].iter().filter_map(|key| object.shift_remove(*key)).collect();
        if let Some(Value::Object(dependent)) = object.shift_remove("dependentSchemas") {
            conditional.extend(dependent.into_iter().map(|(_, schema)| schema));
        }
        if !conditional.is_empty() {
            let branches: Vec<Branch> = self.branches(conditional);
            add_properties(object, branches, false);
        }
        for key in REFUSED.iter().chain(&["unevaluatedProperties"]) {
            object.shift_remove(*key);
        }
        self.opening.open.truncate(outside);
    }

    fn branches(&mut self, schemas: Vec<Value>) -> Vec<Branch> {
        let mut branches = Vec::with_capacity(schemas.len());
        for schema in schemas {
            match schema {
                Value::Object(mut object) => {
                    self.object(&mut object);
                    if allows(&object, "object") {
                        branches.push(object);
                    }
                }
                Value::Bool(false) => {}
                _ => branches.push(Map::new()),
            }
        }
        branches
    }

    fn union(&mut self, object: &mut Map<String, Value>, key: &str, branches: Vec<Value>) {
        let said_before = self.said.len();
        let branches = self.branches(branches);
        self.said.truncate(said_before);
        if let Some(said) = said_of_branches(object, &branches, key == "oneOf") {
            self.said.push(said);
        }
        shared_requirements(object, &branches);
        add_properties(object, branches, true);
    }
}

/// A branch of a union, itself without unions.
type Branch = Map<String, Value>;

/// Most alternatives of one property.
const MAX_ALTERNATIVES: usize = 100;
/// Most combinations that are written out.
const MAX_COMBINATIONS: usize = 6;

/// Additional requirements of the branches, in words: "Give one of: `name`; `names`."
fn said_of_branches(object: &Branch, branches: &[Branch], only_one: bool) -> Option<String> {
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
    texts(object.get("required")).collect()
}

/// Requires the properties that all branches require.
fn shared_requirements(object: &mut Branch, branches: &[Branch]) {
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

/// Adds the branches' properties. `one_applies`: every object matches at least one branch.
///
/// A property that only some branches have gets their schema, since it is meant for them.
fn add_properties(object: &mut Branch, branches: Vec<Branch>, one_applies: bool) {
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
            // The object's own schema of a property holds for every branch; the branches only narrow it.
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

/// A schema that accepts every value that at least one of these accepts.
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
