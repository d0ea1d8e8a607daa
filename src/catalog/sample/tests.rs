//! Sample calls, and the work they take.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn check(schema: Value, expect: Value) {
    let valid = jsonschema::validator_for(&schema).unwrap();
    let made = sample_arguments(&schema, &|value| valid.is_valid(value)).map(Value::Object);
    assert_eq!(made, Some(expect), "{schema}");
}

/// A schema that requires one argument.
fn one(name: &str, property: Value) -> Value {
    json!({ "type": "object", "properties": { name: property }, "required": [name] })
}

/// Checks the sample of each schema, or of each required argument.
macro_rules! cases {
    (one; $($name:literal: $schema:tt => $wanted:tt;)+) => { $(check(one($name, json!($schema)), json!($wanted));)+ };
    ($($schema:tt => $wanted:tt;)+) => { $(check(json!($schema), json!($wanted));)+ };
}

#[test]
fn names_formats_and_mentions_make_plausible_values() {
    cases! { one;
        "owner": { "type": "string" } => { "owner": "octocat" };
        "task_id": { "type": "string" } => { "task_id": "task_123" };
        "due": { "type": "string", "format": "date" } => { "due": "2026-01-15" };
        "end_date": { "type": "string", "description": "YYYY-MM-DD" } => { "end_date": "2026-01-31" };
        "ref": { "type": "string", "description": "A revision (e.g. HEAD~1)" } => { "ref": "HEAD~1" };
        "mode": { "type": "string", "description": "Such as 'fast' or 'slow'" } => { "mode": "fast" };
        "per_page": { "type": "integer", "maximum": 5 } => { "per_page": 5 };
        "lat": { "type": "number" } => { "lat": 52.52 };
        "city_name": { "type": ["null", "string"] } => { "city_name": "Berlin" };
        "frob": { "enum": [null, "a"] } => { "frob": null };
        "frob": { "type": "string", "default": "x", "examples": ["y"] } => { "frob": "y" };
    }
}

#[test]
fn limits_are_kept() {
    cases! { one;
        "x": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 } => { "x": 0.375 };
        "x": { "type": "integer", "exclusiveMinimum": 20, "multipleOf": 7 } => { "x": 21 };
        "code": { "type": "string", "pattern": "^[A-Z]{3}-\\d{4}$" } => { "code": "ABC-1234" };
        "side": { "type": "string", "pattern": "^(buy|sell)$" } => { "side": "buy" };
        "name": { "type": "string", "maxLength": 4 } => { "name": "exam" };
        "tags": { "type": "array", "minItems": 2, "uniqueItems": true, "items": { "enum": ["a", "b"] } }
            => { "tags": ["a", "b"] };
        "at": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "boolean" }], "minItems": 2 }
            => { "at": [1.5, true] };
    }
}

#[test]
fn references_and_compositions_are_followed() {
    let defs = json!({ "node": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "child": { "$ref": "#/$defs/node" } } } });
    check(
        json!({ "$defs": defs, "type": "object", "required": ["root"], "properties": { "root": { "$ref": "#/$defs/node" } } }),
        json!({ "root": { "name": "example" } }),
    );
    cases! { one;
        "x": { "anyOf": [{ "type": "null" }, { "type": "integer", "const": 3 }] } => { "x": 3 };
        "x": { "allOf": [{ "type": "object", "required": ["limit"] }, { "properties": { "limit": { "type": "integer" } } }] }
            => { "x": { "limit": 10 } };
    }
    check(
        json!({ "type": "object", "properties": { "a": { "type": "boolean" }, "b": { "type": "boolean" } }, "oneOf": [{ "required": ["b"] }] }),
        json!({ "b": true }),
    );
}

#[test]
fn only_an_object_that_requires_nothing_shows_optional_arguments() {
    cases! {
        { "type": "object", "properties": { "q": { "type": "string" }, "limit": { "type": "integer" }, "page": { "type": "integer" } } }
            => { "q": "open invoices", "limit": 10 };
        { "type": "object", "required": ["q"], "properties": { "q": { "type": "string" }, "limit": { "type": "integer" } } }
            => { "q": "open invoices" };
        { "type": "object" } => {};
    }
}

#[test]
fn a_schema_that_nothing_fits_has_no_sample() {
    let never = one("x", json!({ "$ref": "#/properties/x" }));
    assert_eq!(sample_arguments(&never, &|_| true), None);
    assert_eq!(sample_arguments(&json!(false), &|_| true), None);
    assert_eq!(sample_arguments(&one("x", json!({ "type": "string" })), &|_| false), None);
}

#[test]
fn a_telling_argument_is_neither_recursive_nor_needs_to_nest_deep() {
    let page = json!({ "type": "integer", "default": 1 });
    let filter = json!({ "oneOf": [{ "type": "object", "required": ["and"], "properties": {
        "and": { "type": "array", "items": { "$ref": "#/$defs/f" } } } }] });
    let number = json!({ "type": "array", "items": { "type": "integer" } });
    let rows = json!({ "type": "array", "items": number });
    let deep = json!({ "type": "array", "items": rows });
    check(
        json!({ "$defs": { "f": filter }, "properties": { "filter": { "$ref": "#/$defs/f" }, "deep": deep, "rows": rows, "page": page } }),
        json!({ "rows": [[1]], "page": 1 }),
    );
    let node = json!({ "type": "object", "properties": { "label": { "type": "string" }, "below": { "$ref": "#/$defs/n" } } });
    check(
        json!({ "$defs": { "n": node }, "properties": { "n": { "$ref": "#/$defs/n" } } }),
        json!({ "n": { "label": "bug" } }),
    );
    check(json!({ "properties": { "self": { "$ref": "#" } } }), json!({}));
    check(one("deep", deep.clone()), json!({ "deep": [[[10]]] }));
}

/// The seconds that a sample takes.
fn seconds(schema: &Value, is_valid: bool) -> f64 {
    let start = std::time::Instant::now();
    sample_arguments(schema, &|_| is_valid);
    start.elapsed().as_secs_f64()
}

#[test]
fn schemas_that_multiply_give_up_soon() {
    let many = |count: usize, property: Value| -> Map<String, Value> {
        (0..count).map(|n| (format!("p{n}"), property.clone())).collect()
    };
    let itself = json!({ "$ref": "#" });
    for (count, property) in [
        (300, json!({ "allOf": [itself, itself, itself] })),
        (3_000, json!({ "allOf": [itself, itself, itself] })),
        (30, json!({ "allOf": [itself, itself] })),
        (10_000, itself.clone()),
        (1_000, json!({ "type": "array", "minItems": 16, "items": { "anyOf": [itself, itself] } })),
        (1_000, json!({ "type": "string", "pattern": "(\\w{50}){50}" })),
        (10, json!({ "type": "string", "enum": vec!["x".repeat(500); 2_000], "examples": vec!["y"; 2_000] })),
    ] {
        let properties = many(count, property.clone());
        let required: Vec<&String> = properties.keys().collect();
        for schema in
            [json!({ "properties": properties, "required": required }), json!({ "properties": properties })]
        {
            for is_valid in [true, false] {
                let took = seconds(&schema, is_valid);
                assert!(took < 2.0, "{count} of {property}: {took} s");
            }
        }
    }
}

#[test]
fn a_large_plain_schema_has_a_sample() {
    let properties: Map<String, Value> = (0..250)
        .map(|n| (format!("p{n}"), json!({ "type": "string", "description": "About it. ".repeat(100) })))
        .collect();
    let required: Vec<&String> = properties.keys().collect();
    let schema =
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "properties": properties, "required": required } } });
    assert_eq!(sample_arguments(&schema, &|_| true).map(|made| made.len()), Some(250));
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        (any::<i32>(), any::<i32>(), any::<bool>()).prop_map(|(a, b, flag)| json!({ "type": "integer", "minimum": a, "maximum": b, "exclusiveMaximum": flag, "multipleOf": a })),
        ("\\PC{0,12}", 0u64..5000, 0u64..50).prop_map(|(p, a, b)| json!({ "type": "string", "pattern": p, "minLength": a, "maxLength": b, "description": format!("e.g. {p}") })),
        Just(json!({ "$ref": "#" })),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let many = proptest::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            many.clone().prop_map(|all| json!({ "allOf": all })),
            many.clone().prop_map(|any| json!({ "anyOf": any, "type": ["null", "object"] })),
            (inner, 0u64..9).prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least, "uniqueItems": true })),
            many.prop_map(|all| {
                let properties: Map<String, Value> = all.into_iter().enumerate().map(|(i, s)| (format!("p{i}"), s)).collect();
                json!({ "type": "object", "required": properties.keys().collect::<Vec<_>>(), "properties": properties })
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_is_taken_and_what_is_made_was_accepted(schema in schema()) {
        let first = sample_arguments(&schema, &|value| value.as_object().is_some_and(|made| made.len() != 1));
        prop_assert!(first.as_ref().is_none_or(|made| made.len() != 1));
        prop_assert_eq!(&first, &sample_arguments(&schema, &|value| value.as_object().is_some_and(|made| made.len() != 1)));
    }
}
