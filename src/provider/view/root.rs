//! Makes the root an object with its own properties. Unions and conditions at the root become one object.

use serde_json::{Map, Value, json};

use super::Root;
use super::loosened::Loosened;
use super::measure::{allows, measure};
use super::merge::merge;
use super::refs::DEFS;
use super::union::{Branch, add_properties, said_of_branches, shared_requirements};
use crate::finding::keyword::is_annotation;
use crate::tool::clean_text;

/// Keywords that no root keeps except MCP's. Unions, constants and `not` are refused there (docs/reference/wires.md,
/// OpenAI Chat Completions); for conditions no rule is known, so they count as refused.
const REFUSED: [&str; 11] = [
    "allOf", "anyOf", "oneOf", "enum", "const", "not", "if", "then", "else", "dependentRequired",
    "dependentSchemas",
];
/// Most parts that references in unions at the root may add.
const MAX_PARTS: usize = 20_000;
/// Longest text about properties that go together.
const MAX_SAID: usize = 200;

/// Gives the root its form. `say`: whether the description may express lost constraints.
pub(super) fn shape(schema: &mut Value, root: Root, say: bool, loose: &mut Loosened) -> Result<(), String> {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return Err("its schema accepts nothing".into()) };
    if !allows(object, "object") {
        return Err("arguments are always an object, and its root is of another type".into());
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
        let says = |key: &str| match object.get(key) {
            Some(Value::Bool(_)) | None => false,
            Some(_) => true,
        };
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

/// A missing type is put first, as people write it.
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
    let defs = match object.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    let mut flattening =
        Flattening { defs: &defs, open: Vec::new(), left: MAX_PARTS, said: Vec::new(), loose };
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
    defs: &'a Map<String, Value>,
    open: Vec<String>,
    left: usize,
    said: Vec<String>,
    loose: &'a mut Loosened,
}

impl Flattening<'_> {
    /// Turns a schema for objects into one without unions and conditions.
    fn object(&mut self, object: &mut Map<String, Value>) {
        let outside = self.open.len();
        while let Some(Value::String(reference)) = object.shift_remove("$ref") {
            if let Some(target) = self.target(&reference) {
                merge(object, target, self.loose);
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
        self.open.truncate(outside);
    }

    fn target(&mut self, reference: &str) -> Option<Map<String, Value>> {
        let name = reference.strip_prefix(DEFS)?;
        let target = self.defs.get(name)?;
        if self.open.iter().any(|open| open == name) {
            return None;
        }
        self.left = self.left.checked_sub(measure(target).0)?;
        self.open.push(name.to_string());
        target.as_object().cloned()
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
