//! Rewritten schemas, each once per document, and the `$defs` that a tool needs of them.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::discriminator::{Tags, discriminator, gather_tags, target_of};
use super::document::Document;
use super::lower::{Direction, Lowering};
use super::report::Report;
use crate::sources::budget::weight;
use crate::sources::unique_names::DefinitionKeys;
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
    pub(super) report: Report,
    components: HashMap<(Direction, String), Rc<Component>>,
    keys: DefinitionKeys,
    tags: Tags,
}

impl<'a, 'd> Bundle<'a, 'd> {
    pub(super) fn new(document: &'a Document<'d>, report: Report) -> Self {
        let mut tags = Tags::new();
        gather_tags(document, document.root, 0, &mut tags);
        Self { document, report, components: HashMap::new(), keys: DefinitionKeys::default(), tags }
    }

    /// The schemas that extend the one of a `$ref`, where that has a `discriminator` and does not list them: the property
    /// that tells them apart, and the name and `$ref` of each.
    pub(super) fn subtypes(&mut self, reference: &str) -> Option<(String, Vec<(String, String)>)> {
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
    pub(super) fn schema(&mut self, schema: &Value, pointer: &str, way: Direction) -> Rc<Component> {
        self.rewritten(pointer, way, |lowering| lowering.schema(schema))
    }

    /// The schema of a Swagger 2.0 parameter at a pointer.
    pub(super) fn parameter(&mut self, parameter: &Value, pointer: &str) -> Rc<Component> {
        self.rewritten(pointer, Direction::Input, |lowering| lowering.parameter(parameter))
    }

    /// The component that a rewritten `$ref` points to.
    pub(super) fn target(&mut self, reference: &str, way: Direction) -> Option<Rc<Component>> {
        let pointer = self.keys.pointer(reference)?.to_string();
        let schema = self.document.at(&pointer)?;
        Some(self.schema(schema, &pointer, way))
    }

    /// The `$defs` for `refs` and for everything that they need in turn. Parts over `budget` accept any value, and
    /// are counted.
    pub(super) fn definitions(
        &mut self,
        refs: impl IntoIterator<Item = String>,
        way: Direction,
        budget: &mut usize,
    ) -> (Map<String, Value>, usize) {
        let mut needed: IndexSet<String> = refs.into_iter().collect();
        let mut definitions = Map::new();
        let mut left_open = 0;
        let mut at = 0;
        while let Some(key) = needed.get_index(at).cloned() {
            at += 1;
            let Some(component) = self.target(&format!("#/$defs/{key}"), way) else { continue };
            let whole = component.weight + key.len();
            let fits = whole <= *budget;
            *budget = budget.saturating_sub(if fits { whole } else { key.len() + weight(&Value::Null) });
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
        rewrite: impl FnOnce(&mut Lowering<'_, 'd>) -> Value,
    ) -> Rc<Component> {
        let memo = (direction, pointer.to_string());
        if let Some(component) = self.components.get(&memo) {
            return component.clone();
        }
        let mut lowering = Lowering {
            document: self.document,
            report: &mut self.report,
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
