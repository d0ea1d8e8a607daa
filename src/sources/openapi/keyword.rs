//! Keywords of OpenAPI's schemas: those of JSON Schema, without the ones that bundling makes useless.

use serde_json::Value;

use crate::finding::keyword::{self, KeywordKind};

/// The kind of a keyword. `Old` ones are dropped: they are OpenAPI's, or would break the new `$ref`s.
pub(super) fn kind(word: &str) -> KeywordKind {
    match word {
        "$ref" | "$defs" | "discriminator" | "xml" | "externalDocs" | "collectionFormat" => KeywordKind::Old,
        "additionalItems" | "x-example" => KeywordKind::Any,
        _ if word.starts_with("x-") => KeywordKind::Old,
        _ => keyword::holds(word),
    }
}

/// Whether a keyword of this kind takes this value. Parts of it that are wrong are reported where they stand.
pub(super) fn fits(kind: KeywordKind, word: &str, value: &Value) -> bool {
    match kind {
        KeywordKind::List => value.as_array().is_some_and(|all| !all.is_empty()),
        KeywordKind::Named => value.is_object(),
        KeywordKind::Names => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        KeywordKind::Type => value.is_string() || strings(value).next().is_some(),
        KeywordKind::Count => value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0),
        KeywordKind::Old | KeywordKind::Unknown => true,
        _ => keyword::fits(kind, word, value),
    }
}

/// The strings of a list.
pub(super) fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
