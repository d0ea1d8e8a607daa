//! Documents that attack the reader, and documents of random data.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

fn nested(depth: usize, inner: Value) -> Value {
    (0..depth).fold(inner, |schema, _| json!({ "allOf": [schema] }))
}

#[test]
fn cycles_of_every_kind_end() {
    let components = json!({
        "pathItems": { "A": { "$ref": "#/components/pathItems/B" }, "B": { "$ref": "#/components/pathItems/A" } },
        "parameters": { "P": { "$ref": "#/components/parameters/P" } },
        "schemas": { "X": { "$ref": "#/components/schemas/Y" }, "Y": { "$ref": "#/components/schemas/X" },
            "Z": { "allOf": [{ "$ref": "#/components/schemas/Z" }, { "required": ["a"] }] } }
    });
    let body = |name: &str| json!({ "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } } });
    let item = json!({ "$ref": "#/components/pathItems/A",
        "get": { "parameters": [{ "$ref": "#/components/parameters/P" }] },
        "post": { "requestBody": body("X") }, "put": { "requestBody": body("Z") }
    });
    let imported = imported("3.1.0", "/", item, components);
    assert_eq!(imported.operations.len(), 3);
    assert_eq!(findings(&imported).iter().filter(|finding| finding.0 == "schema-ref-broken").count(), 2);
    assert_sound(&imported);
}

#[test]
fn a_document_in_which_all_reaches_all_stays_small() {
    let text = "a description that is repeated in every property of the schema ".repeat(4);
    let schema = |index: usize| {
        let mut properties: Map<String, Value> =
            (0..20).map(|n| (format!("p{n}"), json!({ "type": "string", "description": text }))).collect();
        properties.insert("next".into(), json!({ "$ref": format!("#/components/schemas/S{}", index + 1) }));
        (format!("S{index}"), json!({ "allOf": [{ "type": "object", "properties": properties }] }))
    };
    let schemas: Map<String, Value> =
        (0..300).map(schema).chain([("S300".to_string(), nested(100, json!({})))]).collect();
    let body = json!({ "content": { "application/json": { "schema": { "type": "array", "items": { "$ref": "#/components/schemas/S0" } } } } });
    let paths: Map<String, Value> = (0..500)
        .map(|n| {
            (format!("/{n}"), json!({ "post": { "operationId": format!("o{n}"), "requestBody": body } }))
        })
        .collect();
    let mut document = json!({ "openapi": "3.1.0", "paths": paths, "components": { "schemas": schemas } });
    let imported = import_within("api.json", &mut document, 16 << 20);
    let total: usize =
        imported.operations.iter().map(|o| o.definition.parameters.as_ref().unwrap().text().len()).sum();
    assert!(total < 16 << 20, "{total}");
    let cut = findings(&imported).iter().filter(|finding| finding.0 == "schema-ref-broken").count();
    assert_eq!(cut, 500);
}

#[test]
fn one_path_item_under_many_paths_stays_small() {
    let names: Vec<Value> = (0..300)
        .map(|n| json!({ "in": "query", "name": format!("filter[{n}]"), "schema": { "type": "string" } }))
        .collect();
    let paths: Map<String, Value> =
        (0..300).map(|n| (format!("/{n}"), json!({ "$ref": "#/components/pathItems/All" }))).collect();
    let all = json!({ "parameters": names, "get": { "description": "long ".repeat(100_000) } });
    let mut document =
        json!({ "openapi": "3.1.0", "paths": paths, "components": { "pathItems": { "All": all } } });
    let imported = import_within("api.json", &mut document, 16 << 20);
    let total: usize =
        imported.operations.iter().map(|o| serde_json::to_string(&o.definition).unwrap().len()).sum();
    assert!(total < 16 << 20, "{total}");
    assert_eq!(imported.operations.len(), 300);
    assert!(imported.findings.len() < 1_000, "{}", imported.findings.len());
}

fn sample() -> Value {
    json!({ "openapi": "3.0.0", "info": { "title": "T" }, "tags": [{ "name": "a", "parent": "b" }], "servers": [{ "url": "/" }],
        "paths": { "/a/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "$ref": "#/components/schemas/A" } }],
            "post": { "operationId": "a", "tags": ["a"], "summary": "S", "parameters": [
                { "name": "q", "in": "query", "example": 1, "schema": { "type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true } }
            ], "requestBody": { "required": true, "content": { "application/json": { "example": { "b": 1 }, "schema": {
                "allOf": [{ "$ref": "#/components/schemas/B" }, { "type": "object", "properties": { "c": { "enum": ["x"] } }, "required": ["c"] }]
            } } } }, "responses": { "200": { "description": "ok", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/B" } } } } } }
        } },
        "components": { "schemas": {
            "A": { "type": "string", "pattern": "^a", "maxLength": 9 },
            "B": { "type": "object", "properties": { "b": { "type": "array", "items": { "$ref": "#/components/schemas/B" } } }, "additionalProperties": false }
        } } })
}

/// Every value of a document, in order; `change` may replace the one at `target`.
fn walk(value: &mut Value, at: &mut usize, target: usize, change: &Value) {
    *at += 1;
    if *at == target {
        *value = change.clone();
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, at, target, change)),
        Value::Object(map) => map.values_mut().for_each(|item| walk(item, at, target, change)),
        _ => {}
    }
}

fn junk() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] = &[
        "#/components/schemas/B", "#", "x.json#/a", "path", "", "\u{202e}", "post", "file",
        "#/paths/~1a~1{id}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    const KEYS: &[&str] = &[
        "$ref", "type", "properties", "required", "allOf", "items", "nullable", "schema", "in", "name",
        "content", "readOnly",
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::hash_map(proptest::sample::select(KEYS), inner, 0..3)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_string(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_document_panics_and_what_comes_out_resolves(changes in proptest::collection::vec((1usize..110, junk()), 1..4), swagger: bool) {
        let mut document = sample();
        for (target, change) in &changes {
            walk(&mut document, &mut 0, *target, change);
        }
        if let (true, Some(map)) = (swagger, document.as_object_mut()) {
            map.shift_remove("openapi");
            map.insert("swagger".into(), "2.0".into());
        }
        let mut copy = document.clone();
        let first = import("api.json", &mut document);
        for operation in &first.operations {
            prop_assert!(document.pointer(&operation.pointer).is_some());
            let schema = parameters(&operation.definition);
            let mut refs = indexmap::IndexSet::new();
            crate::sources::ref_visitor::refs_in(schema, &mut refs);
            for key in refs {
                prop_assert!(schema["$defs"].get(&key).is_some(), "{key} in {schema}");
            }
        }
        let again = import("api.json", &mut copy);
        prop_assert_eq!(format!("{:?}", first.findings), format!("{:?}", again.findings));
        prop_assert_eq!(format!("{:?}", first.operations), format!("{:?}", again.operations));
    }
}
