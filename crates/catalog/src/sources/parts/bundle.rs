//! Schemas of tools that refer to other files, bundled: everything that they refer to is in their own `$defs`. The author's
//! schema stays as it is where it refers to no file. References within a file stay references, so that recursive schemas stay
//! recursive.

use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::places::PartPlaces;
use super::referenced_files::{PartTarget, Reason, References, stem};
use crate::sources::budget::{TOOL_BUDGET, TOTAL_BUDGET, weight};
use crate::sources::formats::RESULT_KEYS;
use crate::sources::raw_tool::RawTool;
use crate::sources::ref_visitor::{refers_outside, refs_in, visit_objects};
use crate::sources::unique_names::DefinitionKeys;
use toolcrib_definition::Schema;
use toolcrib_definition::document::{Document, SchemaNames, pointer_join, pointer_split, pointer_to};
use toolcrib_definition::finding::Finding;

/// Names that a schema gives itself. They would make the references in it relative to themselves.
const OWN_NAMES: [&str; 5] = ["$id", "id", "$schema", "$anchor", "$dynamicAnchor"];

/// Bundles the schemas of tools that refer to other files.
pub(in super::super) fn bundle_all(
    document: &Document,
    tools: &mut [RawTool],
    references: &mut References<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut budget = TOTAL_BUDGET;
    for tool in tools {
        let file = document.file.as_str();
        let mut bundled = |schema: &mut Option<Schema>, at: &str| {
            let written = schema.as_ref()?.value();
            let (value, places) = bundle(written, file, at, references, &mut budget)?;
            if value != *written {
                *schema = Some(Schema::from_value(value));
            }
            Some(places)
        };
        let at = tool.parameters.as_ref().unwrap_or(&tool.place.pointer);
        let of_parameters = bundled(&mut tool.definition.parameters, at);
        let others = [
            (&mut tool.definition.result_schema, &RESULT_KEYS[..]),
            (&mut tool.definition.provider_schema, &["provider_schema", "providerSchema"][..]),
        ];
        let of_others = others.map(|(schema, keys)| {
            schema.as_ref()?;
            let mut pointers = keys.iter().map(|key| pointer_join(&tool.body, key));
            let at = pointers.find(|at| document.value.pointer(at).is_some_and(Value::is_object));
            bundled(schema, &at.unwrap_or_default())
        });
        // The catalog reports the other references in parameters, and checks no other schema.
        findings.extend(
            of_parameters
                .iter()
                .flat_map(|places| places.findings(file, &tool.definition.name, Reason::leaves_open)),
        );
        findings.extend(
            of_others
                .iter()
                .flatten()
                .flat_map(|places| places.findings(file, &tool.definition.name, |_| true)),
        );
        tool.part_places = of_parameters.map(Arc::new);
    }
}

/// The bundle of a schema at `pointer` in `file`; `None` if it refers to no other file. `budget` is the memory that is
/// left for the bundles of this file.
fn bundle(
    schema: &Value,
    file: &str,
    pointer: &str,
    references: &mut References<'_>,
    budget: &mut usize,
) -> Option<(Value, PartPlaces)> {
    if !refers_outside(schema) {
        return None;
    }
    let mut bundle = PartBundle {
        references,
        keys: DefinitionKeys::default(),
        names: SchemaNames::of(schema, &["$id", "id"]),
        pointer,
        targets: IndexSet::new(),
        places: PartPlaces::default(),
        budget: TOOL_BUDGET.min(*budget),
    };
    let written = schema.get("$defs").and_then(Value::as_object);
    written.into_iter().flat_map(Map::keys).for_each(|key| bundle.keys.reserve(key));
    let mut value = schema.clone();
    let before = bundle.budget;
    bundle.references_in(&mut value, file, false, "");
    let definitions = bundle.definitions();
    *budget -= before - bundle.budget;
    if let Value::Object(root) = &mut value
        && !definitions.is_empty()
    {
        match root.entry("$defs").or_insert_with(|| Map::new().into()) {
            Value::Object(written) => written.extend(definitions),
            wrong => *wrong = definitions.into(),
        }
    }
    let mut places = bundle.places;
    open_root(&mut value, pointer, &mut places);
    Some((value, places))
}

struct PartBundle<'b, 'p> {
    references: &'b mut References<'p>,
    keys: DefinitionKeys,
    /// The names within the author's schema.
    names: SchemaNames,
    /// Place of the author's schema.
    pointer: &'b str,
    targets: IndexSet<PartTarget>,
    places: PartPlaces,
    budget: usize,
}

impl PartBundle<'_, '_> {
    /// The definitions that the schema needs, and those that they need in turn.
    fn definitions(&mut self) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut at = 0;
        while let Some(target) = self.targets.get_index(at).cloned() {
            at += 1;
            let Some(mut value) = self.references.value(&target).cloned() else { continue };
            let key = self.key(&target);
            let pointer = pointer_join("/$defs", &key);
            self.references_in(&mut value, &target.file, true, &pointer);
            self.places.add(format!("{}{pointer}", self.pointer), &target);
            definitions.insert(key, value);
        }
        definitions
    }

    fn key(&mut self, target: &PartTarget) -> String {
        let whole = pointer_to("", &[&target.file, stem(&target.file)]);
        self.keys.of(&format!("{whole}{}", target.pointer))
    }

    /// Points the references to files, below a value of `file`, into the `$defs` of the bundle.
    fn references_in(&mut self, value: &mut Value, file: &str, is_part: bool, pointer: &str) {
        visit_objects(value, pointer, false, &mut |object, pointer| {
            if is_part {
                object.retain(|key, value| !OWN_NAMES.contains(&key.as_str()) || !value.is_string());
            }
            self.reference(object, file, is_part, pointer);
        });
    }

    fn reference(&mut self, object: &mut Map<String, Value>, file: &str, is_part: bool, pointer: &str) {
        let Some(reference) = object.get("$ref").and_then(Value::as_str) else { return };
        let is_own = reference.starts_with('#') || self.names.pointer(reference).is_some();
        if !is_part && (is_own || !self.names.base(pointer).is_empty()) {
            return;
        }
        let target = self.references.target(reference, file);
        let reference = reference.to_string();
        match target.map(|target| target.and_then(|target| self.take(target))) {
            None => {}
            Some(Ok(key)) => {
                object.insert("$ref".into(), format!("#/$defs/{key}").into());
            }
            Some(Err(reason)) => {
                let leaves_open = reason.leaves_open();
                self.places.refuse(format!("{}{pointer}/$ref", self.pointer), &reference, reason);
                if leaves_open {
                    object.shift_remove("$ref");
                } else if reference.starts_with('#') {
                    // Later stages know by the name of a file that it was not followed.
                    object.insert("$ref".into(), format!("{}{reference}", file).into());
                }
            }
        }
    }

    /// The key of a target in `$defs`.
    fn take(&mut self, target: PartTarget) -> Result<String, Reason> {
        if !self.targets.contains(&target) {
            let weight = self.references.value(&target).map(weight).unwrap_or_default();
            self.budget = self.budget.checked_sub(weight).ok_or_else(Reason::too_large)?;
            self.targets.insert(target.clone());
        }
        Ok(self.key(&target))
    }
}

/// A root that only refers to a definition is replaced by the definition, since arguments are the properties of the
/// root.
fn open_root(schema: &mut Value, pointer: &str, places: &mut PartPlaces) {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return };
    let is_alone =
        schema.as_object().is_some_and(|root| root.keys().all(|key| key == "$ref" || key == "$defs"));
    let Some(at) = reference.strip_prefix('#') else { return };
    let Some(Value::Object(target)) = schema.pointer(at).cloned() else { return };
    let key = pointer_split(at).map(|(_, key)| key.into_owned()).unwrap_or_default();
    let Some(origin) = places.place(&format!("{pointer}{at}")) else { return };
    if !is_alone || target.contains_key("$ref") || target.contains_key("$defs") {
        return;
    }
    places.add(pointer.to_string(), &PartTarget { file: origin.file, pointer: origin.pointer });
    let Some(Value::Object(mut definitions)) = schema.get_mut("$defs").map(Value::take) else { return };
    let mut needed = IndexSet::new();
    refs_in(&Value::Object(target.clone()), &mut needed);
    definitions.iter().for_each(|(_, definition)| refs_in(definition, &mut needed));
    if !needed.contains(&key) {
        definitions.shift_remove(&key);
    }
    *schema = Value::Object(target);
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
}
