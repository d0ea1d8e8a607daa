//! Discriminators: the property by which a document tells the schemas of a union apart.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::document::{Document, Target};
use crate::sources::ref_visitor::children;

/// Deepest part of a document in which a `discriminator` is found.
pub(super) const MAX_NESTED: usize = 64;

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

pub(super) fn target_of(document: &Document<'_>, schema: &Value) -> Option<String> {
    match document.resolve_from(schema.get("$ref")?.as_str()?, "") {
        Target::Local(_, pointer) => Some(pointer),
        _ => None,
    }
}
