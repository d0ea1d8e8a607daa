//! Rewritten schemas, each once per document, and the `$defs` that a tool needs of them.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::definition_keys::DefinitionKeys;
use super::document::Document;
use super::lower::{Direction, Lowering};
use super::report::Report;

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
}

/// The rewritten schemas of a document.
pub(super) struct Bundle<'a, 'd> {
    document: &'a Document<'d>,
    components: HashMap<(Direction, String), Rc<Component>>,
    keys: DefinitionKeys,
}

impl<'a, 'd> Bundle<'a, 'd> {
    pub(super) fn new(document: &'a Document<'d>) -> Self {
        Self { document, components: HashMap::new(), keys: DefinitionKeys::default() }
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
        let (mut definitions, mut left_open) = (Map::new(), 0);
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
