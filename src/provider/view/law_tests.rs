//! What holds for every schema on every wire, tried with small made-up schemas and with all tools of real catalogs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jsonschema::Validator;
use proptest::prelude::*;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::super::Provider;
use super::tests::rules;
use super::*;
use crate::{catalog, config};

/// Rules that differ, each by the first provider that has them.
fn all_rules() -> Vec<(Provider, SchemaRules)> {
    let mut distinct = BTreeMap::new();
    for provider in Provider::ALL {
        let rules = SchemaRules { strict: None, ..*rules(provider) };
        distinct.entry(format!("{rules:?}")).or_insert((provider, rules));
    }
    distinct.into_values().collect()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::options().offline().build(schema).map_err(|error| error.to_string())
}

/// A call with the names that the provider sees.
fn with_names(value: &Value, names: &HashMap<&str, &str>) -> Value {
    match value {
        Value::Object(object) => {
            let seen = |name: &String| names.get(name.as_str()).map_or(name.clone(), |seen| seen.to_string());
            Value::Object(object.iter().map(|(name, value)| (seen(name), with_names(value, names))).collect())
        }
        Value::Array(list) => list.iter().map(|value| with_names(value, names)).collect(),
        other => other.clone(),
    }
}

/// A schema, and calls that it accepts.
struct Law<'a> {
    schema: &'a Value,
    calls: Vec<&'a Value>,
    /// Views that were tried.
    tried: HashSet<String>,
}

impl<'a> Law<'a> {
    fn new(schema: &'a Value, calls: Vec<&'a Value>) -> Self {
        Law { schema, calls, tried: HashSet::new() }
    }

    /// On every wire, a view is a valid schema, is its own view, and accepts what the canonical schema accepts.
    fn holds(&mut self, all: &[(Provider, SchemaRules)]) -> Result<(), String> {
        for (provider, rules) in all {
            for compact in [false, true] {
                self.holds_for(rules, compact).map_err(|error| {
                    format!("{provider:?}, compact {compact}: {error}\nof {}", self.schema)
                })?;
            }
        }
        Ok(())
    }

    fn holds_for(&mut self, rules: &SchemaRules, compact: bool) -> Result<(), String> {
        let view = |schema: &Value| view(schema, rules, compact, None).map(|view| view.schema);
        let Some(once) = view(self.schema)? else { return Ok(()) };
        let text = once.to_string();
        let twice = view(&once)?.unwrap_or_default().to_string();
        if twice != text {
            return Err(format!("not its own view:\n{text}\n{twice}"));
        }
        if !self.tried.insert(text) {
            return Ok(());
        }
        let validator = compile(&once).map_err(|error| format!("invalid: {error}\n{once}"))?;
        let names = renamed(self.schema, rules.keys);
        let names = names.iter().map(|(emitted, canonical)| (canonical.as_str(), emitted.as_str())).collect();
        let refused = self.calls.iter().find(|call| !validator.is_valid(&with_names(call, &names)));
        refused.map_or(Ok(()), |call| Err(format!("refuses {call}\n{once}")))
    }
}

#[test]
fn views_of_all_catalogs_obey() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/catalogs");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let all = all_rules();
    let mut strict = 0;
    for file in files {
        let checked = catalog::open(config::read(&file));
        let law = |(index, tool): (usize, &catalog::Tool)| {
            tool.parameters.validator()?;
            // Large schemas are mostly the definitions that they share; one in eight tells as much.
            if index % 8 != 0 && keyword::measure(tool.parameters.schema()).0 > 1_000 {
                return None;
            }
            let mut calls: Vec<Value> = tool.call.iter().map(|call| Value::Object(call.clone())).collect();
            calls.extend(tool.examples.iter().map(|example| Value::Object(example.arguments.clone())));
            let accepted: Vec<&Value> = calls.iter().filter(|call| tool.parameters.accepts(call)).collect();
            let held = Law::new(tool.parameters.schema(), accepted).holds(&all);
            held.err().map(|error| format!("{}: {error}", tool.name))
        };
        let wrong: Vec<String> = checked.catalog.tools.par_iter().enumerate().filter_map(law).collect();
        assert!(wrong.is_empty(), "{} wrong in {}; first: {}", wrong.len(), file.display(), wrong[0]);
        strict += checked.catalog.tools.iter().filter(|tool| is_strict(tool)).count();
    }
    assert!(strict > 1000, "only {strict} tools can be strict");
}

fn is_strict(tool: &catalog::Tool) -> bool {
    let Some(_) = tool.parameters.validator() else { return false };
    [Provider::OpenAi, Provider::Anthropic].into_iter().all(|provider| {
        let view =
            view(tool.parameters.schema(), rules(provider), false, Some(&mut Room::default())).unwrap();
        let schema = view.schema.unwrap();
        assert!(!view.strict || compile(&schema).is_ok(), "{}: {schema}", tool.name);
        view.strict
    })
}

fn any_type() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("string")),
        Just(json!("integer")),
        Just(json!("number")),
        Just(json!("array")),
        Just(json!("object")),
        Just(json!(["string", "null"])),
        Just(json!(["array", "object"])),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_type().prop_map(|word| json!({ "type": word })),
        (0..3u64).prop_map(|least| json!({ "minimum": least, "minLength": least, "minItems": least })),
        prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!(null)), Just(json!(1.0))]
            .prop_map(|value| json!({ "const": value })),
        Just(json!({ "enum": ["a", "$b", 2] })),
        Just(json!({ "type": "string", "nullable": true, "format": "date", "default": "a" })),
        Just(json!({ "$ref": "#/$defs/s" })),
        Just(json!({ "$ref": "#/$defs/r" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/$defs/r", "description": "d", "minProperties": 1 })),
        any::<bool>().prop_map(Value::Bool),
    ]
}

fn any_schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 3, |inner| {
        let named = prop::collection::vec(
            (prop_oneof![Just("a"), Just("$b"), Just("c d"), Just("b")], inner.clone()),
            1..3,
        );
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (named, any_type(), 0..4u8).prop_map(|(named, word, more)| {
                let properties: Map<String, Value> =
                    named.into_iter().map(|(name, schema)| (name.to_string(), schema)).collect();
                let first = properties.keys().next().cloned();
                let mut schema = json!({ "properties": properties });
                match more {
                    0 => schema["required"] = json!([first]),
                    1 => schema["additionalProperties"] = json!(false),
                    2 => schema["type"] = word,
                    _ => schema["patternProperties"] = json!({ "^b": { "type": "string" } }),
                }
                schema
            }),
            (prop_oneof![Just("anyOf"), Just("oneOf"), Just("allOf"), Just("prefixItems")], list, leaf())
                .prop_map(|(key, list, more)| {
                    let mut schema = more.as_object().cloned().unwrap_or_default();
                    schema.insert(key.into(), Value::Array(list));
                    Value::Object(schema)
                }),
            (
                prop_oneof![
                    Just("not"),
                    Just("items"),
                    Just("additionalProperties"),
                    Just("if"),
                    Just("propertyNames"),
                    Just("contains"),
                    Just("unevaluatedProperties"),
                    Just("unevaluatedItems")
                ],
                inner.clone(),
                inner
            )
                .prop_map(|(key, one, other)| json!({ key: one, "then": other, "maxContains": 2 })),
        ]
    })
}

fn any_call() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("a")),
        Just(json!("$b")),
        Just(json!(1)),
        Just(json!(2.5)),
        Just(json!(null)),
        Just(json!([])),
        Just(json!({}))
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        let named = prop::collection::vec(
            (prop_oneof![Just("a"), Just("$b"), Just("c d"), Just("b")], inner.clone()),
            0..3,
        );
        prop_oneof![
            named
                .prop_map(|named| named.into_iter().map(|(name, value)| (name.to_string(), value)).collect()),
            prop::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    });
    prop::collection::vec((prop_oneof![Just("a"), Just("$b"), Just("x")], value), 0..3)
        .prop_map(|named| named.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Below the root, where a property means what its schema says, whatever else stands there.
    #[test]
    fn views_of_any_schema_obey(a in any_schema(), b in any_schema(), s in any_schema(), calls in prop::collection::vec(any_call(), 24)) {
        // `s` refers to others only below a property, or validators would go in circles.
        let s: Value = serde_json::from_str(&s.to_string().replace("\"#/$defs/s\"", "\"#/$defs/r\"")).unwrap();
        let schema = json!({ "type": "object", "properties": { "a": a, "$b": b }, "$defs": {
            "s": s, "r": { "type": "object", "properties": { "a": { "$ref": "#/$defs/r" }, "b": { "$ref": "#/$defs/s" } } } } });
        let Ok(canonical) = compile(&schema) else { return Ok(()) };
        let accepted: Vec<&Value> = calls.iter().filter(|call| canonical.is_valid(call)).collect();
        let held = Law::new(&schema, accepted).holds(&all_rules());
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }

    /// At the root, where unions of closed objects become one.
    #[test]
    fn views_of_unions_at_the_root_obey(
        branches in prop::collection::vec((any_schema(), any_schema(), any::<bool>()), 1..3),
        own in any_schema(),
        keys in prop::sample::subsequence(vec!["allOf", "anyOf", "oneOf"], 1..3),
        inner in any::<bool>(),
        calls in prop::collection::vec(any_call(), 24),
    ) {
        let branch = |(a, b, required): &(Value, Value, bool)| json!({ "type": "object", "properties": { "a": a, "$b": b, "x": {} },
            "required": if *required { json!(["a"]) } else { json!([]) }, "additionalProperties": false });
        let mut branches: Vec<Value> = branches.iter().map(branch).collect();
        branches.push(json!({ "$ref": "#/$defs/r" }));
        if inner {
            branches = vec![json!({ "anyOf": branches }), json!(true)];
        }
        let mut schema = json!({ "properties": { "a": own }, "$defs": { "s": {}, "r": { "type": "object", "properties": { "a": {}, "$b": {}, "x": {} } } } });
        for key in keys {
            schema[key] = Value::Array(branches.clone());
        }
        let Ok(canonical) = compile(&schema) else { return Ok(()) };
        let accepted: Vec<&Value> = calls.iter().filter(|call| canonical.is_valid(call)).collect();
        let held = Law::new(&schema, accepted).holds(&all_rules());
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }

    #[test]
    fn any_json_is_a_schema_or_none(value in any_call(), schema in any_schema(), draft in 4..8u8) {
        let odd = json!({ "$schema": format!("http://json-schema.org/draft-0{draft}/schema#"), "properties": value, "required": value,
            "anyOf": [schema, value], "items": [value], "type": value, "dependencies": value, "definitions": value });
        for (_, rules) in all_rules() {
            if let Ok(View { schema: Some(view), .. }) = view(&odd, &rules, false, Some(&mut Room::default())) {
                prop_assert!(compile(&view).is_ok(), "{view}");
            }
        }
    }
}
