//! An OpenAPI document with the files that it refers to, as one value.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::places::PartPlaces;
use super::referenced_files::{PartTarget, References, stem};
use crate::sources::ref_visitor::{refers_outside, visit_objects};
use toolcrib_definition::document::{pointer_join, pointer_to};

/// The key of the other files.
const PARTS: &str = "x-toolcrib-parts";

/// Adds the files that a document in `file` refers to. The places are those of values in the other files.
pub(in super::super) fn combine(
    document: &mut Value,
    file: &str,
    references: &mut References<'_>,
) -> PartPlaces {
    let mut combining = Combining { file, references, places: PartPlaces::default(), parts: IndexSet::new() };
    if refers_outside(document) {
        combining.references_in(document, file, "", false);
    }
    let mut parts = Map::new();
    while let Some(part) = combining.parts.get_index(parts.len()).cloned() {
        let read = combining.references.part(&part);
        let mut value = read.map(|read| read.value.clone()).unwrap_or_default();
        let pointer = place_of(&part);
        combining.references_in(&mut value, &part, &pointer, true);
        combining.places.add(pointer, &PartTarget { file: part.clone(), pointer: String::new() });
        parts.insert(part.clone(), serde_json::json!({ stem(&part): value }));
    }
    if let (false, Value::Object(root)) = (parts.is_empty(), document) {
        root.insert(PARTS.into(), parts.into());
    }
    combining.places
}

/// The pointer of a file in the combined value. Its last segment names the schema in a file of its own.
fn place_of(file: &str) -> String {
    pointer_to("", &[PARTS, file, stem(file)])
}

struct Combining<'c, 'p> {
    /// The file of the document.
    file: &'c str,
    references: &'c mut References<'p>,
    places: PartPlaces,
    /// The files to add, in the order in which they are referred to.
    parts: IndexSet<String>,
}

impl Combining<'_, '_> {
    /// Rewrites the references below a value of `file`; `pointer` is its place in the combined value.
    fn references_in(&mut self, value: &mut Value, file: &str, pointer: &str, is_named: bool) {
        visit_objects(value, pointer, is_named, &mut |object, pointer| {
            let reference = object.get("$ref").and_then(Value::as_str);
            if let Some(rewritten) = reference.and_then(|reference| self.rewritten(reference, file, pointer))
            {
                object.insert("$ref".into(), rewritten.into());
            }
        });
    }

    /// The reference within the combined value; `None` if it stays as it is.
    fn rewritten(&mut self, reference: &str, file: &str, pointer: &str) -> Option<String> {
        // Names are known in the whole value.
        let is_anchor = || !matches!(reference.as_bytes(), [b'#'] | [b'#', b'/', ..]);
        let is_local = reference.starts_with('#');
        if is_local && (file == self.file || is_anchor()) {
            return None;
        }
        let target = match self.references.target(reference, file)? {
            Ok(target) => target,
            // Many authors mean the document that refers to their file.
            Err(_) if is_local => return None,
            Err(reason) => {
                self.places.refuse(pointer_join(pointer, "$ref"), reference, reason);
                return None;
            }
        };
        let PartTarget { file, pointer } = target;
        let pointer = if file == self.file { pointer } else { format!("{}{pointer}", place_of(&file)) };
        if file != self.file {
            self.parts.insert(file);
        }
        Some(format!("#{}", pointer.replace('%', "%25")))
    }
}
