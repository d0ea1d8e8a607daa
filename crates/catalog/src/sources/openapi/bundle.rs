//! Rewritten schemas, each once per document, and the `$defs` that a tool needs of them.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::document::{Document, Report, Target};
use super::lower::{Direction, Lowering, strings};
use super::paths::DefinitionKeys;
use toolcrib_definition::finding::pointer_join;

/// A rewritten schema.
#[derive(Debug, Default)]
pub(super) struct Component {
    pub(super) value: Value,
    /// Keys in `$defs` that it needs.
    pub(super) refs: Vec<String>,
    /// Estimated bytes of memory: four to five times its JSON.
    pub(super) weight: usize,
}

impl Component {
    pub(super) fn new(value: Value, refs: Vec<String>) -> Self {
        let weight = weight(&value);
        Self { value, refs, weight }
    }

    /// A schema that accepts anything.
    pub(super) fn open() -> Self {
        Self::new(json!({}), Vec::new())
    }

    /// Whether it accepts any value.
    pub(super) fn is_open(&self) -> bool {
        self.value.as_object().is_some_and(Map::is_empty)
    }
}

/// The rewritten schemas of a document.
pub(super) struct Bundle<'a, 'd> {
    document: &'a Document<'d>,
    components: HashMap<(Direction, String), Rc<Component>>,
    keys: DefinitionKeys,
    tags: Tags,
}

/// The property by which a `discriminator` tells a schema from others, and its values for that, by the pointer of the schema.
pub(super) type Tags = HashMap<String, (String, IndexSet<String>)>;

/// The tags of all schemas in a part of a document.
fn gather_tags(document: &Document<'_>, value: &Value, depth: usize, tags: &mut Tags) {
    if depth > MAX_NESTED {
        return;
    }
    match value {
        Value::Object(map) => {
            let union = ["oneOf", "anyOf"].iter().find_map(|key| map.get(*key)?.as_array());
            if let (Some(union), Some((property, names))) = (union, discriminator(document, map)) {
                for pointer in union.iter().filter_map(|branch| target_of(document, branch)) {
                    let (_, values) =
                        tags.entry(pointer.clone()).or_insert_with(|| (property.into(), IndexSet::new()));
                    let named = names.iter().filter(|(_, target)| *target == pointer);
                    let named: Vec<String> = named.map(|(name, _)| name.clone()).collect();
                    let own = || vec![last_segment(&pointer)];
                    values.extend(if named.is_empty() { own() } else { named });
                }
            }
            map.values().for_each(|value| gather_tags(document, value, depth + 1, tags));
        }
        Value::Array(items) => items.iter().for_each(|item| gather_tags(document, item, depth + 1, tags)),
        _ => {}
    }
}

/// The property of a `discriminator`, and its mapping: names, each with the pointer of its schema.
fn discriminator<'v>(
    document: &Document<'_>,
    schema: &'v Map<String, Value>,
) -> Option<(&'v str, Vec<(String, String)>)> {
    let told = schema.get("discriminator")?;
    // Swagger 2.0 has the property alone.
    let property = told.as_str().or_else(|| told.get("propertyName")?.as_str())?;
    let mapping = told.get("mapping").and_then(Value::as_object).into_iter().flatten();
    let names = mapping.filter_map(|(name, target)| {
        let target = target.as_str()?;
        let reference =
            if target.contains('/') { target.into() } else { format!("#/components/schemas/{target}") };
        Some((name.clone(), target_of(document, &json!({ "$ref": reference }))?))
    });
    Some((property, names.collect()))
}

fn target_of(document: &Document<'_>, schema: &Value) -> Option<String> {
    match document.resolve_from(schema.get("$ref")?.as_str()?, "") {
        Target::Local(_, pointer) => Some(pointer),
        _ => None,
    }
}

fn last_segment(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().to_string()
}

impl<'a, 'd> Bundle<'a, 'd> {
    pub(super) fn new(document: &'a Document<'d>) -> Self {
        let mut tags = Tags::new();
        gather_tags(document, document.root, 0, &mut tags);
        Self { document, components: HashMap::new(), keys: DefinitionKeys::default(), tags }
    }

    /// The schemas that extend the one of a `$ref`, where that has a `discriminator` and does not list them: the property
    /// that tells them apart, and the name and `$ref` of each.
    fn subtypes(&mut self, reference: &str) -> Option<(String, Vec<(String, String)>)> {
        let pointer = self.keys.pointer(reference)?.to_string();
        let schema = self.document.at(&pointer)?.as_object()?;
        let (property, names) = discriminator(self.document, schema)?;
        if ["oneOf", "anyOf"].iter().any(|key| schema.contains_key(*key)) {
            return None;
        }
        let (folder, _) = pointer.rsplit_once('/')?;
        let extends = |schema: &Value| {
            let bases = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
            bases.filter_map(|base| target_of(self.document, base)).any(|base| base == pointer)
        };
        let known = self.document.at(folder)?.as_object()?.iter().filter(|(_, schema)| extends(schema));
        let found: Vec<(String, String)> = known
            .map(|(name, _)| {
                let at = pointer_join(folder, name);
                let named = names.iter().find(|(_, target)| *target == at).map(|(name, _)| name.clone());
                (named.unwrap_or_else(|| name.clone()), at)
            })
            .collect();
        let keyed = found.into_iter().map(|(name, at)| (name, format!("#/$defs/{}", self.keys.of(&at))));
        Some((property.to_string(), keyed.collect()))
    }

    /// The schema at a pointer, rewritten.
    pub(super) fn schema(
        &mut self,
        schema: &Value,
        pointer: &str,
        way: Direction,
        report: &mut Report,
    ) -> Rc<Component> {
        self.rewritten(pointer, way, report, |lowering| lowering.schema(schema))
    }

    /// The schema of a Swagger 2.0 parameter at a pointer.
    pub(super) fn parameter(
        &mut self,
        parameter: &Value,
        pointer: &str,
        report: &mut Report,
    ) -> Rc<Component> {
        self.rewritten(pointer, Direction::Input, report, |lowering| lowering.parameter(parameter))
    }

    /// The component that a rewritten `$ref` points to.
    pub(super) fn target(
        &mut self,
        reference: &str,
        way: Direction,
        report: &mut Report,
    ) -> Option<Rc<Component>> {
        let pointer = self.keys.pointer(reference)?.to_string();
        let schema = self.document.at(&pointer)?;
        Some(self.schema(schema, &pointer, way, report))
    }

    /// The `$defs` for `refs` and for everything that they need in turn. Parts over `budget` accept any value, and
    /// are counted.
    pub(super) fn definitions(
        &mut self,
        refs: impl IntoIterator<Item = String>,
        way: Direction,
        budget: &mut usize,
        report: &mut Report,
    ) -> (Map<String, Value>, usize) {
        let mut needed: IndexSet<String> = refs.into_iter().collect();
        let mut definitions = Map::new();
        let mut left_open = 0;
        let mut at = 0;
        while let Some(key) = needed.get_index(at).cloned() {
            at += 1;
            let Some(component) = self.target(&format!("#/$defs/{key}"), way, report) else { continue };
            let weight = component.weight + key.len();
            let fits = weight <= *budget;
            *budget = budget.saturating_sub(if fits { weight } else { key.len() + weight_of_open() });
            if fits {
                needed.extend(component.refs.iter().cloned());
                definitions.insert(key, component.value.clone());
            } else {
                left_open += 1;
                definitions.insert(key, json!({}));
            }
        }
        (definitions, left_open)
    }

    fn rewritten(
        &mut self,
        pointer: &str,
        direction: Direction,
        report: &mut Report,
        rewrite: impl FnOnce(&mut Lowering<'_, 'd>) -> Value,
    ) -> Rc<Component> {
        let memo = (direction, pointer.to_string());
        if let Some(component) = self.components.get(&memo) {
            return component.clone();
        }
        let mut lowering = Lowering {
            document: self.document,
            report,
            keys: &mut self.keys,
            tags: &self.tags,
            direction,
            pointer: pointer.to_string(),
            refs: IndexSet::new(),
            depth: 0,
        };
        let value = rewrite(&mut lowering);
        let component = Rc::new(Component::new(value, lowering.refs.into_iter().collect()));
        self.components.insert(memo, component.clone());
        component
    }
}

/// Estimated bytes of memory of a value.
pub(in crate::sources) fn weight(value: &Value) -> usize {
    64 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| 32 + key.len() + weight(value)).sum(),
        _ => 0,
    }
}

fn weight_of_open() -> usize {
    weight(&Value::Null)
}

/// Keys in `$defs` that a rewritten schema, or a part of one, names. Data that looks like a `$ref` may add a key that
/// is not needed.
pub(in crate::sources) fn refs_in(schema: &Value, found: &mut IndexSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| refs_in(item, found)),
        Value::Object(map) => {
            let key = map
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix("#/$defs/"));
            found.extend(key.map(str::to_string));
            map.values().for_each(|value| refs_in(value, found));
        }
        _ => {}
    }
}

/// Most properties that become arguments; a larger body is one argument.
const MAX_PROPERTIES: usize = 500;
/// Longest chain of references and `allOf`s.
const MAX_DEPTH: usize = 24;
/// Deepest part of a document in which a `discriminator` is found.
const MAX_NESTED: usize = 64;
/// Keywords of a plain object. `minProperties` and the like are left to the service.
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
}

/// Plain objects found so far, by their `$ref`; `None` for other schemas.
pub(super) type Memo = HashMap<String, Option<Rc<Plain>>>;

/// The properties of a rewritten schema; `None` for a union, an open object, or another type.
pub(super) fn flatten(
    schema: &Value,
    bundle: &mut Bundle<'_, '_>,
    memo: &mut Memo,
    report: &mut Report,
) -> Option<Rc<Plain>> {
    let mut flattening = Flattening { bundle, memo, report };
    let mut plain = flattening.schema(schema, 0)?;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
        && let Some((property, subtypes)) = flattening.bundle.subtypes(reference)
    {
        plain = Rc::new(flattening.with_subtypes(&plain, &property, &subtypes));
    }
    let usable = !plain.properties.is_empty() || (plain.is_object && plain.is_closed);
    usable.then_some(plain)
}

struct Flattening<'f, 'a, 'd> {
    bundle: &'f mut Bundle<'a, 'd>,
    memo: &'f mut Memo,
    report: &'f mut Report,
}

impl Flattening<'_, '_, '_> {
    /// A base schema with the properties of what extends it, all optional.
    fn with_subtypes(&mut self, base: &Plain, property: &str, subtypes: &[(String, String)]) -> Plain {
        let mut plain = base.clone();
        for (_, reference) in subtypes {
            let Some(subtype) = self.schema(&json!({ "$ref": reference }), 0) else {
                plain.is_open = true;
                continue;
            };
            for (name, property) in &subtype.properties {
                if plain.properties.contains_key(name) {
                    continue;
                }
                let property = Property { schema: property.schema.clone(), required: false };
                plain.is_open |= plain.add(name, Rc::new(property)).is_none();
            }
        }
        if let Some(tag) = plain.properties.get(property)
            && tag.schema.value.get("enum").is_none()
            && !subtypes.is_empty()
        {
            let mut schema = tag.schema.value.clone();
            let names: Vec<&String> = subtypes.iter().map(|(name, _)| name).collect();
            // A property may be `true`, which takes anything.
            if let Value::Object(schema) = &mut schema {
                schema.entry("examples").or_insert_with(|| json!(names));
            }
            let schema = Rc::new(Component::new(schema, tag.schema.refs.clone()));
            plain.properties.insert(property.into(), Rc::new(Property { schema, required: tag.required }));
        }
        plain
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Rc<Plain>> {
        let map = schema.as_object().filter(|_| depth < MAX_DEPTH)?;
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
        let component = self.bundle.target(reference, Direction::Input, self.report)?;
        let plain = self.schema(&component.value, depth + 1);
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
        for member in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let member = self.schema(member, depth + 1)?;
            plain.is_object |= member.is_object;
            plain.is_closed |= member.is_closed;
            plain.is_open |= member.is_open;
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
