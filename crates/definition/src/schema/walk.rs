//! The keywords of JSON Schema, the kind of value that each takes in 2020-12, and the only walk over subschemas.

use std::collections::HashSet;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::type_words::{TYPES, schema_of_type};
use crate::document::{plain_flag, plain_number, pointer_push};
use crate::finding::{SlipPolicy, normalized};

/// The draft that `$schema` names, otherwise 2020-12, the default of MCP and of the providers.
pub fn draft(schema: &Value) -> Draft {
    let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    const DRAFTS: [(&str, Draft); 4] = [
        ("draft-07", Draft::Draft7),
        ("draft-06", Draft::Draft6),
        ("draft-04", Draft::Draft4),
        ("2019-09", Draft::Draft201909),
    ];
    let named = DRAFTS.into_iter().find(|(word, _)| uri.contains(word));
    named.map_or(Draft::Draft202012, |(_, draft)| draft)
}

/// The name of a value's type.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Kind of value of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeywordKind {
    /// One schema.
    Schema,
    /// Schemas by name.
    Named,
    /// A list of schemas.
    List,
    Text,
    /// `true` or `false`.
    Flag,
    Number,
    /// A natural number.
    Count,
    /// Names of properties, each once.
    Names,
    NameLists,
    /// Words for types.
    Type,
    /// A list of values.
    Values,
    /// Any value.
    Any,
    /// A keyword that views drop: from an older draft, or for naming schemas.
    Old,
    /// Not a keyword.
    Unknown,
}

/// The value of a keyword. Schemas are small, so looking at each key is faster than hashing the name.
pub fn keyword<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if schema.len() > 12 {
        return schema.get(name);
    }
    schema.iter().find_map(|(key, value)| (key == name).then_some(value))
}

/// The keywords of JSON Schema by the kind of their values, those of OpenAPI last.
#[rustfmt::skip]
const KEYWORDS: [(KeywordKind, &[&str]); 14] = [
    (KeywordKind::Type, &["type"]),
    (KeywordKind::Text, &["description", "title", "format", "pattern", "$ref", "$comment", "contentEncoding", "contentMediaType"]),
    (KeywordKind::Named, &["properties", "patternProperties", "$defs", "dependentSchemas"]),
    (KeywordKind::Schema, &["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema"]),
    (KeywordKind::List, &["anyOf", "oneOf", "allOf", "prefixItems"]),
    (KeywordKind::Names, &["required"]),
    (KeywordKind::Values, &["enum", "examples"]),
    (KeywordKind::Any, &["default", "const"]),
    (KeywordKind::Number, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    (KeywordKind::Count, &["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]),
    (KeywordKind::Flag, &["uniqueItems", "readOnly", "writeOnly", "deprecated"]),
    (KeywordKind::NameLists, &["dependentRequired"]),
    (KeywordKind::Old, &["$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "definitions", "dependencies", "additionalItems", "nullable"]),
    (KeywordKind::Unknown, &["example", "discriminator", "xml", "externalDocs", "name", "in", "style", "optional"]),
];

/// Kind of value of a keyword.
pub fn holds(keyword: &str) -> KeywordKind {
    let row = KEYWORDS.iter().find(|(_, keywords)| keywords.contains(&keyword));
    row.map_or(KeywordKind::Unknown, |(kind, _)| *kind)
}

/// Words of other formats and of careless authors for keywords, without case and separators.
#[rustfmt::skip]
const OTHER_WORDS: [(&str, &[&str]); 12] = [
    ("type", &["kind", "datatype", "typ"]),
    ("description", &["desc", "help", "doc", "about", "summary"]),
    ("properties", &["props", "fields", "params", "parameters", "args", "arguments", "attributes", "children"]),
    ("required", &["mandatory", "needed", "requires", "requiredfields", "isrequired", "ismandatory"]),
    ("enum", &["choices", "options", "values", "allowed", "allowedvalues", "enumeration", "enumvalues", "possiblevalues"]),
    ("items", &["elements", "element", "itemtype", "of"]),
    ("default", &["defaultvalue"]),
    ("minimum", &["min", "minvalue", "ge", "gte"]),
    ("maximum", &["max", "maxvalue", "le", "lte"]),
    ("minLength", &["minlen"]),
    ("maxLength", &["maxlen"]),
    ("pattern", &["regex", "regexp"]),
];

/// Whether a key of a schema is no keyword, and no extension of one's own.
pub fn is_unknown(key: &str) -> bool {
    let mut all = KEYWORDS.iter().flat_map(|(_, keywords)| *keywords);
    !key.starts_with(['$', '~', '_'])
        && !key.starts_with("x-")
        && !key.contains(':')
        && !all.any(|keyword| *keyword == key)
}

/// The keyword that an unknown key of a schema is a misspelling of, or another word for.
pub fn misspelled(key: &str) -> Option<&'static str> {
    if !is_unknown(key) {
        return None;
    }
    let all = || KEYWORDS.iter().flat_map(|(_, keywords)| *keywords).copied();
    let plain = normalized(key);
    let is_slip = |keyword: &&str| SlipPolicy::ARGUMENT.is_slip(&plain, &normalized(keyword));
    let other = || OTHER_WORDS.iter().find(|(_, words)| words.contains(&plain.as_str()));
    all()
        .find(|keyword| normalized(keyword) == plain)
        .or_else(|| other().map(|(keyword, _)| *keyword))
        .or_else(|| all().find(is_slip))
}

/// Whether a keyword only describes, and does not constrain values.
pub fn is_annotation(keyword: &str) -> bool {
    const ANNOTATIONS: [&str; 8] =
        ["description", "title", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];
    ANNOTATIONS.contains(&keyword)
}

/// Whether the schemas of a keyword apply to the same value as the schema around them.
pub fn is_in_place(keyword: &str) -> bool {
    matches!(
        keyword,
        "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" | "dependentSchemas" | "dependencies"
    )
}

/// Whether a keyword may add properties to those that the schema itself lists.
pub fn is_composing(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf" | "if" | "dependentSchemas")
}

/// Whether a value may be a schema.
pub fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Whether an object has a keyword that only schemas have.
pub fn declares_schema(value: &Value) -> bool {
    let is = |key: &str, kind: fn(&Value) -> bool| value.get(key).is_some_and(kind);
    ["type", "type_"].iter().any(|key| is(key, |word| word.is_string() || word.is_array()))
        || ["properties", "$defs"].iter().any(|key| is(key, Value::is_object))
        || ["anyOf", "oneOf", "allOf", "enum", "required"].iter().any(|key| is(key, Value::is_array))
        || ["$ref", "$schema"].iter().any(|key| is(key, Value::is_string))
}

/// Whether a keyword may have this value.
pub fn fits(holds: KeywordKind, keyword: &str, value: &Value) -> bool {
    match holds {
        KeywordKind::Schema => is_schema(value),
        KeywordKind::Named => value.as_object().is_some_and(|named| named.values().all(is_schema)),
        KeywordKind::List => {
            value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_schema))
        }
        KeywordKind::Text => value.is_string(),
        KeywordKind::Flag => value.is_boolean(),
        KeywordKind::Number if keyword == "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        KeywordKind::Number => value.is_number(),
        KeywordKind::Count => value.is_u64(),
        KeywordKind::Names => is_names(value),
        KeywordKind::NameLists => value.as_object().is_some_and(|named| named.values().all(is_names)),
        KeywordKind::Type => is_type(value),
        KeywordKind::Values => value.is_array(),
        KeywordKind::Any => true,
        KeywordKind::Old | KeywordKind::Unknown => false,
    }
}

/// The only value that a value of the wrong kind can mean: `true` for `"true"`, 5 for `"5"`, a list for its only item,
/// a map for an empty list. `properties` are those of the schema, if it has any.
pub fn meant(keyword: &str, value: &Value, properties: Option<&Value>) -> Option<Value> {
    let holds = if keyword == "nullable" { KeywordKind::Flag } else { holds(keyword) };
    let is_name = |name: &&str| properties.is_some_and(|all| all.get(name).is_some());
    let list = || Value::Array(vec![value.clone()]);
    let meant = match holds {
        // PHP writes an empty map as a list.
        KeywordKind::Schema | KeywordKind::Named | KeywordKind::NameLists
            if value.as_array().is_some_and(Vec::is_empty) =>
        {
            Value::Object(Map::new())
        }
        // PHP writes a list with a gap as a map.
        KeywordKind::Names | KeywordKind::List | KeywordKind::Values | KeywordKind::Type
            if value.as_object().is_some_and(is_numbered) =>
        {
            value.as_object()?.values().cloned().collect()
        }
        KeywordKind::Schema if keyword == "items" && value.is_array() => {
            let [Value::String(only)] = value.as_array()?.as_slice() else { return None };
            return schema_of_type(only);
        }
        KeywordKind::Flag | KeywordKind::Schema => plain_flag(value)?.into(),
        KeywordKind::Number if keyword.starts_with("exclusive") && plain_flag(value).is_some() => {
            return value.is_string().then(|| plain_flag(value).map(Value::Bool))?;
        }
        KeywordKind::Number => plain_number(value)?.into(),
        KeywordKind::Count => {
            let count = plain_number(value)?.as_f64().filter(|count| count.fract() == 0.0)?;
            (0.0..=u32::MAX.into()).contains(&count).then_some(count as u64)?.into()
        }
        KeywordKind::Names => {
            let names = listed(value.as_str()?);
            names.iter().filter_map(Value::as_str).all(|name| is_name(&name)).then(|| names.into())?
        }
        KeywordKind::NameLists => {
            let named = value.as_object()?.iter().map(|(key, names)| match names {
                Value::String(_) => (key.clone(), Value::Array(vec![names.clone()])),
                names => (key.clone(), names.clone()),
            });
            Value::Object(named.collect())
        }
        KeywordKind::Values if keyword == "enum" && (value.is_string() || value.is_number()) => {
            value.as_str().map_or_else(list, |text| listed(text).into())
        }
        // Arguments are often listed with their names.
        KeywordKind::Named if keyword == "properties" => {
            let named = |item: &Value| {
                let mut schema = item.as_object()?.clone();
                match schema.shift_remove("name") {
                    Some(name) => Some((name.as_str()?.to_string(), schema.into())),
                    None if schema.len() == 1 => schema.into_iter().next(),
                    None => None,
                }
            };
            Value::Object(value.as_array()?.iter().map(named).collect::<Option<_>>()?)
        }
        KeywordKind::List if value.is_object() => list(),
        KeywordKind::Text if value.is_number() || value.is_boolean() => value.to_string().into(),
        _ => return None,
    };
    (!fits(holds, keyword, value) && fits(holds, keyword, &meant)).then_some(meant)
}

/// The values of a list that was written as text: as JSON, or with separators.
fn listed(text: &str) -> Vec<Value> {
    let written = || serde_json::from_str(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\"")));
    if let Some(Value::Array(values)) = text.starts_with('[').then(written).and_then(Result::ok) {
        return values;
    }
    let separator = ['|', ',', '\n'].into_iter().find(|separator| text.contains(*separator));
    separator.map_or_else(
        || vec![text.into()],
        |separator| text.split(separator).map(|part| part.trim().into()).collect(),
    )
}

fn is_numbered(map: &Map<String, Value>) -> bool {
    !map.is_empty() && map.keys().all(|key| key.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut names = value.as_array().into_iter().flatten();
    value.is_array() && names.all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
}

fn is_type(value: &Value) -> bool {
    let is_word = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
    match value {
        Value::Array(words) => {
            !words.is_empty() && words.len() <= TYPES.len() && words.iter().all(is_word) && is_names(value)
        }
        word => is_word(word),
    }
}

/// Whether a schema lists such a property at any place, also where it applies to nothing.
pub fn any_property(schema: &Value, is_meant: &dyn Fn(&str) -> bool) -> bool {
    /// Levels that are searched: schemas are untrusted, and may nest without an end.
    const MAX_DEPTH: usize = 32;
    fn search(schema: &Value, is_meant: &dyn Fn(&str) -> bool, depth: usize) -> bool {
        let within = |inner| depth < MAX_DEPTH && search(inner, is_meant, depth + 1);
        match schema {
            Value::Object(keywords) => keywords.iter().any(|(keyword, value)| {
                let names = || value.as_object().into_iter().flat_map(Map::keys);
                (keyword == "properties" && names().any(|name| is_meant(name))) || within(value)
            }),
            Value::Array(items) => items.iter().any(within),
            _ => false,
        }
    }
    search(schema, is_meant, 0)
}

/// The subschemas of an object schema, whatever its draft.
pub fn each(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    object.iter().flat_map(|(keyword, value)| below(keyword, value))
}

/// The subschemas below one keyword, whatever the draft.
pub fn below<'a>(keyword: &str, value: &'a Value) -> impl Iterator<Item = &'a Value> + use<'a> {
    let mut list = &[][..];
    let mut named = None;
    let mut one = None;
    match (in_any_draft(keyword, value), value) {
        (KeywordKind::List, Value::Array(schemas)) => list = schemas,
        (KeywordKind::Named, Value::Object(schemas)) => named = Some(schemas),
        (KeywordKind::Schema, schema) => one = Some(schema),
        _ => {}
    }
    list.iter().chain(named.into_iter().flat_map(Map::values)).chain(one)
}

/// The subschemas that apply to the same value as the schema around them. References are not followed.
pub fn in_place(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let in_place = object.iter().filter(|(keyword, _)| is_in_place(keyword));
    in_place.flat_map(|(keyword, value)| below(keyword, value))
}

/// Visits each subschema of an object schema, whatever its draft, to change it.
pub fn each_mut(object: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    object.iter_mut().for_each(|(keyword, value)| below_mut(keyword, value, visit));
}

/// Visits each subschema below one keyword, to change it.
pub fn below_mut(keyword: &str, value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match (in_any_draft(keyword, value), value) {
        (KeywordKind::Schema, schema) => visit(schema),
        (KeywordKind::Named, Value::Object(named)) => named.values_mut().for_each(visit),
        (KeywordKind::List, Value::Array(list)) => list.iter_mut().for_each(visit),
        _ => {}
    }
}

/// Visits each subschema, whatever the draft, with its keyword and pointer. Afterwards the pointer is that of the
/// object again, so that a whole walk needs only one string.
pub fn each_with_pointer<'a>(
    object: &'a Map<String, Value>,
    pointer: &mut String,
    visit: &mut dyn FnMut(&'a str, &mut String, &'a Value),
) {
    for (keyword, value) in object {
        below_pointer(pointer, keyword, |at| match (in_any_draft(keyword, value), value) {
            (KeywordKind::Schema, child) => visit(keyword, at, child),
            (KeywordKind::List, Value::Array(list)) => {
                for (index, child) in list.iter().enumerate() {
                    below_pointer(at, &index.to_string(), |at| visit(keyword, at, child));
                }
            }
            (KeywordKind::Named, Value::Object(named)) => {
                for (name, child) in named.iter().filter(|(_, child)| is_child(keyword, child)) {
                    below_pointer(at, name, |at| visit(keyword, at, child));
                }
            }
            _ => {}
        });
    }
}

/// Visits each subschema, whatever the draft, with its pointer, to change it.
pub fn each_with_pointer_mut(
    object: &mut Map<String, Value>,
    pointer: &mut String,
    visit: &mut dyn FnMut(&mut String, &mut Value),
) {
    for (keyword, value) in object {
        below_pointer(pointer, keyword, |at| match (in_any_draft(keyword, value), value) {
            (KeywordKind::Schema, child) => visit(at, child),
            (KeywordKind::List, Value::Array(list)) => {
                for (index, child) in list.iter_mut().enumerate() {
                    below_pointer(at, &index.to_string(), |at| visit(at, child));
                }
            }
            (KeywordKind::Named, Value::Object(named)) => {
                for (name, child) in named.iter_mut().filter(|(_, child)| is_child(keyword, child)) {
                    below_pointer(at, name, |at| visit(at, child));
                }
            }
            _ => {}
        });
    }
}

fn below_pointer(pointer: &mut String, segment: &str, visit: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer_push(pointer, segment);
    visit(pointer);
    pointer.truncate(length);
}

/// Whether a named value is meant as a schema: `dependencies` also has lists of names.
fn is_child(keyword: &str, value: &Value) -> bool {
    keyword != "dependencies" || is_schema(value)
}

/// Kind of value of a keyword, in the draft that allows this value.
fn in_any_draft(keyword: &str, value: &Value) -> KeywordKind {
    match keyword {
        "items" if value.is_array() => KeywordKind::List,
        "definitions" => KeywordKind::Named,
        "additionalItems" => KeywordKind::Schema,
        // Until draft 7, one keyword had both schemas and lists of names.
        "dependencies" if value.as_object().is_some_and(|named| named.values().any(is_schema)) => {
            KeywordKind::Named
        }
        keyword => holds(keyword),
    }
}
