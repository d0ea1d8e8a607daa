//! Replaces names of properties that a provider refuses; the same name gets the same replacement at every depth. Calls
//! get the canonical names again, where the schema has such properties; other keys of an open object stay as they are.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::defs::DEFS;
use super::dialect::to_2020_12;
use super::loosened::{Loosened, guard};
use super::rules::Keys;
use toolcrib_definition::schema::walk::{KeywordKind, each_mut, holds, in_place};

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

/// Most schemas that are visited for one call. Beyond that, names stay as they are given, and the schema decides.
const MAX_LOOKED_AT: usize = 500_000;

/// The properties of a schema that a provider knows by other names.
#[derive(Debug)]
pub(crate) struct Renaming {
    /// Canonical names by the ones that the provider sees.
    names: HashMap<String, String>,
    /// The schema as [`to_2020_12`] makes it: its names are canonical, and references lead to its own definitions.
    schema: Value,
}

impl Renaming {
    /// `None` where the provider sees all properties by their canonical names.
    pub(crate) fn of(schema: &Value, keys: Keys) -> Option<Self> {
        let names: HashMap<String, String> = renamed(schema, keys).into_iter().collect();
        (!names.is_empty())
            .then(|| Self { names, schema: to_2020_12(schema, false, &mut Loosened::default()) })
    }

    /// Gives the properties in these arguments their canonical names.
    pub(crate) fn undo(&self, arguments: &mut Value) {
        if self.is_met(arguments) {
            Undoing { names: &self.names, root: &self.schema, left: MAX_LOOKED_AT }
                .value(arguments, vec![&self.schema]);
        }
    }

    fn is_met(&self, value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| self.is_met(item)),
            Value::Object(fields) => {
                fields.iter().any(|(name, field)| self.names.contains_key(name) || self.is_met(field))
            }
            _ => false,
        }
    }
}

struct Undoing<'a> {
    names: &'a HashMap<String, String>,
    root: &'a Value,
    left: usize,
}

impl<'a> Undoing<'a> {
    /// `schemas` apply to this value.
    fn value(&mut self, value: &mut Value, schemas: Vec<&'a Value>) {
        match value {
            Value::Array(items) => {
                let schemas = self.applied(schemas);
                for (index, item) in items.iter_mut().enumerate() {
                    let of_item =
                        self.children(item, &schemas, |schema, found| of_item(schema, index, found));
                    self.value(item, of_item);
                }
            }
            Value::Object(fields) => {
                let schemas = self.applied(schemas);
                self.names(fields, &schemas);
                for (name, field) in fields.iter_mut() {
                    let of_field =
                        self.children(field, &schemas, |schema, found| of_property(schema, name, found));
                    self.value(field, of_field);
                }
            }
            _ => {}
        }
    }

    /// These schemas, and the ones that they apply to the same value; each once, despite cycles of references.
    fn applied(&mut self, mut schemas: Vec<&'a Value>) -> Vec<&'a Map<String, Value>> {
        let mut seen = HashSet::new();
        let mut applied = Vec::new();
        while let Some(schema) = schemas.pop() {
            let Some(object) = schema.as_object() else { continue };
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            if !self.looks_at(1) {
                return Vec::new();
            }
            applied.push(object);
            schemas.extend(in_place(object));
            schemas.extend(object.get("$ref").and_then(Value::as_str).and_then(|to| self.target(to)));
        }
        applied
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        match reference.strip_prefix(DEFS) {
            Some(name) => self.root.get("$defs")?.get(name),
            None => Some(self.root),
        }
    }

    /// The schemas of a part of the value; empty for a part without properties.
    fn children(
        &mut self,
        part: &Value,
        schemas: &[&'a Map<String, Value>],
        find: impl Fn(&'a Map<String, Value>, &mut Vec<&'a Value>),
    ) -> Vec<&'a Value> {
        let mut found = Vec::new();
        if (part.is_object() || part.is_array()) && self.looks_at(schemas.len()) {
            schemas.iter().for_each(|schema| find(schema, &mut found));
        }
        found
    }

    /// A name that is taken is not overwritten.
    fn names(&mut self, fields: &mut Map<String, Value>, schemas: &[&'a Map<String, Value>]) {
        let all = self.names;
        let canonical = |name: &String| {
            let canonical = all.get(name).filter(|canonical| !fields.contains_key(*canonical))?;
            let is_property = self.looks_at(schemas.len()) && schemas.iter().any(|one| names(one, canonical));
            is_property.then_some(canonical)
        };
        let canonical: Vec<Option<&String>> = fields.keys().map(canonical).collect();
        if canonical.iter().any(Option::is_some) {
            let renamed = std::mem::take(fields).into_iter().zip(canonical);
            *fields = renamed.map(|((name, field), back)| (back.cloned().unwrap_or(name), field)).collect();
        }
    }

    fn looks_at(&mut self, schemas: usize) -> bool {
        let left = self.left.checked_sub(schemas);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

fn named<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a Map<String, Value>> {
    schema.get(keyword).and_then(Value::as_object)
}

/// Whether a schema names a property, in any of the places where [`rename`] does.
fn names(schema: &Map<String, Value>, property: &str) -> bool {
    let lists = |list: &Value| list.as_array().is_some_and(|names| names.iter().any(|name| name == property));
    ["properties", "dependentSchemas", "dependentRequired"]
        .iter()
        .any(|keyword| named(schema, keyword).is_some_and(|named| named.contains_key(property)))
        || schema.get("required").is_some_and(lists)
        || named(schema, "dependentRequired").is_some_and(|named| named.values().any(lists))
}

/// The schemas of a property. Where patterns decide between properties, [`rename`] removes both.
fn of_property<'a>(schema: &'a Map<String, Value>, name: &str, found: &mut Vec<&'a Value>) {
    if let Some(own) = named(schema, "properties").and_then(|properties| properties.get(name)) {
        found.push(own);
    } else if !schema.contains_key("patternProperties") {
        found.extend(schema.get("additionalProperties"));
        found.extend(schema.get("unevaluatedProperties"));
    }
}

fn of_item<'a>(schema: &'a Map<String, Value>, index: usize, found: &mut Vec<&'a Value>) {
    let by_position = schema.get("prefixItems").and_then(|items| items.get(index));
    match by_position {
        Some(own) => found.push(own),
        None => {
            found.extend(schema.get("items"));
            found.extend(schema.get("unevaluatedItems"));
        }
    }
    found.extend(schema.get("contains"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, given: Value, expect: Value) {
        let mut got = given;
        Renaming::of(schema, Keys::Portable).unwrap().undo(&mut got);
        assert_eq!(got.to_string(), expect.to_string());
    }

    #[test]
    fn names_come_back_where_the_schema_has_them() {
        let schema = json!({ "type": "object", "properties": {
            "$filter": { "type": "string" },
            "where": { "type": "object" },
            "page[size]": { "anyOf": [{ "$ref": "#/$defs/tree" }, { "type": "null" }] },
            "list": { "type": "array", "prefixItems": [{ "type": "object" }], "items": { "$ref": "#/$defs/tree" } },
            "more": { "additionalProperties": { "allOf": [{ "$ref": "#/$defs/tree" }] } },
        }, "$defs": { "tree": { "properties": { "@type": {}, "below": { "$ref": "#/$defs/tree" } }, "required": ["a b"] } } });
        check(&schema, json!({ "x": 1, "filter": "f", "y": 2 }), json!({ "x": 1, "$filter": "f", "y": 2 }));
        let open = json!({ "where": { "filter": 1, "type": "and", "below": [{ "page_size": 2 }] } });
        check(&schema, open.clone(), open);
        check(
            &schema,
            json!({ "page_size": { "type": "a", "filter": 1, "below": { "type": 2, "a_b": 3 } } }),
            json!({ "page[size]": { "@type": "a", "filter": 1, "below": { "@type": 2, "a b": 3 } } }),
        );
        check(
            &schema,
            json!({ "list": [{ "type": 1 }, { "type": 1 }], "more": { "type": { "type": 1 } } }),
            json!({ "list": [{ "type": 1 }, { "@type": 1 }], "more": { "type": { "@type": 1 } } }),
        );
        let both = json!({ "filter": 1, "$filter": 2 });
        check(&schema, both.clone(), both);
    }

    #[test]
    fn schemas_of_any_draft_and_in_circles_are_read() {
        let circle = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": { "a": { "$ref": "#/definitions/one" }, "b": { "items": [{ "$ref": "#named" }] } },
            "definitions": {
                "one": { "anyOf": [{ "$ref": "#/definitions/two" }] },
                "two": { "$id": "#named", "anyOf": [{ "$ref": "#/definitions/one" }, { "properties": { "$x": { "$ref": "#" } } }] },
            } });
        let given = json!({ "x": 1, "a": { "x": { "a": { "x": 1 }, "x": 2 } }, "b": [{ "x": 1 }] });
        let expect = json!({ "x": 1, "a": { "$x": { "a": { "$x": 1 }, "x": 2 } }, "b": [{ "$x": 1 }] });
        check(&circle, given, expect);
    }

    #[test]
    fn the_work_for_one_call_has_an_end() {
        let branches: Vec<Value> = (0..2_000)
            .map(|index| json!({ "properties": { format!("${index}"): { "$ref": "#" } } }))
            .collect();
        let schema = json!({ "type": "object", "additionalProperties": { "$ref": "#" }, "anyOf": branches });
        let mut given = json!({ "1": { "2": {} }, "far": vec![json!({ "1": [] }); 2_000] });
        given["wide"] = (0..2_000).map(|index| (index.to_string(), json!({ "3": {} }))).collect();
        let started = std::time::Instant::now();
        Renaming::of(&schema, Keys::Portable).unwrap().undo(&mut given);
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
        assert_eq!(given["$1"], json!({ "$2": {} }));
    }
}
