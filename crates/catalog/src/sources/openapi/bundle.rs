//! Rewritten schemas, each once per document, and the `$defs` that a tool needs of them.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::discriminator::{ANY_SUBTYPE, Family, Tags, families, gather_tags};
use super::document::Document;
use super::lower::{Direction, Lowering};
use super::report::Report;
use crate::sources::budget::weight;
use crate::sources::unique_names::DefinitionKeys;
use toolcrib_definition::finding::Code;

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
    families: HashMap<String, Family>,
}

impl<'a, 'd> Bundle<'a, 'd> {
    pub(super) fn new(document: &'a Document<'d>, report: Report) -> Self {
        let mut tags = Tags::new();
        gather_tags(document, document.root, 0, &mut tags);
        let families = families(document);
        Self { document, report, components: HashMap::new(), keys: DefinitionKeys::default(), tags, families }
    }

    /// The base of a family that a `$ref` leads to, and its subtypes, each as a `$ref`; with the family.
    pub(super) fn family(&mut self, reference: &str) -> Option<(Value, Vec<Value>, &Family)> {
        let base = self.keys.pointer(reference)?.strip_suffix(ANY_SUBTYPE)?.to_string();
        let family = self.families.get(&base)?;
        let mut refer = |pointer: &String| json!({ "$ref": format!("#/$defs/{}", self.keys.of(pointer)) });
        Some((refer(&base), family.names.keys().map(&mut refer).collect(), family))
    }

    /// The union of a family: each subtype with its values of the discriminator, then the base for all other values.
    fn union(&mut self, reference: &str) -> Option<Rc<Component>> {
        let memo = (Direction::Input, self.keys.pointer(reference)?.to_string());
        if let Some(component) = self.components.get(&memo) {
            return Some(component.clone());
        }
        let (base, mut branches, family) = self.family(reference)?;
        for (branch, names) in branches.iter_mut().zip(family.names.values()) {
            branch["properties"] = json!({ &family.property: { "enum": names } });
        }
        let is_cut = family.is_cut;
        branches.push(base);
        let refs = branches.iter().filter_map(|branch| branch["$ref"].as_str()?.strip_prefix("#/$defs/"));
        let refs = refs.map(str::to_string).collect();
        if is_cut {
            let message = "too many schemas extend this; fields of some of them are not described";
            let base = memo.1.trim_end_matches(ANY_SUBTYPE);
            self.report.add(Code::SchemaDoubtful, base, message);
        }
        let component = Rc::new(Component::new(json!({ "anyOf": branches }), refs));
        self.components.insert(memo, component.clone());
        Some(component)
    }

    /// Whether a place is in a schema that requests have.
    pub(super) fn is_input(&self, pointer: &str) -> bool {
        let ends = pointer.match_indices('/').map(|(end, _)| end).chain([pointer.len()]);
        ends.map(|end| (Direction::Input, pointer[..end].to_string()))
            .any(|memo| self.components.contains_key(&memo))
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
        if pointer.ends_with(ANY_SUBTYPE) {
            return self.union(reference);
        }
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
            families: &self.families,
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
