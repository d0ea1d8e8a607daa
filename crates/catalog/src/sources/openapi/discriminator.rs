//! Discriminators: the property by which a document tells the schemas of a union apart.

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::document::{Document, Target};
use crate::sources::ref_visitor::children;
use toolcrib_definition::document::{pointer_join, pointer_split};

/// Deepest part of a document in which a `discriminator` is found.
pub(super) const MAX_NESTED: usize = 64;

/// Most schemas that are read as subtypes of one schema.
const MAX_SUBTYPES: usize = 200;

/// Most subtypes of all schemas of a document together.
const MAX_ALL_SUBTYPES: usize = 20_000;

/// End of the pointer that stands for any subtype of a schema. No pointer into a document has it.
pub(super) const ANY_SUBTYPE: &str = "~any";

/// Most schemas in the `allOf`s of one schema.
const MAX_MEMBERS: usize = 64;

/// The property by which a `discriminator` tells a schema from others, and its values for that, by the pointer of the schema.
pub(super) type Tags = HashMap<String, (String, IndexSet<String>)>;

/// The tags of all schemas in a part of a document.
pub(super) fn gather_tags(document: &Document<'_>, value: &Value, depth: usize, tags: &mut Tags) {
    if depth > MAX_NESTED {
        return;
    }
    if let Some(union) = ["oneOf", "anyOf"].iter().find_map(|key| value.get(*key)?.as_array())
        && let Some((property, names)) = value.as_object().and_then(|map| discriminator(document, map))
    {
        for pointer in union.iter().filter_map(|branch| target_of(document, branch)) {
            let named = names.iter().filter(|(_, target)| *target == pointer);
            let mut named: Vec<String> = named.map(|(name, _)| name.clone()).collect();
            if named.is_empty() {
                named.extend(pointer.rsplit('/').next().map(str::to_string));
            }
            tags.entry(pointer).or_insert_with(|| (property.into(), IndexSet::new())).1.extend(named);
        }
    }
    children(value).for_each(|(_, child)| gather_tags(document, child, depth + 1, tags));
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

/// The subtypes of a schema that has a `discriminator` and does not list them.
pub(super) struct Family {
    pub(super) property: String,
    /// The values of the property for each subtype, by the pointer of the subtype.
    pub(super) names: IndexMap<String, Vec<String>>,
    pub(super) is_cut: bool,
}

/// The families of the named schemas, by the pointer of the base. A subtype extends the base, or another subtype, by
/// `allOf`, or the mapping names it.
pub(super) fn families(document: &Document<'_>) -> HashMap<String, Family> {
    let folders = ["/components/schemas", "/definitions"].into_iter();
    let folders = folders.filter_map(|folder| Some((folder, document.at(folder)?.as_object()?)));
    let named: Vec<(String, &Value)> = folders
        .flat_map(|(folder, all)| all.iter().map(move |(name, schema)| (pointer_join(folder, name), schema)))
        .collect();
    let mut heirs: HashMap<String, Vec<&String>> = HashMap::new();
    for (pointer, schema) in &named {
        for base in members(schema).filter_map(|member| target_of(document, member)) {
            heirs.entry(base).or_default().push(pointer);
        }
    }
    let mut families = HashMap::new();
    let mut room = MAX_ALL_SUBTYPES;
    for (pointer, schema) in &named {
        // A base that extends another schema has its discriminator in a part of its `allOf`.
        let told =
            members(schema).filter_map(Value::as_object).find(|part| part.contains_key("discriminator"));
        let Some(told) = told else { continue };
        let Some((property, mapping)) = discriminator(document, told) else { continue };
        if ["oneOf", "anyOf"].iter().any(|key| told.contains_key(*key)) {
            continue;
        }
        let mut found = IndexSet::from([pointer]);
        let mut at = 0;
        while let Some(base) = found.get_index(at)
            && found.len() <= MAX_SUBTYPES
        {
            found.extend(heirs.get(*base).into_iter().flatten().take(MAX_SUBTYPES + 1));
            at += 1;
        }
        found.extend(mapping.iter().map(|(_, target)| target));
        found.shift_remove(pointer);
        let most = MAX_SUBTYPES.min(room);
        let is_cut = found.len() > most;
        found.truncate(most);
        room -= found.len();
        let mut names: IndexMap<String, Vec<String>> =
            found.into_iter().map(|subtype| (subtype.clone(), Vec::new())).collect();
        for (name, target) in mapping {
            names.entry(target).and_modify(|all| all.push(name));
        }
        for (subtype, names) in &mut names {
            if names.is_empty() {
                names.extend(pointer_split(subtype).map(|(_, name)| name.into_owned()));
            }
        }
        if !names.is_empty() {
            families.insert(pointer.clone(), Family { property: property.into(), names, is_cut });
        }
    }
    families
}

/// A schema, and those in its `allOf`s, without what a `$ref` leads to.
fn members(schema: &Value) -> impl Iterator<Item = &Value> {
    let mut all = vec![schema];
    let mut at = 0;
    while let Some(schema) = all.get(at) {
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let room = MAX_MEMBERS.saturating_sub(all.len());
        all.extend(parts.take(room));
        at += 1;
    }
    all.into_iter()
}

fn target_of(document: &Document<'_>, schema: &Value) -> Option<String> {
    match document.resolve_from(schema.get("$ref")?.as_str()?, "") {
        Target::Local(_, pointer) => Some(pointer),
        _ => None,
    }
}
