//! One schema of any OpenAPI dialect, rewritten as JSON Schema 2020-12 with its `$ref`s in `$defs`.
//!
//! OpenAPI's own keywords (`nullable`, `example`, boolean `exclusiveMinimum`, ...) are read in every dialect, because
//! documents mix them; only the siblings of a `$ref` count from 3.1 on alone.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::discriminator::{ANY_SUBTYPE, Family, Tags, discriminator, leads_to, target_of};
use super::document::{Dialect, Document, Target};
use super::report::{Loss, Report, quote};
use crate::sources::unique_names::DefinitionKeys;
use toolcrib_definition::document::{plain_flag, pointer_push};
use toolcrib_definition::finding::Code;
use toolcrib_definition::schema::walk::{self, KeywordKind};

/// Deepest schema that is read; deeper ones accept any value.
const MAX_DEPTH: usize = 200;
/// Most schemas in which a required name is looked up.
const MAX_FAMILY: usize = 64;
/// Keywords that do not matter for a chain of `allOf`s, or for a `$ref` or `null` beside a schema.
const ANNOTATIONS: [&str; 6] = ["title", "description", "default", "examples", "deprecated", "$comment"];
/// Keywords of a Swagger 2.0 parameter beside its schema.
pub(super) const PARAMETER_WORDS: [&str; 6] =
    ["name", "in", "required", "allowEmptyValue", "collectionFormat", "schema"];

/// Direction of a schema, request or response: `readOnly` is left out of the one, `writeOnly` of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Input,
    Output,
}

/// The rewriting of one schema.
pub(super) struct Lowering<'a, 'd> {
    pub(super) document: &'a Document<'d>,
    pub(super) report: &'a mut Report,
    pub(super) keys: &'a mut DefinitionKeys,
    pub(super) tags: &'a Tags,
    pub(super) families: &'a HashMap<String, Family>,
    pub(super) direction: Direction,
    /// Place of the schema in the document.
    pub(super) pointer: String,
    /// Keys in `$defs` that the schema needs.
    pub(super) refs: IndexSet<String>,
    pub(super) depth: usize,
}

impl Lowering<'_, '_> {
    /// Rewrites a schema.
    pub(super) fn schema(&mut self, schema: &Value) -> Value {
        self.schema_within(schema, None)
    }

    /// Rewrites a Swagger 2.0 parameter, which is a schema with more keywords.
    pub(super) fn parameter(&mut self, parameter: &Value) -> Value {
        let Some(map) = parameter.as_object() else { return json!({}) };
        self.object(map, parameter, &PARAMETER_WORDS)
    }

    /// `family` is the outermost schema of the `allOf`s around this one, whose names belong together.
    fn schema_within(&mut self, schema: &Value, family: Option<&Value>) -> Value {
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(map) if self.depth < MAX_DEPTH => {
                self.depth += 1;
                let lowered = self.object(map, family.unwrap_or(schema), &[]);
                self.depth -= 1;
                lowered
            }
            _ => {
                let message = "not a schema, which is an object or a boolean; the place accepts anything";
                self.report.add(Code::SchemaDoubtful, &self.pointer, message);
                json!({})
            }
        }
    }

    fn object(&mut self, map: &Map<String, Value>, family: &Value, skip: &[&str]) -> Value {
        let mut out = Map::new();
        let reference = map.get("$ref").or_else(|| map.get("$dynamicRef"));
        if let Some(reference) = reference {
            self.reference(reference, &mut out);
        }
        let alone = reference.is_some() && self.document.dialect != Dialect::Draft31;
        for (word, value) in map {
            if !skip.contains(&word.as_str()) && (!alone || word == "description") {
                self.keyword(word, value, map, family, &mut out);
            }
        }
        lower_bounds(&mut out);
        // With a discriminator, a value may fit several branches: the property says which one is meant.
        if map.contains_key("discriminator")
            && !out.contains_key("anyOf")
            && let Some(branches) = out.shift_remove("oneOf")
        {
            out.insert("anyOf".into(), branches);
        }
        self.add_mapped(map, &mut out);
        if let Some((property, names)) = self.tags.get(&self.pointer)
            && let Some(Value::Object(tag)) = out.get_mut("properties").and_then(|all| all.get_mut(property))
            && !tag.contains_key("enum")
            && !tag.contains_key("const")
            && !tag.contains_key("$ref")
        {
            tag.insert("enum".into(), json!(names));
        }
        if is_true(map.get("nullable")) || is_true(map.get("x-nullable")) {
            out = allow_null(out);
        }
        Value::Object(out)
    }

    /// Adds the subtypes that a discriminator maps and that the schema does not list: to its union, else beside the schema
    /// itself. A family has a union of its own.
    fn add_mapped(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let whole = self.pointer.split("/allOf/").next().unwrap_or_default();
        if self.direction != Direction::Input || self.families.contains_key(whole) {
            return;
        }
        let Some((property, mapping)) = discriminator(self.document, map) else { return };
        let union = map.get("anyOf").or_else(|| map.get("oneOf")).and_then(Value::as_array);
        let listed = union.into_iter().flatten().filter_map(|branch| target_of(self.document, branch));
        let listed: HashSet<String> = listed.collect();
        let mut missing: IndexMap<String, Vec<String>> = IndexMap::new();
        for (name, target) in mapping {
            if !listed.contains(&target) && !leads_to(self.document, &target, &self.pointer) {
                missing.entry(target).or_default().push(name);
            }
        }
        if missing.is_empty() {
            return;
        }
        missing.truncate(MAX_FAMILY);
        let branches = missing.into_iter().map(|(pointer, names)| {
            let key = self.keys.of(&pointer);
            self.refs.insert(key.clone());
            json!({ "$ref": format!("#/$defs/{key}"), "properties": { property: { "enum": names } } })
        });
        let mut branches: Vec<Value> = branches.collect();
        if let Some(Value::Array(union)) = out.get_mut("anyOf") {
            union.append(&mut branches);
        } else {
            let (outer, base): (Map<_, _>, Map<_, _>) =
                std::mem::take(out).into_iter().partition(|(word, _)| is_annotation(word));
            branches.push(base.into());
            out.extend(outer.into_iter().chain([("anyOf".to_string(), branches.into())]));
        }
    }

    fn reference(&mut self, reference: &Value, out: &mut Map<String, Value>) {
        let Some(reference) = reference.as_str() else {
            return self.report.invalid(&self.pointer, "$ref", "a $ref is a string; it was left out");
        };
        match self.document.resolve_from(reference, &self.pointer) {
            Target::Local(_, mut pointer) => {
                if self.takes_subtypes(&pointer) {
                    pointer.push_str(ANY_SUBTYPE);
                }
                let key = self.keys.of(&pointer);
                out.insert("$ref".to_string(), Value::String(format!("#/$defs/{key}")));
                self.refs.insert(key);
            }
            Target::Broken => self.report.broken(reference, &self.pointer, self.loss()),
            Target::Remote => self.report.remote(reference, &self.pointer, self.loss()),
        }
    }

    /// Whether a `$ref` to a schema here means any of its subtypes, too. In a subtype it is the base alone.
    fn takes_subtypes(&self, base: &str) -> bool {
        let Some(family) = self.families.get(base) else { return false };
        let is_applied = |rest: &str| {
            !["/properties/", "/items", "/additionalProperties"].iter().any(|word| rest.contains(word))
        };
        let mut within = self.pointer.as_str();
        let mut is_base = within == base;
        while !is_base && let Some((outer, _)) = within.rsplit_once('/') {
            is_base = family.names.contains_key(within) && is_applied(&self.pointer[within.len()..]);
            within = outer;
        }
        self.direction == Direction::Input && !is_base
    }

    /// What a `$ref` without a target costs here.
    fn loss(&self) -> Loss {
        let is_whole = self.direction == Direction::Input && self.depth <= 1;
        if is_whole { Loss::Schema } else { Loss::Part }
    }

    fn keyword(
        &mut self,
        word: &str,
        value: &Value,
        map: &Map<String, Value>,
        family: &Value,
        out: &mut Map<String, Value>,
    ) {
        let kind = kind(word);
        if !fits(kind, word, value) {
            return self.misfit(word, value, out);
        }
        let lowered = match (kind, value) {
            (KeywordKind::Old, _) => return,
            // It would leave no fields to the subtypes.
            _ if matches!(word, "additionalProperties" | "unevaluatedProperties")
                && self.direction == Direction::Input
                && *value == false
                && self.families.contains_key(&self.pointer) =>
            {
                return;
            }
            _ if matches!(word, "example" | "x-example") => {
                if map.contains_key("examples") {
                    return;
                }
                out.insert("examples".to_string(), json!([value]));
                return;
            }
            (KeywordKind::Schema, _) => self.inside(&[word], |this| this.schema(value)),
            (KeywordKind::List, Value::Array(schemas)) => {
                self.list(word, schemas, (word == "allOf").then_some(family))
            }
            (KeywordKind::Named, Value::Object(schemas)) => self.members(word, schemas),
            (KeywordKind::Names, Value::Array(_)) => {
                let mut names: IndexSet<String> = required_of(out).into_iter().collect();
                let visible = |name: &&str| !self.is_hidden_name(name, family);
                names.extend(strings(value).filter(visible).map(str::to_string));
                if names.is_empty() {
                    return;
                }
                names.into_iter().collect()
            }
            (KeywordKind::Type, Value::String(name)) if name == "file" => {
                out.insert("format".to_string(), "binary".into());
                "string".into()
            }
            (KeywordKind::Type, Value::Array(_)) => {
                strings(value).collect::<IndexSet<_>>().into_iter().collect()
            }
            (KeywordKind::Values, Value::Array(values))
                if word == "enum" && is_true(map.get("nullable")) && !values.contains(&Value::Null) =>
            {
                values.iter().cloned().chain([Value::Null]).collect()
            }
            _ => value.clone(),
        };
        out.insert(word.to_string(), lowered);
    }

    fn list(&mut self, word: &str, schemas: &[Value], family: Option<&Value>) -> Value {
        let each = schemas.iter().enumerate().map(|(index, schema)| {
            self.inside(&[word, &index.to_string()], |this| this.schema_within(schema, family))
        });
        each.collect()
    }

    /// The schemas of `properties` and the like, without properties of the other direction.
    fn members(&mut self, word: &str, schemas: &Map<String, Value>) -> Value {
        let mut members = Map::new();
        for (name, schema) in schemas {
            if word == "properties" && self.is_hidden(schema) {
                continue;
            }
            let lowered = self.inside(&[word, name], |this| this.schema(schema));
            members.insert(name.clone(), lowered);
        }
        Value::Object(members)
    }

    /// A keyword with the wrong kind of value: corrected where the meaning is clear, else left out.
    fn misfit(&mut self, word: &str, value: &Value, out: &mut Map<String, Value>) {
        match (word, value) {
            ("items", Value::Array(schemas)) => {
                let lowered = self.list(word, schemas, None);
                out.insert("prefixItems".to_string(), lowered);
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {
                out.insert(word.to_string(), value.clone());
            }
            _ => {
                let message = format!("`{}` has the wrong kind of value; it was left out", quote(word));
                self.report.invalid(&self.pointer, word, message);
            }
        }
    }

    /// Whether a property belongs to the other direction alone, by its own keyword or that of its `$ref`'s target.
    fn is_hidden(&self, schema: &Value) -> bool {
        let word = if self.direction == Direction::Input { "readOnly" } else { "writeOnly" };
        if is_true(schema.get(word)) {
            return true;
        }
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return false };
        matches!(self.document.resolve(reference), Target::Local(target, _) if is_true(target.get(word)))
    }

    /// Whether a required name is that of a hidden property, anywhere in a chain of `allOf`s.
    fn is_hidden_name(&self, name: &str, family: &Value) -> bool {
        let mut queue = vec![family];
        let mut at = 0;
        while let Some(&schema) = queue.get(at) {
            at += 1;
            let property = schema.get("properties").and_then(|all| all.get(name));
            if property.is_some_and(|property| self.is_hidden(property)) {
                return true;
            }
            let reference = schema.get("$ref").and_then(Value::as_str);
            if let Some(Target::Local(target, _)) = reference.map(|to| self.document.resolve(to)) {
                queue.push(target);
            }
            let members = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
            queue.extend(members.take(MAX_FAMILY));
            queue.truncate(MAX_FAMILY);
        }
        false
    }

    fn inside<T>(&mut self, segments: &[&str], then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        segments.iter().for_each(|segment| pointer_push(&mut self.pointer, segment));
        let result = then(self);
        self.pointer.truncate(length);
        result
    }
}

/// Whether a keyword matters for no value.
pub(super) fn is_annotation(word: &str) -> bool {
    ANNOTATIONS.contains(&word)
}

/// Whether a value is true, or says so in a text.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    value.and_then(plain_flag) == Some(true)
}

/// The required names of a rewritten object.
pub(super) fn required_of(schema: &Map<String, Value>) -> Vec<String> {
    schema.get("required").into_iter().flat_map(strings).map(str::to_string).collect()
}

/// Boolean exclusive bounds become numbers.
fn lower_bounds(schema: &mut Map<String, Value>) {
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(Value::Bool(excluded)) = schema.get(exclusive).cloned() else { continue };
        schema.shift_remove(exclusive);
        if excluded && let Some(bound) = schema.shift_remove(inclusive) {
            schema.insert(exclusive.to_string(), bound);
        }
    }
}

/// Lets a rewritten schema accept `null` as well.
fn allow_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let only_null = json!({ "type": "null" });
    let combined = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"]
        .iter()
        .any(|word| schema.contains_key(*word));
    if !combined {
        let types: Vec<Value> = match schema.get("type") {
            None => return schema,
            Some(Value::Array(types)) => types.clone(),
            Some(one) => vec![one.clone()],
        };
        let types: IndexSet<String> =
            types.iter().chain([&"null".into()]).flat_map(Value::as_str).map(str::to_string).collect();
        schema.insert("type".to_string(), types.into_iter().collect());
        return schema;
    }
    let constrains = |word: &&String| !ANNOTATIONS.contains(&word.as_str());
    if schema.keys().filter(constrains).eq(["anyOf"])
        && let Some(Value::Array(choices)) = schema.get_mut("anyOf")
    {
        if !choices.contains(&only_null) {
            choices.push(only_null);
        }
        return schema;
    }
    let (outer, inner): (Map<_, _>, Map<_, _>) =
        schema.into_iter().partition(|(word, _)| ANNOTATIONS.contains(&word.as_str()));
    outer.into_iter().chain([("anyOf".to_string(), json!([inner, only_null]))]).collect()
}

/// The kind of a keyword. `Old` ones are dropped: they are OpenAPI's, or would break the new `$ref`s.
pub(super) fn kind(word: &str) -> KeywordKind {
    match word {
        "$ref" | "$defs" | "discriminator" | "xml" | "externalDocs" | "collectionFormat" => KeywordKind::Old,
        "additionalItems" | "x-example" => KeywordKind::Any,
        _ if word.starts_with("x-") => KeywordKind::Old,
        _ => walk::holds(word),
    }
}

/// Whether a keyword of this kind takes this value. Parts of it that are wrong are reported where they stand.
pub(super) fn fits(kind: KeywordKind, word: &str, value: &Value) -> bool {
    match kind {
        KeywordKind::List => value.as_array().is_some_and(|all| !all.is_empty()),
        KeywordKind::Named => value.is_object(),
        KeywordKind::Names => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        KeywordKind::Type => value.is_string() || strings(value).next().is_some(),
        KeywordKind::Count => value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0),
        KeywordKind::Old | KeywordKind::Unknown => true,
        _ => walk::fits(kind, word, value),
    }
}

/// The strings of a list.
pub(super) fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
