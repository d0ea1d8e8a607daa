//! The subschemas that a `$ref` may mean: by pointer, by anchor, by `$id`.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::Value;

use crate::finding::percent_decoded;

/// A subschema after the schema with an `$id` that it is part of.
pub(super) type Part<'s> = (&'s Value, &'s Value);

/// The references of one schema.
pub(super) struct References<'s> {
    root: &'s Value,
    /// By `#anchor`, and by the last segment of an `$id`; read when a reference asks for a name.
    named: OnceCell<HashMap<String, Vec<Part<'s>>>>,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, named: OnceCell::new() }
    }

    /// All that a reference may mean. A name of several subschemas means each: rather too much is hidden than too little.
    pub(super) fn targets(&self, reference: &str, base: &'s Value) -> Vec<Part<'s>> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.named(&format!("#{fragment}")).to_vec();
        }
        let documents = match uri {
            "" => vec![base, self.root],
            uri => self.named(last_segment(uri)).iter().map(|(_, document)| *document).collect(),
        };
        documents.into_iter().filter_map(|document| part_at(document, &fragment)).collect()
    }

    fn named(&self, name: &str) -> &[Part<'s>] {
        let named = self.named.get_or_init(|| names(self.root));
        named.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The part of a document at a pointer, which may lead into a schema with an `$id`.
fn part_at<'s>(document: &'s Value, pointer: &str) -> Option<Part<'s>> {
    let schema = document.pointer(pointer)?;
    let above = pointer.match_indices('/').filter_map(|(end, _)| document.pointer(&pointer[..end]));
    Some((above.fold(document, base_of), schema))
}

/// The schema that pointers of a subschema are read from.
pub(super) fn base_of<'s>(base: &'s Value, schema: &'s Value) -> &'s Value {
    let id = schema.get("$id").and_then(Value::as_str);
    if id.is_some_and(|id| !id.starts_with('#')) { schema } else { base }
}

fn names(root: &Value) -> HashMap<String, Vec<Part<'_>>> {
    let mut named: HashMap<String, Vec<Part<'_>>> = HashMap::new();
    let mut left = vec![(root, root)];
    while let Some((base, value)) = left.pop() {
        let base = base_of(base, value);
        for (key, inner) in value.as_object().into_iter().flatten() {
            match (key.as_str(), inner) {
                ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                    named.entry(format!("#{name}")).or_default().push((base, value));
                }
                ("$id" | "id", Value::String(id)) => {
                    let (uri, anchor) = id.split_once('#').unwrap_or((id, ""));
                    for name in [last_segment(uri).to_string(), format!("#{anchor}")] {
                        named.entry(name).or_default().push((base, value));
                    }
                }
                _ => left.push((base, inner)),
            }
        }
        left.extend(value.as_array().into_iter().flatten().map(|item| (base, item)));
    }
    named
}

/// An `$id` and references to it may be relative to others: the last segment is the same in all of them.
fn last_segment(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}
