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
pub(super) fn discriminator<'v>(
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
        let own = telling_part(schema);
        let Some(told) = own.or_else(|| inherited(document, schema)) else { continue };
        let Some((property, mut mapping)) = discriminator(document, told) else { continue };
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
        if own.is_some() {
            found.extend(mapping.iter().map(|(_, target)| target));
        }
        found.shift_remove(pointer);
        let found: IndexSet<String> = found.into_iter().cloned().collect();
        mapping.retain(|(_, target)| found.contains(target));
        let most = MAX_SUBTYPES.min(room);
        let is_cut = found.len() > most;
        let mut names: IndexMap<String, Vec<String>> =
            found.into_iter().take(most).map(|subtype| (subtype, Vec::new())).collect();
        room -= names.len();
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

/// The part of a schema that has a `discriminator`: a base that extends another schema has it in a part of its `allOf`.
fn telling_part(schema: &Value) -> Option<&Map<String, Value>> {
    members(schema).filter_map(Value::as_object).find(|part| part.contains_key("discriminator"))
}

/// The part with a `discriminator` of the nearest schema that a schema extends.
fn inherited<'d>(document: &Document<'d>, schema: &Value) -> Option<&'d Map<String, Value>> {
    let bases =
        |schema: &Value| members(schema).filter_map(|part| target_of(document, part)).collect::<Vec<_>>();
    let mut queue = bases(schema);
    let mut at = 0;
    while let Some(base) = queue.get(at).and_then(|pointer| document.at(pointer)) {
        if let Some(told) = telling_part(base) {
            return Some(told);
        }
        let room = MAX_MEMBERS.saturating_sub(queue.len());
        queue.extend(bases(base).into_iter().take(room));
        at += 1;
    }
    None
}

/// Whether the schema at a pointer applies the one at `place`, or one around it, to the same value: it cannot be a part of
/// that, too. One that applies very many schemas is taken for such.
pub(super) fn leads_to(document: &Document<'_>, pointer: &str, place: &str) -> bool {
    let is_around =
        |outer: &str| place.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut applied = IndexSet::from([pointer.to_string()]);
    let mut at = 0;
    while let Some(pointer) = applied.get_index(at).cloned() {
        if is_around(&pointer) || applied.len() > MAX_MEMBERS {
            return true;
        }
        let mut parts: Vec<&Value> = document.at(&pointer).into_iter().collect();
        while let Some(part) = parts.pop() {
            let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| part.get(*word)?.as_array());
            let room = MAX_MEMBERS.saturating_sub(parts.len());
            parts.extend(lists.flatten().take(room));
            let mapped = part.as_object().and_then(|part| discriminator(document, part));
            applied.extend(mapped.into_iter().flat_map(|(_, names)| names).map(|(_, target)| target));
            applied.extend(target_of(document, part));
        }
        at += 1;
    }
    false
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

pub(super) fn target_of(document: &Document<'_>, schema: &Value) -> Option<String> {
    match document.resolve_from(schema.get("$ref")?.as_str()?, "") {
        Target::Local(_, pointer) => Some(pointer),
        _ => None,
    }
}
