//! Keeps only the keywords that a format knows; others are expressed with these where possible, else in a few words at
//! the end of the description.

use serde_json::{Map, Value, json};

use super::defs::{DEFS, Opening, take_defs};
use super::loosened::{Loosened, one_to_any};
use super::merge::merge;
use super::root::any_of as union_of;
use toolcrib_definition::hidden_characters;
use toolcrib_definition::schema::Node;
use toolcrib_definition::schema::limits::LIMITS;
use toolcrib_definition::schema::walk::{KeywordKind, holds, is_annotation, type_of};
use toolcrib_definition::schema::words::{Style, Words};

/// Keeps only `listed` keywords. `tell`: whether lost limits go into descriptions.
pub(super) fn restrict(schema: &mut Value, listed: &[&str], tell: bool, loose: &mut Loosened) {
    let Some(root) = schema.as_object_mut() else { return };
    let defs = take_defs(root);
    let mut restricting = Restricting { listed, tell, opening: Opening::of(&defs), loose };
    restricting.schema(schema);
    let mut kept = Map::new();
    for (name, definition) in &defs {
        let mut definition = definition.clone();
        restricting.opening.open.push(name.clone());
        restricting.schema(&mut definition);
        restricting.opening.open.pop();
        kept.insert(name.clone(), definition);
    }
    if !kept.is_empty()
        && listed.contains(&"$defs")
        && let Value::Object(root) = schema
    {
        root.insert("$defs".into(), Value::Object(kept));
    }
}

struct Restricting<'a> {
    listed: &'a [&'a str],
    tell: bool,
    opening: Opening<'a>,
    loose: &'a mut Loosened,
}

impl Restricting<'_> {
    fn knows(&self, keyword: &str) -> bool {
        self.listed.contains(&keyword)
    }

    fn schema(&mut self, value: &mut Value) {
        let Value::Object(object) = value else {
            *value = json!({});
            return;
        };
        let outside = self.opening.open.len();
        self.one(object);
        constant(object);
        one_to_any(object, self.loose);
        self.exclusive(object);
        self.patterns(object);
        self.tuple(object);
        if self.tell {
            tell(object, self.listed);
        }
        self.drop_unknown(object);
        only_known_requirements(object);
        self.below(object);
        any_of(object);
        if object.get("properties") == Some(&json!({})) {
            // "should be non-empty for OBJECT type" (docs/reference/formats.md, Gemini).
            object.shift_remove("properties");
        }
        if object.contains_key("$ref") {
            around(object);
        }
        self.opening.open.truncate(outside);
    }

    /// Merges `allOf`, and a reference that has siblings.
    fn one(&mut self, object: &mut Map<String, Value>) {
        loop {
            if let Some(Value::Array(parts)) = object.shift_remove("allOf") {
                for part in parts {
                    if let Value::Object(part) = part {
                        self.add(object, part);
                    }
                }
            } else if !object.keys().all(|key| key.starts_with('$') || is_annotation(key))
                && let Some(Value::String(reference)) = object.shift_remove("$ref")
            {
                if let Some(target) = self.target(&reference) {
                    merge(object, target, self.loose);
                }
            } else {
                return;
            }
        }
    }

    /// Adds one part of an `allOf`; of two references, one has to be resolved.
    fn add(&mut self, object: &mut Map<String, Value>, mut part: Map<String, Value>) {
        if object.contains_key("$ref")
            && part.get("$ref").is_some_and(|theirs| object.get("$ref") != Some(theirs))
            && let Some(Value::String(reference)) = part.shift_remove("$ref")
            && let Some(target) = self.target(&reference)
        {
            merge(&mut part, target, self.loose);
            if part.contains_key("$ref") {
                // A definition that is a reference itself.
                part.shift_remove("$ref");
                self.loose.record("a reference beside a reference");
            }
        }
        let own_parts = part.shift_remove("allOf");
        merge(object, part, self.loose);
        match (object.get_mut("allOf"), own_parts) {
            (Some(Value::Array(ours)), Some(Value::Array(theirs))) => ours.extend(theirs),
            (_, Some(theirs)) => {
                object.insert("allOf".into(), theirs);
            }
            _ => {}
        }
    }

    fn target(&mut self, reference: &str) -> Option<Map<String, Value>> {
        let target = self.opening.enter(reference);
        if target.is_none() {
            let what = match reference.strip_prefix(DEFS) {
                Some(name) => format!("`{name}`"),
                None => "the whole schema".to_string(),
            };
            self.loose.record(format!("a reference to {what} beside other keywords"));
        }
        target?.as_object().cloned()
    }

    /// An integer that is more than 0 is at least 1.
    fn exclusive(&self, object: &mut Map<String, Value>) {
        let is_integer = object.get("type").is_some_and(|word| word == "integer");
        for (exclusive, limit, step) in
            [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
        {
            if self.knows(exclusive) || !self.knows(limit) || !is_integer {
                continue;
            }
            let Some(bound) =
                object.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step))
            else {
                continue;
            };
            object.shift_remove(exclusive);
            let known = object.get(limit).and_then(Value::as_f64);
            let is_tighter = known
                .is_none_or(|known| if step > 0 { bound as f64 > known } else { (bound as f64) < known });
            if is_tighter {
                object.insert(limit.into(), bound.into());
            }
        }
    }

    /// Schemas of pattern properties: values that they allow must not be refused by `additionalProperties`.
    fn patterns(&mut self, object: &mut Map<String, Value>) {
        if self.knows("patternProperties") {
            return;
        }
        let Some(Value::Object(patterns)) = object.shift_remove("patternProperties") else { return };
        let closed = object.shift_remove("additionalProperties") == Some(Value::Bool(false));
        if closed {
            let alternatives: Vec<Value> = patterns.into_iter().map(|(_, schema)| schema).collect();
            if !alternatives.is_empty() {
                object.insert("additionalProperties".into(), union_of(alternatives));
            }
        }
        self.loose.record("`patternProperties`");
    }

    /// Items by position become any of them at every position.
    fn tuple(&mut self, object: &mut Map<String, Value>) {
        if self.knows("prefixItems") {
            return;
        }
        let Some(Value::Array(mut alternatives)) = object.shift_remove("prefixItems") else { return };
        match object.shift_remove("items") {
            Some(Value::Bool(false)) => {}
            Some(rest) => alternatives.push(rest),
            None => alternatives.push(Value::Bool(true)),
        }
        object.insert("items".into(), union_of(alternatives));
        self.loose.record("`prefixItems`");
    }

    fn drop_unknown(&mut self, object: &mut Map<String, Value>) {
        let listed = self.listed;
        object.retain(|key, value| {
            let stays = listed.contains(&key.as_str());
            let is_lost = !stays
                && match key.as_str() {
                    "$defs" | "contentSchema" => false,
                    "additionalProperties" => value.is_object(),
                    key => matches!(
                        holds(key),
                        KeywordKind::Schema | KeywordKind::Named | KeywordKind::NameLists
                    ),
                };
            if is_lost {
                self.loose.record(format!("`{key}`"));
            }
            stays
        });
    }

    fn below(&mut self, object: &mut Map<String, Value>) {
        for (key, value) in object.iter_mut() {
            match (holds(key), value) {
                (KeywordKind::Schema, Value::Bool(_)) if key == "additionalProperties" => {}
                (KeywordKind::Schema, value) => self.schema(value),
                (KeywordKind::Named, Value::Object(named)) => {
                    named.values_mut().for_each(|value| self.schema(value))
                }
                (KeywordKind::List, Value::Array(list)) => {
                    if key == "anyOf" {
                        list.retain(|branch| *branch != Value::Bool(false));
                    }
                    list.iter_mut().for_each(|value| self.schema(value));
                }
                _ => {}
            }
        }
    }
}

/// Writes a reference with siblings as a union of one: `$ref` stands only beside keys that begin with `$`
/// (docs/reference/formats.md, Gemini).
pub(super) fn around(object: &mut Map<String, Value>) {
    let Some(reference) = object.shift_remove("$ref") else { return };
    let reference = json!({ "$ref": reference });
    if object.contains_key("description") {
        object.retain(|key, _| key == "description" || key.starts_with('$'));
        object.insert("anyOf".into(), json!([reference]));
    } else {
        object.retain(|key, _| key.starts_with('$'));
        object.extend(reference.as_object().cloned().unwrap_or_default());
    }
}

/// A constant becomes an enum of one value.
fn constant(object: &mut Map<String, Value>) {
    let Some(value) = object.shift_remove("const") else { return };
    if !object.contains_key("type") {
        object.insert("type".into(), type_of(&value).into());
    }
    object.insert("enum".into(), json!([value]));
}

/// Requires known properties alone: Gemini refuses others as `required[0]: property is not defined` (docs/reference/formats.md).
fn only_known_requirements(object: &mut Map<String, Value>) {
    let Some(Value::Array(mut required)) = object.get_mut("required").map(Value::take) else { return };
    let properties = object.get("properties").and_then(Value::as_object);
    required.retain(|name| {
        name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
    });
    if required.is_empty() {
        object.shift_remove("required");
    } else {
        object.insert("required".into(), Value::Array(required));
    }
}

/// A union with a branch that accepts anything is dropped; a union without a branch cannot be expressed.
fn any_of(object: &mut Map<String, Value>) {
    let says_nothing = |branches: &Vec<Value>| branches.is_empty() || branches.contains(&json!({}));
    if object.get("anyOf").and_then(Value::as_array).is_some_and(says_nothing) {
        object.shift_remove("anyOf");
    }
}

/// Keywords that set the two ends of one limit.
const ENDS: [[&str; 2]; 4] = [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
    ["minProperties", "maxProperties"],
];
/// Longest default that is written out, in bytes.
const MAX_DEFAULT: usize = 60;
/// Limits as they stand in a description.
const PLAIN: Style = Style { is_brief: false, word: str::to_string, code: |text| format!("`{text}`") };

/// Appends the lost limits to the description: " (1 to 100, default 30)".
fn tell(object: &mut Map<String, Value>, listed: &[&str]) {
    let is_limit = |key: &str| LIMITS.contains(&key) || matches!(key, "default" | "deprecated");
    let is_lost = |key: &str| is_limit(key) && !listed.contains(&key);
    if !object.keys().any(|key| is_lost(key)) {
        return;
    }
    let description = object.get("description").and_then(Value::as_str).unwrap_or_default().trim_end();
    let lost = object.iter().filter(|(key, _)| is_lost(key));
    let lost = lost.filter(|(key, value)| !has_control(value) && !is_said(description, object, key));
    let lost = Value::Object(lost.map(|(key, value)| (key.clone(), value.clone())).collect());
    let mut limits = Words::new(PLAIN).limits(&Node::root(&lost));
    let default = lost.get("default").filter(|value| !value.is_null() && value.as_str() != Some(""));
    let default = default.map(Value::to_string).filter(|value| value.len() <= MAX_DEFAULT);
    limits.extend(default.map(|value| format!("default {value}")));
    limits.extend((lost.get("deprecated") == Some(&Value::Bool(true))).then(|| "deprecated".to_string()));
    if limits.is_empty() {
        return;
    }
    let limits = limits.join(", ");
    let text = if description.is_empty() { limits } else { format!("{description} ({limits})") };
    object.insert("description".into(), text.into());
}

/// Whether the author's description mentions a limit already.
fn is_said(description: &str, object: &Map<String, Value>, key: &str) -> bool {
    let contains = |text: &str| description.to_lowercase().contains(&text.to_lowercase());
    let text = object.get(key).and_then(Value::as_str);
    match key {
        "default" | "deprecated" => contains(key),
        "format" => text.is_some_and(contains),
        "pattern" => text.is_some_and(|pattern| description.contains(pattern)),
        key => ENDS.iter().find(|ends| ends.contains(&key)).is_some_and(|ends| {
            let mut numbers = ends.iter().filter_map(|end| object.get(*end)?.as_number());
            numbers.all(|number| holds_number(description, &number.to_string()))
        }),
    }
}

/// Appends a default that will be lost to the description.
pub(super) fn tell_default(object: &mut Map<String, Value>) {
    if object.contains_key("default") {
        let others: Vec<String> = object.keys().filter(|key| *key != "default").cloned().collect();
        tell(object, &others.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// Whether a value as text would steer a display, or hide something.
fn has_control(value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    text.chars().any(char::is_control) || !hidden_characters(&text).is_empty()
}

/// Whether a text has this number, not as a part of another.
fn holds_number(text: &str, number: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(number).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + number.len()..].chars().next())
    })
}
