//! Plain schemas: those of the most usual keywords alone, each with a value of its kind. They need no repair, they surely
//! compile and are cheap to check, so that most tools are built without a compiled schema. The proof is a property test.

use serde_json::{Map, Number, Value};

use crate::finding::keyword::{KeywordKind, fits, holds, keyword};

/// Most schemas within a plain one. As none refers to another, a value takes no more checks than that.
const MAX_PARTS: usize = 1_000;
/// Most levels of schemas within each other.
const MAX_DEPTH: usize = 32;
/// Integers up to here, and their negatives, are exact as floating-point numbers.
const MAX_EXACT: f64 = 9e15;
/// Drafts in which plain keywords mean the same.
const DRAFTS: [&str; 3] = [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Whether this is a plain schema of an object.
pub(super) fn is_plain(schema: &Value) -> bool {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object && is_part(schema, 0, &mut MAX_PARTS.clone())
}

fn is_part(schema: &Value, depth: usize, parts_left: &mut usize) -> bool {
    let Value::Object(schema) = schema else { return schema.is_boolean() };
    if *parts_left == 0 || depth > MAX_DEPTH {
        return false;
    }
    *parts_left -= 1;
    let mut is_inner = |schema: &Value| is_part(schema, depth + 1, parts_left);
    schema.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties", Value::Object(named)) => named.values().all(&mut is_inner),
        ("items" | "additionalProperties", schema) => is_inner(schema),
        ("anyOf", Value::Array(schemas)) => !schemas.is_empty() && schemas.iter().all(&mut is_inner),
        ("enum", Value::Array(values)) => !values.is_empty(),
        (
            "type" | "title" | "description" | "default" | "examples" | "deprecated" | "readOnly"
            | "writeOnly" | "required" | "const" | "format" | "minLength" | "maxLength" | "minItems"
            | "maxItems" | "uniqueItems" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
            | "multipleOf",
            value,
        ) => fits(holds(keyword), keyword, value),
        ("$schema", Value::String(draft)) => depth == 0 && DRAFTS.contains(&draft.as_str()),
        (keyword, value) => {
            holds(keyword) == KeywordKind::Unknown && !keyword.starts_with('$') && !value.is_null()
        }
    })
}

/// Whether a value surely fits a plain schema. Where this takes more than a look, the answer is no.
pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else { return *schema == Value::Bool(true) };
    schema.iter().all(|(keyword, limit)| match (keyword.as_str(), limit, value) {
        ("type", Value::Array(words), _) => words.iter().any(|word| is_of(word, value)),
        ("type", word, _) => is_of(word, value),
        ("enum", Value::Array(values), _) => values.contains(value),
        ("const", only, _) => only == value,
        ("anyOf", Value::Array(schemas), _) => schemas.iter().any(|schema| accepts(schema, value)),
        ("required", Value::Array(names), Value::Object(members)) => {
            names.iter().filter_map(Value::as_str).all(|name| members.contains_key(name))
        }
        ("properties", Value::Object(named), Value::Object(members)) => {
            members.iter().all(|(name, member)| named.get(name).is_none_or(|schema| accepts(schema, member)))
        }
        ("additionalProperties", others, Value::Object(members)) => {
            members.iter().all(|(name, member)| is_listed(schema, name) || accepts(others, member))
        }
        ("items", each, Value::Array(items)) => items.iter().all(|item| accepts(each, item)),
        ("minItems", least, Value::Array(items)) => least.as_u64() <= Some(items.len() as u64),
        ("maxItems", most, Value::Array(items)) => most.as_u64() >= Some(items.len() as u64),
        ("uniqueItems", flag, Value::Array(items)) => *flag == Value::Bool(false) || items.len() < 2,
        ("minLength", least, Value::String(text)) => least.as_u64() <= Some(text.chars().count() as u64),
        ("maxLength", most, Value::String(text)) => most.as_u64() >= Some(text.chars().count() as u64),
        ("format", _, Value::String(_)) | ("multipleOf", _, Value::Number(_)) => false,
        (bound, Value::Number(limit), Value::Number(number)) => is_within(bound, limit, number),
        _ => true,
    })
}

/// Whether a value has the type of a word.
fn is_of(word: &Value, value: &Value) -> bool {
    match word.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

fn is_listed(schema: &Map<String, Value>, name: &str) -> bool {
    keyword(schema, "properties").is_some_and(|listed| listed.get(name).is_some())
}

fn is_within(bound: &str, limit: &Number, number: &Number) -> bool {
    let exact = |number: &Number| number.as_f64().filter(|number| number.abs() < MAX_EXACT);
    let is_bound = matches!(bound, "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum");
    let (Some(limit), Some(number)) = (exact(limit), exact(number)) else { return !is_bound };
    match bound {
        "minimum" => number >= limit,
        "maximum" => number <= limit,
        "exclusiveMinimum" => number > limit,
        "exclusiveMaximum" => number < limit,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::catalog::repair::repair;
    use crate::catalog::schema::compile;
    use crate::catalog::validation_cost::ValidationCost;

    fn a_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..4).prop_map(Value::from),
            prop_oneof![Just(0.5), Just(1.0), Just(9e15), Just(-1e300)].prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop_oneof![Just("a"), Just(""), Just("é→"), Just("object"), Just("2030-01-01")]
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let name = prop_oneof![Just("a"), Just("b"), Just("required")];
            let members = proptest::collection::btree_map(name, inner.clone(), 0..3);
            prop_oneof![
                proptest::collection::vec(inner, 0..3).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().map(|(k, v)| (k.to_string(), v)).collect()),
            ]
        })
    }

    /// A keyword, mostly with a value of its kind.
    fn a_limit() -> impl Strategy<Value = (&'static str, Value)> {
        use proptest::sample::select;
        let counts = select(vec!["minLength", "maxLength", "minItems", "maxItems"]);
        let bounds = select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
        let odd = [
            "minLength", "maximum", "uniqueItems", "enum", "default", "examples", "format", "title",
            "required", "x-own", "nullable", "pattern", "$ref", "id", "not", "contentEncoding",
        ];
        prop_oneof![
            6 => (counts, (0u64..3).prop_map(Value::from)),
            6 => (bounds, (-3i64..4).prop_map(Value::from)),
            1 => (Just("uniqueItems"), any::<bool>().prop_map(Value::from)),
            1 => (Just("format"), select(vec!["date", "own"]).prop_map(Value::from)),
            1 => (Just("const"), a_value()),
            1 => (Just("enum"), proptest::collection::vec(a_value(), 1..3).prop_map(Value::from)),
            1 => (select(odd.to_vec()), a_value()),
        ]
    }

    fn a_leaf() -> impl Strategy<Value = Value> {
        let kind = proptest::sample::select(&crate::finding::keyword::TYPES[..]);
        let limits = proptest::collection::vec(a_limit(), 0..3);
        (proptest::option::of(kind), limits).prop_map(|(kind, limits)| {
            let mut schema: Map<String, Value> =
                limits.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
            schema.extend(kind.map(|kind| ("type".to_string(), kind.into())));
            Value::Object(schema)
        })
    }

    fn a_schema() -> impl Strategy<Value = Value> {
        a_leaf().prop_recursive(4, 24, 3, |inner| {
            let optional = || proptest::option::of(inner.clone());
            let lists = (proptest::collection::vec(inner.clone(), 0..3), any::<[bool; 4]>());
            (inner.clone(), optional(), optional(), optional(), lists).prop_map(
                |(mut own, a, b, items, lists)| {
                    let named =
                        [("a", a), ("b", b)].into_iter().filter_map(|(name, schema)| Some((name, schema?)));
                    let named: Map<String, Value> =
                        named.map(|(name, schema)| (name.into(), schema)).collect();
                    let (variants, [has_required, is_closed, has_types, has_values]) = lists;
                    own["properties"] = named.into();
                    items.into_iter().for_each(|items| own["items"] = items);
                    if !variants.is_empty() {
                        own["anyOf"] = variants.into();
                    }
                    if has_required {
                        own["required"] = json!(["a"]);
                    }
                    if is_closed {
                        own["additionalProperties"] = has_types.into();
                    }
                    if has_types {
                        own["type"] = json!(["object", "array", "null"]);
                    }
                    if has_values {
                        own["enum"] = json!([1, 1.0, { "a": 1 }, [], null]);
                    }
                    own
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_plain_schema_compiles_as_it_is_and_accepts_what_its_validator_accepts(
            inner in prop_oneof![a_leaf(), a_schema()],
            values in proptest::collection::vec(a_value(), 16),
        ) {
            let schema = json!({ "type": "object", "properties": { "a": inner } });
            if is_plain(&schema) {
                prop_assert!(repair(&schema).is_none(), "{schema}");
                let cost = ValidationCost::of(&schema);
                let validator = compile(&schema, cost).map_err(TestCaseError::fail)?;
                for value in values {
                    let value = json!({ "a": value });
                    if accepts(&schema, &value) {
                        prop_assert!(validator.is_valid(&value) && cost.affords(&schema, &value), "{schema} {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn usual_schemas_are_plain() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "description": "Its name" },
                "limit": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }], "default": null },
                "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        assert!(is_plain(&schema) && accepts(&schema, &json!({ "name": "x", "limit": 1, "tags": ["a"] })));
        for wrong in [json!({}), json!({ "name": "" }), json!({ "name": "x", "other": 1 }), json!([])] {
            assert!(!accepts(&schema, &wrong), "{wrong}");
        }
        for other in
            [json!({ "type": "object", "properties": { "a": { "pattern": "[" } } }), json!({}), json!(true)]
        {
            assert!(!is_plain(&other), "{other}");
        }
    }
}
