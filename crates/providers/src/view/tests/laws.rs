//! Laws of every schema in every format, tested with small generated schemas.

use std::collections::{BTreeMap, HashMap, HashSet};

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::*;
use super::rules;
use crate::Provider;

/// Rules that differ, each from the first provider that has them.
pub(super) fn all_rules() -> Vec<(Provider, SchemaRules)> {
    let mut distinct = BTreeMap::new();
    for &provider in Provider::ALL {
        let rules = SchemaRules { strict: None, ..*rules(provider) };
        distinct.entry(format!("{rules:?}")).or_insert((provider, rules));
    }
    distinct.into_values().collect()
}

pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::options().offline().build(schema).map_err(|error| error.to_string())
}

/// Writes calls with the names that a provider sees, as its view of the schema says.
struct Encoding<'a> {
    /// Emitted names by canonical ones.
    names: HashMap<&'a str, &'a str>,
    root: &'a Value,
}

impl<'a> Encoding<'a> {
    /// `None` where a key of an open object equals the provider's name of a property: it means the property.
    fn call(&self, value: &Value, schemas: &[&'a Value]) -> Option<Value> {
        let mut applied = Vec::new();
        schemas.iter().for_each(|schema| self.add(schema, &mut applied));
        Some(match value {
            Value::Object(fields) => {
                let is_property = |name: &str| applied.iter().any(|schema| mentions(schema, name));
                let mut seen = Map::new();
                for (name, field) in fields {
                    let emitted = self.names.get(name.as_str()).filter(|_| is_property(name));
                    let inside: Vec<&Value> =
                        applied.iter().flat_map(|schema| of_property(schema, name)).collect();
                    seen.insert(
                        emitted.map_or(name.clone(), |name| name.to_string()),
                        self.call(field, &inside)?,
                    );
                }
                let stands_for = |(canonical, emitted): (&&str, &&str)| {
                    is_property(canonical) && fields.contains_key(*emitted)
                };
                (!self.names.iter().any(stands_for)).then_some(Value::Object(seen))?
            }
            Value::Array(items) => {
                let item = |(index, item): (usize, &Value)| {
                    let inside: Vec<&Value> =
                        applied.iter().flat_map(|schema| of_item(schema, index)).collect();
                    self.call(item, &inside)
                };
                items.iter().enumerate().map(item).collect::<Option<_>>()?
            }
            other => other.clone(),
        })
    }

    fn add(&self, schema: &'a Value, applied: &mut Vec<&'a Value>) {
        if applied.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        applied.push(schema);
        if let Some(reference) = schema["$ref"].as_str() {
            self.add(self.root.pointer(&reference[1..]).unwrap(), applied);
        }
        let lists =
            ["allOf", "anyOf", "oneOf"].iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
        let single = ["not", "if", "then", "else"].iter().filter_map(|key| schema.get(key));
        let dependent = schema["dependentSchemas"].as_object().into_iter().flat_map(Map::values);
        lists.chain(single).chain(dependent).for_each(|part| self.add(part, applied));
    }
}

fn mentions(schema: &Value, name: &str) -> bool {
    let lists = |names: &Value| names.as_array().is_some_and(|names| names.contains(&json!(name)));
    let dependent = schema["dependentRequired"].as_object().into_iter().flatten();
    schema["properties"].get(name).or(schema["dependentSchemas"].get(name)).is_some()
        || lists(&schema["required"])
        || dependent.into_iter().any(|(key, names)| key == name || lists(names))
}

fn of_property<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    match schema["properties"].get(name) {
        Some(own) => vec![own],
        None if schema.get("patternProperties").is_some() => Vec::new(),
        None => ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .filter_map(|key| schema.get(key))
            .collect(),
    }
}

fn of_item(schema: &Value, index: usize) -> Vec<&Value> {
    let others = || ["items", "unevaluatedItems"].iter().filter_map(|key| schema.get(key)).collect();
    let mut found = schema["prefixItems"].get(index).map_or_else(others, |own| vec![own]);
    found.extend(schema.get("contains"));
    found
}

/// A schema, and calls that it accepts.
pub(super) struct Law<'a> {
    schema: &'a Value,
    calls: Vec<&'a Value>,
    /// Views that were tried.
    tried: HashSet<String>,
}

impl<'a> Law<'a> {
    pub(super) fn new(schema: &'a Value, calls: Vec<&'a Value>) -> Self {
        Law { schema, calls, tried: HashSet::new() }
    }

    /// In every format, a view is a valid schema, is its own view, and accepts every value that the canonical schema
    /// accepts.
    pub(super) fn holds(&mut self, all: &[(Provider, SchemaRules)]) -> Result<(), String> {
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
        let view = |schema: &Value| {
            let view = view(schema, rules, compact, None);
            view.map(|view| view.schema).map_err(|unfit| unfit.to_string())
        };
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
        let names = property_names::renamed(self.schema, rules.keys);
        let schema = to_2020_12(self.schema, false, &mut Loosened::default());
        let names = names.iter().map(|(emitted, canonical)| (canonical.as_str(), emitted.as_str())).collect();
        let encoding = Encoding { names, root: &schema };
        let renaming = Renaming::of(self.schema, rules.keys);
        for call in &self.calls {
            let Some(seen) = encoding.call(call, &[&schema]) else { continue };
            if !validator.is_valid(&seen) {
                return Err(format!("refuses {call}\n{once}"));
            }
            let mut read = seen.clone();
            renaming.iter().for_each(|renaming| renaming.undo(&mut read));
            // Compared as text, so that the order of properties counts.
            let [given, back] = [call, &read].map(|call| format!("{call}"));
            if given != back {
                return Err(format!("{call} is seen as {seen}, and read as {read}"));
            }
        }
        Ok(())
    }
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
            (
                prop_oneof![Just("a"), Just("$b"), Just("c d"), Just("b"), Just("b_2"), Just("c_d")],
                inner.clone(),
            ),
            0..3,
        );
        prop_oneof![
            named
                .prop_map(|named| named.into_iter().map(|(name, value)| (name.to_string(), value)).collect()),
            prop::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    });
    prop::collection::vec((prop_oneof![Just("a"), Just("$b"), Just("x"), Just("b_2")], value), 0..3)
        .prop_map(|named| named.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Below the root, where a property follows its schema, whatever stands beside it.
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

    /// Names of properties come back, and keys of open objects stay as they are.
    #[test]
    fn calls_come_back_as_they_were(a in any_schema(), b in any_schema(), s in any_schema(), calls in prop::collection::vec(any_call(), 24)) {
        let tree = json!({ "type": ["object", "array"], "properties": { "$b": b, "c d": {}, "a": { "type": "object" } },
            "items": { "$ref": "#/$defs/r" }, "additionalProperties": { "$ref": "#/$defs/r" } });
        let schema = json!({ "type": "object", "properties": { "a": { "type": "object" }, "$b": { "anyOf": [{ "$ref": "#/$defs/r" }, a] } },
            "additionalProperties": { "$ref": "#/$defs/r" }, "$defs": { "r": tree, "s": s } });
        let Some(renaming) = Renaming::of(&schema, Keys::Portable) else { return Ok(()) };
        let root = to_2020_12(&schema, false, &mut Loosened::default());
        let names = property_names::renamed(&schema, Keys::Portable);
        let names = names.iter().map(|(emitted, canonical)| (canonical.as_str(), emitted.as_str())).collect();
        let encoding = Encoding { names, root: &root };
        for call in &calls {
            let Some(mut read) = encoding.call(call, &[&root]) else { continue };
            renaming.undo(&mut read);
            prop_assert_eq!(read.to_string(), call.to_string());
        }
    }

    #[test]
    fn any_json_is_a_schema_or_none(value in any_call(), schema in any_schema(), draft in 4..8u8) {
        let odd = json!({ "$schema": format!("http://json-schema.org/draft-0{draft}/schema#"), "properties": value, "required": value,
            "anyOf": [schema, value], "items": [value], "type": value, "dependencies": value, "definitions": value });
        for (_, rules) in all_rules() {
            if let Ok(ProviderSchema { schema: Some(view), .. }) = view(&odd, &rules, false, Some(&mut StrictBudget::default())) {
                prop_assert!(compile(&view).is_ok(), "{view}");
            }
        }
    }
}
