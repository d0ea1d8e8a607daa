//! The keywords of a schema, and the kinds of values they take.

use serde_json::Value;

/// Kind of value that a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Schema,
    Schemas,
    SchemaMap,
    Required,
    Type,
    Enum,
    Example,
    List,
    NameLists,
    Number,
    Factor,
    Count,
    Text,
    Flag,
    /// Any value, or an unknown keyword.
    Free,
    /// A keyword of OpenAPI, or one that bundling makes useless: `$id` and anchors would even break the new `$ref`s.
    Dropped,
}

/// The kind of a keyword.
pub(super) fn kind(word: &str) -> Kind {
    match word {
        "additionalProperties"
        | "items"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Kind::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Kind::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Kind::SchemaMap,
        "required" => Kind::Required,
        "type" => Kind::Type,
        "enum" => Kind::Enum,
        "example" | "x-example" => Kind::Example,
        "examples" => Kind::List,
        "dependentRequired" => Kind::NameLists,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Kind::Number,
        "multipleOf" => Kind::Factor,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Kind::Count,
        "title" | "description" | "format" | "pattern" | "$comment" | "contentEncoding"
        | "contentMediaType" => Kind::Text,
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => Kind::Flag,
        "$ref" | "$dynamicRef" | "$recursiveRef" | "$id" | "id" | "$schema" | "$anchor"
        | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" | "$defs" | "definitions"
        | "dependencies" | "nullable" | "discriminator" | "xml" | "externalDocs" | "collectionFormat" => {
            Kind::Dropped
        }
        _ if word.starts_with("x-") => Kind::Dropped,
        _ => Kind::Free,
    }
}

/// Whether a keyword of this kind takes this value.
pub(super) fn fits(kind: Kind, value: &Value) -> bool {
    match kind {
        Kind::Schema => value.is_object() || value.is_boolean(),
        Kind::Schemas => value.as_array().is_some_and(|all| !all.is_empty()),
        Kind::SchemaMap => value.is_object(),
        Kind::Required => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        Kind::Type => value.is_string() || strings(value).next().is_some(),
        Kind::Enum | Kind::List => value.is_array(),
        Kind::NameLists => value.as_object().is_some_and(|map| map.values().all(is_name_list)),
        Kind::Number => value.is_number(),
        Kind::Factor => value.as_f64().is_some_and(|factor| factor > 0.0),
        Kind::Count => value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0),
        Kind::Text => value.is_string(),
        Kind::Flag => value.is_boolean(),
        Kind::Example | Kind::Free | Kind::Dropped => true,
    }
}

fn is_name_list(value: &Value) -> bool {
    let unique: std::collections::HashSet<&str> = strings(value).collect();
    value.as_array().is_some_and(|names| names.len() == unique.len())
}

/// The strings of a list.
pub(super) fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
