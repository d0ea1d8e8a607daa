//! Keywords of one schema object, and names in references.

use serde_json::{Map, Value};

use crate::finding::keyword::keyword;

/// The keywords of a schema.
pub(super) type Keywords = Map<String, Value>;

/// The elements of a keyword that should hold a list.
pub(crate) fn list<'a>(part: &'a Keywords, name: &str) -> &'a [Value] {
    keyword(part, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The name in a reference: its last segment that is no keyword.
pub(crate) fn last_segment(reference: &str) -> &str {
    let is_name = |word: &&str| {
        !matches!(*word, "" | "items" | "properties" | "additionalProperties" | "anyOf" | "oneOf" | "allOf")
    };
    reference
        .rsplit(['/', '#'])
        .filter(|word| !word.bytes().all(|b| b.is_ascii_digit()))
        .find(is_name)
        .unwrap_or("")
}

/// Whether nothing but null fits.
pub(super) fn is_null(schema: &Value) -> bool {
    let Value::Object(part) = schema else { return false };
    let only_null =
        part.get("enum").and_then(Value::as_array).is_some_and(|values| values.as_slice() == [Value::Null]);
    only_null
        || part.get("const") == Some(&Value::Null)
        || part.get("type").is_some_and(|kind| kind == "null")
}
