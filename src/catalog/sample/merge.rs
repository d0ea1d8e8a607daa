//! One schema out of many: local references followed, `allOf` merged, one branch of `anyOf` and `oneOf` taken.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Sampler;
use crate::finding::resolve_local;

/// Most references and compositions that are followed for one value.
const MAX_STEPS: usize = 24;
/// Keywords that a merge leaves out: the ones it resolves, and the ones that do not constrain the value.
const LEFT_BEHIND: [&str; 9] =
    ["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "$defs", "definitions"];

impl Sampler<'_> {
    /// A schema without references and compositions, as far as they constrain the value.
    pub(super) fn flat<'s>(&mut self, schema: &'s Map<String, Value>) -> Option<Cow<'s, Map<String, Value>>> {
        if LEFT_BEHIND[..5].iter().all(|key| !schema.contains_key(*key)) {
            return Some(Cow::Borrowed(schema));
        }
        self.flattened(schema, &mut 0).map(Cow::Owned)
    }

    fn flattened(&mut self, schema: &Map<String, Value>, steps: &mut usize) -> Option<Map<String, Value>> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let mut own = Map::new();
        for (key, value) in schema {
            if !LEFT_BEHIND.contains(&key.as_str()) {
                self.weigh(value)?;
                own.insert(key.clone(), value.clone());
            }
        }
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            self.work(1 + pointer.len() / 8)?;
            let other = self.part(resolve_local(pointer, self.root)?, steps)?;
            self.add(&mut own, other)?;
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for all in list("allOf").into_iter().flatten() {
            let other = self.part(all, steps)?;
            self.add(&mut own, other)?;
        }
        for key in ["oneOf", "anyOf"] {
            let Some(branches) = list(key) else { continue };
            self.work(branches.len())?;
            let useful: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
            if let Some(chosen) = useful.get(self.attempt.branch % useful.len().max(1)) {
                let other = self.part(chosen, steps)?;
                self.add(&mut own, other)?;
            }
        }
        if schema.contains_key("if") {
            let parts = if self.attempt.branch.is_multiple_of(2) { ["if", "then"] } else { ["else", "else"] };
            for key in parts {
                if let Some(then) = schema.get(key) {
                    let other = self.part(then, steps)?;
                    self.add(&mut own, other)?;
                }
            }
        }
        Some(own)
    }

    fn part(&mut self, schema: &Value, steps: &mut usize) -> Option<Map<String, Value>> {
        match schema {
            Value::Object(schema) => self.flattened(schema, steps),
            Value::Bool(true) => Some(Map::new()),
            _ => None,
        }
    }

    /// Adds a part to the whole; the budget pays for the entries of both lists.
    fn add(&mut self, own: &mut Map<String, Value>, other: Map<String, Value>) -> Option<()> {
        let size = |part: &Map<String, Value>, key: &str| match part.get(key) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(members)) => members.len(),
            _ => 0,
        };
        let enums = size(own, "enum").saturating_mul(size(&other, "enum"));
        self.work(1 + size(&other, "properties") + size(&other, "required") / 8 + enums / 8)?;
        add(own, other);
        Some(())
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const").is_some_and(Value::is_null)
}

/// Adds the constraints of another schema; where both have one, the narrower or else the first holds.
fn add(own: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (own.get_mut(&key), value) {
            (Some(Value::Object(mine)), Value::Object(theirs)) if key == "properties" => {
                for (name, property) in theirs {
                    match mine.get_mut(&name) {
                        Some(known) => *known = serde_json::json!({ "allOf": [property, known.take()] }),
                        None => drop(mine.insert(name, property)),
                    }
                }
            }
            (Some(Value::Array(mine)), Value::Array(theirs)) if key == "required" => mine.extend(theirs),
            (Some(Value::Array(mine)), Value::Array(theirs)) if key == "enum" => {
                mine.retain(|value| theirs.contains(value))
            }
            (Some(mine @ Value::Array(_)), theirs @ Value::String(_)) if key == "type" => *mine = theirs,
            (Some(Value::Number(mine)), Value::Number(theirs))
                if narrows(&key, mine.as_f64(), theirs.as_f64()) =>
            {
                *mine = theirs
            }
            (Some(mine), theirs) if key == "default" && mine.is_null() => *mine = theirs,
            (Some(_), _) => {}
            (None, value) => drop(own.insert(key, value)),
        }
    }
}

fn narrows(key: &str, mine: Option<f64>, theirs: Option<f64>) -> bool {
    if key.starts_with("min") || key == "exclusiveMinimum" { theirs > mine } else { theirs < mine }
}
