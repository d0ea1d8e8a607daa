//! References (`$ref`), resolved within their document. Nothing is ever fetched.

use std::borrow::Cow;

use hashbrown::HashMap;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::pointer::pointer_push;

/// The value that a reference leads to by a pointer into the same document.
pub fn resolve_local<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?))
}

/// Decodes the percent signs in a fragment of a URI.
pub fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    percent_decode_str(fragment).decode_utf8_lossy()
}

/// The names of the schemas in a document, with their pointers. Of equal names, the first wins.
#[derive(Debug, Default)]
pub struct SchemaNames {
    pointers: HashMap<String, String>,
    /// Pointers to the schemas below the root that have an `$id`.
    bases: Vec<String>,
}

impl SchemaNames {
    /// Reads the names given by anchors and by these keywords: `$id`, and `id` in old drafts.
    pub fn of(document: &Value, id_keywords: &[&str]) -> Self {
        let mut names = Self::default();
        if has_names(document, id_keywords) {
            names.read(document, &mut String::new(), id_keywords);
        }
        names
    }

    /// The schema that has this name: an id as it is written, or `#` and an anchor.
    pub fn pointer(&self, name: &str) -> Option<&str> {
        self.pointers.get(name).map(String::as_str)
    }

    /// The pointer of the innermost schema with an `$id` around a place; empty for the root.
    pub fn base(&self, place: &str) -> &str {
        let holds = |base: &&String| {
            place.strip_prefix(base.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.bases.iter().filter(holds).max_by_key(|base| base.len()).map_or("", String::as_str)
    }

    fn read(&mut self, value: &Value, at: &mut String, id_keywords: &[&str]) {
        match value {
            Value::Object(object) => {
                for (key, child) in object {
                    match child {
                        Value::String(id) if id_keywords.contains(&key.as_str()) => {
                            self.pointers.entry(id.clone()).or_insert_with(|| at.clone());
                            if key == "$id" && !at.is_empty() && !id.starts_with('#') {
                                self.bases.push(at.clone());
                            }
                        }
                        Value::String(anchor) if is_anchor(key) => {
                            self.pointers.entry(format!("#{anchor}")).or_insert_with(|| at.clone());
                        }
                        _ => self.step(key, child, at, id_keywords),
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.step(&index.to_string(), item, at, id_keywords);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, segment: &str, value: &Value, at: &mut String, id_keywords: &[&str]) {
        if value.is_object() || value.is_array() {
            let before = at.len();
            pointer_push(at, segment);
            self.read(value, at, id_keywords);
            at.truncate(before);
        }
    }
}

fn is_anchor(key: &str) -> bool {
    matches!(key, "$anchor" | "$dynamicAnchor")
}

/// Whether a value, which may be a schema, contains the name of a schema.
fn has_names(value: &Value, id_keywords: &[&str]) -> bool {
    let is_name = |key: &str| is_anchor(key) || id_keywords.contains(&key);
    match value {
        Value::Object(object) => object
            .iter()
            .any(|(key, child)| is_name(key) && child.is_string() || has_names(child, id_keywords)),
        Value::Array(items) => items.iter().any(|item| has_names(item, id_keywords)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_is_followed_through_percent_signs_and_escapes() {
        let root = json!({ "$defs": { "a b/c": 1, "50%": 2 } });
        assert_eq!(resolve_local("#/$defs/a%20b~1c", &root), Some(&json!(1)));
        assert_eq!(resolve_local("#/%24defs/50%25", &root), Some(&json!(2)));
        assert_eq!(resolve_local("#/$defs/50%", &root), Some(&json!(2)));
        assert_eq!(resolve_local("other.json#/$defs/50%", &root), None);
    }

    #[test]
    fn the_first_schema_of_a_name_has_it() {
        let root = json!({ "a": { "$id": "x", "b": { "$anchor": "y" } }, "c": [{ "$id": "x" }], "d": { "id": "z" } });
        let names = SchemaNames::of(&root, &["$id"]);
        assert_eq!(
            (names.pointer("x"), names.pointer("#y"), names.pointer("z")),
            (Some("/a"), Some("/a/b"), None)
        );
        assert_eq!((names.base("/a/b/e"), names.base("/ab"), names.base("/c/0")), ("/a", "", "/c/0"));
    }
}
