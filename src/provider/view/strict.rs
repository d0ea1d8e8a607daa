//! The strict subsets of providers (docs/reference/wires.md, Strict schemas and Anthropic Messages).

use serde_json::{Map, Value, json};

use super::Strict;
use super::limits::{self, StrictBudget};
use super::limits_text::tell_default;
use super::loosened::{Loosened, one_to_any};
use super::measure::{allows, names_type};
use super::merge::merge;
use super::restrict_keywords::{around, type_of};
use crate::finding::pointer_join;

/// Keywords that cannot be dropped without changing the meaning of a call.
const REFUSED: [&str; 9] = [
    "patternProperties", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "prefixItems",
    "contentSchema",
];

/// The strict form of a schema, or the reason why there is none, with the JSON Pointer of its place.
pub(super) fn strict(schema: &Value, subset: Strict, room: &mut StrictBudget) -> Result<Value, String> {
    if subset == Strict::Anthropic {
        limits::no_recursion(schema)?;
    }
    let mut strict = schema.clone();
    if let Some(root) = strict.as_object_mut() {
        let is_empty = root.get("properties").is_none_or(|properties| properties == &json!({}));
        if is_empty && !root.contains_key("additionalProperties") {
            root.insert("additionalProperties".into(), false.into());
        }
    }
    Making { subset, loose: Loosened::default() }.schema(&mut strict, "")?;
    room.take(&strict, subset)?;
    Ok(strict)
}

struct Making {
    subset: Strict,
    loose: Loosened,
}

fn refuse<T>(what: impl std::fmt::Display, pointer: &str) -> Result<T, String> {
    let place = if pointer.is_empty() { "the root".to_string() } else { format!("`{pointer}`") };
    Err(format!("{what} at {place} cannot be strict"))
}

impl Making {
    fn schema(&mut self, value: &mut Value, pointer: &str) -> Result<(), String> {
        let Some(object) = value.as_object_mut() else { return refuse("a schema of any value", pointer) };
        self.one(object);
        one_to_any(object, &mut self.loose);
        if let Some(key) = REFUSED.iter().find(|key| object.contains_key(**key)) {
            return refuse(format_args!("`{key}`"), pointer);
        }
        tell_default(object);
        object.retain(|key, value| self.permits(key, value));
        if let Some(least) = object.get_mut("minItems")
            && self.subset == Strict::Anthropic
            && least.as_u64().is_some_and(|least| least > 1)
        {
            *least = 1.into();
        }
        if object.contains_key("$ref") {
            if object
                .keys()
                .any(|key| !key.starts_with('$') && !matches!(key.as_str(), "description" | "title"))
            {
                return refuse("`$ref` beside other keywords", pointer);
            }
            around(object);
            return self.definitions(object, pointer);
        }
        infer_type(object);
        if !object.contains_key("type") && !object.contains_key("anyOf") {
            return refuse("a schema of any value", pointer);
        }
        let says = |word: &str, object: &Map<String, Value>| {
            object.get("type").is_some_and(|written| names_type(written, word))
        };
        if says("object", object) || object.contains_key("properties") {
            self.close(object, pointer)?;
        }
        if says("array", object) {
            let Some(items) = object.get_mut("items") else { return refuse("an array of anything", pointer) };
            self.schema(items, &pointer_join(pointer, "items"))?;
        }
        if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
            for (index, branch) in branches.iter_mut().enumerate() {
                self.schema(branch, &pointer_join(&pointer_join(pointer, "anyOf"), index))?;
            }
        }
        self.definitions(object, pointer)
    }

    fn definitions(&mut self, object: &mut Map<String, Value>, pointer: &str) -> Result<(), String> {
        let Some(Value::Object(defs)) = object.get_mut("$defs") else { return Ok(()) };
        for (name, definition) in defs.iter_mut() {
            self.schema(definition, &pointer_join(&pointer_join(pointer, "$defs"), name))?;
        }
        Ok(())
    }

    /// Merges `allOf`, which is not allowed.
    fn one(&mut self, object: &mut Map<String, Value>) {
        while let Some(Value::Array(parts)) = object.shift_remove("allOf") {
            for part in parts {
                if let Value::Object(part) = part {
                    merge(object, part, &mut self.loose);
                }
            }
        }
    }

    /// Whether a keyword may stay. Keywords that only limit values can be dropped, since calls are checked.
    fn permits(&self, key: &str, value: &Value) -> bool {
        let open_ai = self.subset == Strict::OpenAi;
        match key {
            "type"
            | "properties"
            | "required"
            | "items"
            | "enum"
            | "const"
            | "anyOf"
            | "$ref"
            | "$defs"
            | "description"
            | "title"
            | "additionalProperties" => true,
            "pattern" => open_ai && value.as_str().is_some_and(|pattern| !pattern.contains("(?")),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "maxItems" => {
                open_ai
            }
            "minItems" => true,
            "format" => value.as_str().is_some_and(|format| {
                matches!(
                    format,
                    "date-time"
                        | "time"
                        | "date"
                        | "duration"
                        | "email"
                        | "hostname"
                        | "ipv4"
                        | "ipv6"
                        | "uuid"
                ) || format == "uri" && !open_ai
            }),
            _ => false,
        }
    }

    /// Closes an object: it takes its own properties and no others.
    fn close(&mut self, object: &mut Map<String, Value>, pointer: &str) -> Result<(), String> {
        match object.get("additionalProperties") {
            None | Some(Value::Bool(false)) => {}
            Some(_) => return refuse("an object with properties of any name", pointer),
        }
        let closed = object.contains_key("additionalProperties");
        let required: Vec<String> = strings(object.get("required"));
        let is_required = |name: &String| required.contains(name);
        if closed {
            object.entry("properties").or_insert_with(|| json!({}));
        }
        let Some(Value::Object(properties)) =
            object.get_mut("properties").filter(|some| closed || **some != json!({}))
        else {
            return refuse("an object without properties", pointer);
        };
        if let Some(name) = required.iter().find(|name| !properties.contains_key(*name)) {
            return refuse(format_args!("`{name}`, required but not described,"), pointer);
        }
        for (name, property) in properties.iter_mut() {
            self.schema(property, &pointer_join(&pointer_join(pointer, "properties"), name))?;
            if self.subset == Strict::OpenAi && !is_required(name) {
                nullable(property);
            }
        }
        if self.subset == Strict::OpenAi {
            let names: Vec<Value> = properties.keys().map(|name| Value::from(name.as_str())).collect();
            object.insert("required".into(), Value::Array(names));
        }
        object.insert("additionalProperties".into(), false.into());
        Ok(())
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect()
}

/// A constant gets a `type`.
fn infer_type(object: &mut Map<String, Value>) {
    if object.contains_key("type") {
        return;
    }
    let mut words: Vec<&str> = Vec::new();
    let listed = object.get("enum").and_then(Value::as_array).into_iter().flatten();
    for value in listed.chain(object.get("const")) {
        let word = type_of(value);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.as_slice() {
        [] => {}
        [word] => {
            let word = Value::from(*word);
            object.insert("type".into(), word);
        }
        several => {
            let several = json!(several);
            object.insert("type".into(), several);
        }
    }
}

/// Makes an optional property nullable; the null is dropped from the call (docs/reference/wires.md, Strict schemas).
fn nullable(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        let has_null = |branch: &Value| branch.get("type").is_some_and(|written| names_type(written, "null"));
        if !branches.iter().any(has_null) {
            branches.push(json!({ "type": "null" }));
        }
        if object.contains_key("type") && !allows(object, "null") {
            add_null(object);
        }
    } else if object.contains_key("$ref") || object.contains_key("const") {
        let said = object.shift_remove("description");
        let rest = std::mem::take(object);
        object.extend(said.map(|said| ("description".to_string(), said)));
        object.insert("anyOf".into(), json!([rest, { "type": "null" }]));
    } else {
        if !allows(object, "null") {
            add_null(object);
        }
        if let Some(Value::Array(values)) = object.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

fn add_null(object: &mut Map<String, Value>) {
    let null = || Value::from("null");
    match object.get_mut("type") {
        Some(Value::Array(words)) => words.push(null()),
        Some(word) => *word = Value::Array(vec![word.take(), null()]),
        None => {}
    }
}
