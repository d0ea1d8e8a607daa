//! Discriminators: the property by which a document tells the schemas of a union apart.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::document::{Document, Target};

/// Deepest part of a document in which a `discriminator` is found.
pub(super) const MAX_NESTED: usize = 64;

/// The property by which a `discriminator` tells a schema from others, and its values for that, by the pointer of the schema.
pub(super) type Tags = HashMap<String, (String, IndexSet<String>)>;

/// The tags of all schemas in a part of a document.
pub(super) fn gather_tags(document: &Document<'_>, value: &Value, depth: usize, tags: &mut Tags) {
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

fn last_segment(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().to_string()
}
