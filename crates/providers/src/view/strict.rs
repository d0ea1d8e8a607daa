//! The strict subsets of providers (docs/reference/formats.md, Strict schemas and Anthropic Messages).

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::defs::referred_to;
use super::loosened::{Loosened, one_to_any};
use super::merge::merge;
use super::restrict_keywords::{around, tell_default};
use super::rules::Strict;
use super::types::{add_null, allows, list_null, names_type, texts};
use super::unfit::Unfit;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::schema::walk::{each, type_of};

/// Keywords that stay as they are.
const KEPT: [&str; 13] = [
    "type", "properties", "required", "items", "enum", "const", "anyOf", "$ref", "$defs", "description",
    "title", "additionalProperties", "minItems",
];
/// Keywords of limits that OpenAI enforces too.
const LIMITS: [&str; 6] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"];
/// Formats that both enforce.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Keywords that cannot be dropped without changing the meaning of a call.
const REFUSED: [&str; 9] = [
    "patternProperties", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "prefixItems",
    "contentSchema",
];

/// The strict form of a schema, or why the schema has no strict form, with the JSON Pointer of the place.
pub(super) fn strict(schema: &Value, subset: Strict, room: &mut StrictBudget) -> Result<Value, Unfit> {
    if subset == Strict::Anthropic {
        no_recursion(schema)?;
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

fn refuse<T>(what: impl std::fmt::Display, pointer: &str) -> Result<T, Unfit> {
    Err(Unfit::NotStrict { what: what.to_string(), pointer: pointer.to_string() })
}

impl Making {
    fn schema(&mut self, value: &mut Value, pointer: &str) -> Result<(), Unfit> {
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

    fn definitions(&mut self, object: &mut Map<String, Value>, pointer: &str) -> Result<(), Unfit> {
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
        let text = value.as_str();
        match key {
            "pattern" => open_ai && text.is_some_and(|pattern| !pattern.contains("(?")),
            "format" => text.is_some_and(|text| FORMATS.contains(&text) || text == "uri" && !open_ai),
            key => KEPT.contains(&key) || open_ai && LIMITS.contains(&key),
        }
    }

    /// Closes an object: it takes its own properties and no others.
    fn close(&mut self, object: &mut Map<String, Value>, pointer: &str) -> Result<(), Unfit> {
        match object.get("additionalProperties") {
            None | Some(Value::Bool(false)) => {}
            Some(_) => return refuse("an object with properties of any name", pointer),
        }
        let closed = object.contains_key("additionalProperties");
        let required: Vec<String> = texts(object.get("required")).map(str::to_string).collect();
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
    let word = match words.as_slice() {
        [] => return,
        [word] => Value::from(*word),
        several => json!(several),
    };
    object.insert("type".into(), word);
}

/// Makes an optional property nullable; the null is dropped from the call (docs/reference/formats.md, Strict schemas).
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
        list_null(object);
    }
}

const MAX_PROPERTIES: usize = 5_000;
const MAX_LEVELS: usize = 10;
const MAX_VALUES: usize = 1_000;
const MAX_TEXT: usize = 120_000;
/// An enumeration of more values than this has at most [`MAX_LONG_TEXT`] characters.
const LONG: usize = 250;
const MAX_LONG_TEXT: usize = 15_000;
/// Of one request on Anthropic: strict tools, and their optional properties and unions together.
const MAX_TOOLS: usize = 20;
const MAX_OPTIONAL: usize = 24;
const MAX_UNIONS: usize = 16;

/// Use of the strict limits of one request so far.
#[derive(Debug, Default)]
pub(crate) struct StrictBudget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl StrictBudget {
    /// Adds the needs of a strict schema, or returns the limit that is exceeded.
    fn take(&mut self, schema: &Value, subset: Strict) -> Result<(), Unfit> {
        let mut count = Count::default();
        count.schema(schema, 1);
        let limits = match subset {
            Strict::OpenAi => &[
                (count.properties, MAX_PROPERTIES, "properties"),
                (count.levels, MAX_LEVELS, "levels"),
                (count.values, MAX_VALUES, "enumerated values"),
                (count.text, MAX_TEXT, "characters of names and enumerated values"),
                (count.long_text, MAX_LONG_TEXT, "characters in one long enumeration"),
            ][..],
            Strict::Anthropic => {
                &[(count.optional, MAX_OPTIONAL, "optional properties"), (count.unions, MAX_UNIONS, "unions")]
            }
        };
        if let Some(&(count, most, what)) = limits.iter().find(|(count, most, _)| count > most) {
            return Err(Unfit::TooMany { what, count, most });
        }
        if subset == Strict::OpenAi {
            return Ok(());
        }
        let next = Self {
            tools: self.tools + 1,
            optional: self.optional + count.optional,
            unions: self.unions + count.unions,
        };
        if next.tools > MAX_TOOLS {
            return Err(Unfit::TooManyTools { most: MAX_TOOLS });
        }
        let shared =
            [(next.optional, MAX_OPTIONAL, "optional properties"), (next.unions, MAX_UNIONS, "unions")];
        if let Some((_, most, what)) = shared.into_iter().find(|(count, most, _)| count > most) {
            return Err(Unfit::TooManyTogether { what, most });
        }
        *self = next;
        Ok(())
    }
}

#[derive(Default)]
struct Count {
    properties: usize,
    optional: usize,
    unions: usize,
    levels: usize,
    values: usize,
    text: usize,
    long_text: usize,
}

impl Count {
    fn schema(&mut self, schema: &Value, level: usize) {
        let Some(object) = schema.as_object() else { return };
        let holds_more = object.contains_key("properties") || object.contains_key("items");
        if holds_more {
            self.levels = self.levels.max(level);
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let required = object.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            self.properties += properties.len();
            self.optional += properties.len().saturating_sub(required);
            self.text += properties.keys().map(String::len).sum::<usize>();
        }
        if let Some(defs) = object.get("$defs").and_then(Value::as_object) {
            self.text += defs.keys().map(String::len).sum::<usize>();
        }
        let is_union = object.contains_key("anyOf") || object.get("type").is_some_and(Value::is_array);
        self.unions += usize::from(is_union);
        self.constants(object);
        each(object).for_each(|child| self.schema(child, level + usize::from(holds_more)));
    }

    fn constants(&mut self, object: &Map<String, Value>) {
        let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        self.text += object.get("const").map_or(0, length);
        let Some(values) = object.get("enum").and_then(Value::as_array) else { return };
        let text: usize = values.iter().map(length).sum();
        self.values += values.len();
        self.text += text;
        if values.len() > LONG {
            self.long_text = self.long_text.max(text);
        }
    }
}

/// Whether no definition refers back to itself.
fn no_recursion(schema: &Value) -> Result<(), Unfit> {
    let defs = schema.get("$defs").and_then(Value::as_object);
    let mut seen: HashMap<&str, bool> = HashMap::new();
    // Depth first: a definition that is met while it is open contains itself. Below all that it refers to, it stands
    // once more, to be closed.
    let mut todo: Vec<(&str, bool)> = Vec::new();
    referred_to(schema, &mut |name| todo.push((name, false)));
    while let Some((name, closes)) = todo.pop() {
        if closes {
            seen.insert(name, true);
            continue;
        }
        match seen.get(name) {
            Some(true) => continue,
            Some(false) => return Err(Unfit::ContainsItself(name.into())),
            None => {}
        }
        let Some(target) = defs.and_then(|defs| defs.get(name)) else {
            return Err(Unfit::RefersToRoot);
        };
        seen.insert(name, false);
        todo.push((name, true));
        referred_to(target, &mut |name| todo.push((name, false)));
    }
    Ok(())
}
