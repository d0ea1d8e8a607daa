//! The properties of a plain object, each of which becomes an argument.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::bundle::{Bundle, Component};
use super::lower::{Direction, strings};
use crate::sources::ref_visitor::refs_in;

/// Most properties that become arguments; a larger body is one argument.
const MAX_PROPERTIES: usize = 500;

/// Longest chain of references and `allOf`s.
const MAX_DEPTH: usize = 24;

/// Keywords of a plain object. `maxProperties` is left to the service.
const PLAIN: [&str; 13] = [
    "type", "properties", "required", "additionalProperties", "allOf", "title", "description", "examples",
    "default", "deprecated", "readOnly", "minProperties", "maxProperties",
];

/// A property of a body.
#[derive(Debug)]
pub struct Property {
    pub schema: Rc<Component>,
    pub required: bool,
}

/// The properties of a plain object.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub(super) properties: IndexMap<String, Rc<Property>>,
    is_object: bool,
    pub(super) is_closed: bool,
    /// Whether the author says that it takes more properties.
    pub(super) is_open: bool,
    /// The fewest properties.
    pub(super) least: u64,
}

/// Plain objects found so far, by their `$ref`; `None` for other schemas.
pub(super) type Memo = HashMap<String, Option<Rc<Plain>>>;

/// The properties of a rewritten schema; `None` for a union, an open object, or another type.
pub(super) fn flatten(schema: &Value, bundle: &mut Bundle<'_, '_>, memo: &mut Memo) -> Option<Rc<Plain>> {
    let mut flattening = Flattening { bundle, memo };
    let plain = flattening.schema(schema, 0)?;
    let usable = !plain.properties.is_empty() || (plain.is_object && plain.is_closed);
    usable.then_some(plain)
}

struct Flattening<'f, 'a, 'd> {
    bundle: &'f mut Bundle<'a, 'd>,
    memo: &'f mut Memo,
}

impl Flattening<'_, '_, '_> {
    /// The base of a family with the properties of its subtypes, all optional; `None` where one is no plain object.
    fn family(&mut self, reference: &str, depth: usize) -> Option<Plain> {
        let (base, subtypes, family) = self.bundle.family(reference)?;
        let property = family.property.clone();
        let names: Vec<String> = family.names.values().flatten().cloned().collect();
        let base = self.schema(&base, depth + 1)?;
        let mut plain = Plain::clone(&base);
        for subtype in &subtypes {
            let subtype = self.schema(subtype, depth + 1)?;
            plain.is_open |= subtype.is_open;
            for (name, property) in &subtype.properties {
                if base.properties.contains_key(name) {
                    continue;
                }
                let mut schema = property.schema.clone();
                if let Some(known) = plain.properties.get(name)
                    && known.schema.value != schema.value
                {
                    schema = either(&known.schema, &schema);
                }
                plain.properties.insert(name.clone(), Rc::new(Property { schema, required: false }));
            }
        }
        if let Some(tag) = plain.properties.get(&property)
            && tag.schema.value.get("enum").is_none()
        {
            let mut schema = tag.schema.value.clone();
            // A property may be `true`, which takes anything.
            if let Value::Object(schema) = &mut schema {
                schema.entry("examples").or_insert_with(|| json!(names));
            }
            let schema = Rc::new(Component::new(schema, tag.schema.refs.clone()));
            plain.properties.insert(property, Rc::new(Property { schema, required: tag.required }));
        }
        (plain.properties.len() <= MAX_PROPERTIES).then_some(plain)
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Rc<Plain>> {
        let map = schema.as_object()?;
        if depth >= MAX_DEPTH {
            return None;
        }
        let Some(reference) = map.get("$ref").and_then(Value::as_str) else {
            return self.object(map, depth).map(Rc::new);
        };
        let alone =
            map.keys().all(|word| matches!(word.as_str(), "$ref" | "title" | "description" | "examples"));
        if !alone {
            return None;
        }
        if let Some(known) = self.memo.get(reference) {
            return known.clone();
        }
        // A schema that refers to itself cannot be flattened, so `None` is stored until it has been read.
        self.memo.insert(reference.to_string(), None);
        let component = self.bundle.target(reference, Direction::Input)?;
        let plain = match self.bundle.family(reference) {
            Some(_) => self.family(reference, depth).map(Rc::new),
            None => self.schema(&component.value, depth + 1),
        };
        self.memo.insert(reference.to_string(), plain.clone());
        plain
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Option<Plain> {
        if !map.keys().all(|word| PLAIN.contains(&word.as_str())) {
            return None;
        }
        let mut plain = Plain { is_object: map.contains_key("type"), ..Plain::default() };
        match map.get("type") {
            None => {}
            Some(Value::String(name)) if name == "object" => {}
            Some(names) if strings(names).any(|name| name == "object") => {}
            Some(_) => return None,
        }
        match map.get("additionalProperties") {
            None => {}
            Some(Value::Bool(false)) => plain.is_closed = true,
            Some(Value::Bool(true)) => plain.is_open = true,
            Some(Value::Object(open)) if open.is_empty() => plain.is_open = true,
            Some(_) => return None,
        }
        plain.least = map.get("minProperties").and_then(Value::as_u64).unwrap_or_default();
        for member in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let member = self.schema(member, depth + 1)?;
            plain.is_object |= member.is_object;
            plain.is_closed |= member.is_closed;
            plain.is_open |= member.is_open;
            plain.least = plain.least.max(member.least);
            for (name, property) in &member.properties {
                plain.add(name, property.clone())?;
            }
        }
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let mut refs = IndexSet::new();
            refs_in(schema, &mut refs);
            let schema = Rc::new(Component::new(schema.clone(), refs.into_iter().collect()));
            plain.add(name, Rc::new(Property { schema, required: false }))?;
        }
        for name in map.get("required").into_iter().flat_map(strings) {
            let schema = match plain.properties.get(name) {
                Some(property) if property.required => continue,
                Some(property) => property.schema.clone(),
                None => Rc::new(Component::open()),
            };
            plain.properties.insert(name.to_string(), Rc::new(Property { schema, required: true }));
        }
        (plain.properties.len() <= MAX_PROPERTIES).then_some(plain)
    }
}

/// A schema of what fits either of two.
fn either(one: &Component, other: &Component) -> Rc<Component> {
    let mut branches = match one.value.get("anyOf") {
        Some(Value::Array(branches)) if one.value.as_object().is_some_and(|map| map.len() == 1) => {
            branches.clone()
        }
        _ => vec![one.value.clone()],
    };
    if !branches.contains(&other.value) {
        branches.push(other.value.clone());
    }
    let refs: IndexSet<String> = one.refs.iter().chain(&other.refs).cloned().collect();
    Rc::new(Component::new(json!({ "anyOf": branches }), refs.into_iter().collect()))
}

impl Plain {
    /// Adds a property; `None` when there are too many, or when another one of its name differs.
    fn add(&mut self, name: &str, property: Rc<Property>) -> Option<()> {
        let is_open = |schema: &Value| schema.as_object().is_some_and(Map::is_empty);
        let merged = match self.properties.get(name) {
            None => property,
            Some(known) => {
                let schema = match (&known.schema, &property.schema) {
                    (one, other) if is_open(&other.value) || one.value == other.value => one.clone(),
                    (one, other) if is_open(&one.value) => other.clone(),
                    _ => return None,
                };
                Rc::new(Property { schema, required: known.required || property.required })
            }
        };
        self.properties.insert(name.to_string(), merged);
        (self.properties.len() <= MAX_PROPERTIES).then_some(())
    }
}
