//! Views of small schemas.

mod catalogs;
mod laws;

use serde_json::{Map, Value, json};

use super::super::Provider;
use super::defs::measure;
use super::*;

const ANY: SchemaRules = SchemaRules {
    inline: false,
    root: Root::Object,
    keywords: &[],
    keys: Keys::Any,
    omit_empty: false,
    strict: None,
};
const PROPERTIES: SchemaRules = SchemaRules { root: Root::Properties, ..ANY };

pub(super) fn rules(provider: Provider) -> &'static SchemaRules {
    &crate::provider::format_of(provider).schema
}

/// The view of property `a` of an object with only that property.
fn property(schema: Value, rules: &SchemaRules) -> Value {
    let whole = json!({ "type": "object", "properties": { "a": schema, "z": {} } });
    let view = view(&whole, rules, false, None).unwrap().schema.unwrap();
    view["properties"]["a"].clone()
}

fn whole(schema: Value, rules: &SchemaRules) -> Value {
    view(&schema, rules, false, None).unwrap().schema.unwrap_or(Value::Null)
}

/// Checks each schema against the view that is wanted of it.
macro_rules! cases {
    ($view:expr; $($schema:tt => $wanted:tt;)+) => { $(check($view(json!($schema)), json!($wanted));)+ };
}

#[track_caller]
fn check(got: Value, expect: Value) {
    assert_eq!(got, expect, "\n got {got}\nwant {expect}");
}

#[test]
fn every_dialect_becomes_todays() {
    let one = |schema| property(schema, &PROPERTIES);
    cases! { one;
        { "type": "integer", "minimum": 1, "exclusiveMinimum": true } => { "type": "integer", "exclusiveMinimum": 1 };
        { "type": "integer", "minimum": 1, "exclusiveMinimum": false } => { "type": "integer", "minimum": 1 };
        { "type": "string", "nullable": true, "enum": ["x"] } => { "type": ["string", "null"], "enum": ["x", null] };
        { "oneOf": [{ "type": "string" }], "nullable": true, "description": "d" }
            => { "description": "d", "anyOf": [{ "oneOf": [{ "type": "string" }] }, { "type": "null" }] };
        { "type": "array", "items": [{ "type": "string" }], "additionalItems": false }
            => { "type": "array", "prefixItems": [{ "type": "string" }], "items": { "not": {} } };
        { "type": "string", "example": 1, "x-order": 2, "discriminator": {}, "xml": {}, "$id": "u", "$schema": "s", "id": "i" }
            => { "type": "string" };
        { "type": "any", "required": true, "minimum": "1", "enum": 3, "anyOf": [] } => {};
        { "type": ["string", "string"] } => { "type": ["string"] };
        { "type": "array" } => { "type": "array", "items": {} };
    }
    check(
        property(json!({ "type": "array", "x-mcp-header": "h" }), &ANY),
        json!({ "type": "array", "x-mcp-header": "h" }),
    );
}

#[test]
fn an_old_draft_is_read_as_it_was() {
    let old = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {
        "a": { "$ref": "#/definitions/a", "minimum": 3 }, "b": { "const": 1 } },
        "definitions": { "a": { "type": "integer" } } });
    check(
        whole(old, &PROPERTIES),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" }, "b": {} }, "$defs": { "a": { "type": "integer" } } }),
    );
    let dependent = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "dependencies": { "a": ["b"], "b": { "required": ["c"] } } });
    check(
        whole(dependent, &ANY),
        json!({ "type": "object", "dependentRequired": { "a": ["b"] }, "dependentSchemas": { "b": { "required": ["c"] } } }),
    );
}

#[test]
fn properties_named_like_keywords_survive() {
    let names = json!({ "id": { "type": "string" }, "$schema": { "type": "string" }, "description": { "type": "string" },
        "title": { "type": "string" }, "examples": { "type": "string" }, "$ref": { "type": "string" }, "nullable": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": names });
    let compact = view(&schema, &PROPERTIES, true, None).unwrap().schema.unwrap();
    check(compact, schema);
}

#[test]
fn compact_leaves_the_structure() {
    let schema = json!({ "type": "object", "title": "T", "description": "D", "required": ["a"], "properties": {
        "a": { "type": "string", "description": "d", "default": "x", "examples": ["y"], "format": "date", "enum": ["x"], "deprecated": true } } });
    let compact = view(&schema, &PROPERTIES, true, None).unwrap().schema.unwrap();
    check(
        compact,
        json!({ "type": "object", "required": ["a"], "properties": {
        "a": { "type": "string", "format": "date", "enum": ["x"] } } }),
    );
}

#[test]
fn references_lead_to_definitions_that_are_needed() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "$ref": "#/definitions/Page%5BItem%5D" }, "b": { "$ref": "#/properties/c" }, "c": { "type": "string" }, "d": { "$ref": "#anchor" } },
        "definitions": { "Page[Item]": { "type": "null" }, "unused": {}, "named": { "$anchor": "anchor", "type": "boolean" } } });
    check(
        whole(schema, &ANY),
        json!({ "type": "object", "properties": {
        "a": { "$ref": "#/$defs/Page_Item_" }, "b": { "$ref": "#/$defs/c" }, "c": { "type": "string" }, "d": { "$ref": "#/$defs/named" } },
        "$defs": { "Page_Item_": { "type": "null" }, "c": { "type": "string" }, "named": { "type": "boolean" } } }),
    );
    let root = json!({ "$ref": "#/$defs/r", "$defs": { "r": { "type": "object", "properties": { "a": { "type": "string" } } } } });
    check(whole(root, &ANY), json!({ "type": "object", "properties": { "a": { "type": "string" } } }));
}

#[test]
fn references_are_inlined_and_cycles_are_cut() {
    let schema = json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/node", "description": "The tree" } },
        "$defs": { "node": { "type": "object", "description": "A node", "properties": { "next": { "$ref": "#/$defs/node" } } } } });
    let view = view(&schema, rules(Provider::Bedrock), false, None).unwrap();
    check(
        view.schema.unwrap(),
        json!({ "type": "object", "properties": {
        "tree": { "type": "object", "description": "The tree", "properties": { "next": { "type": "object" } } } } }),
    );
    assert_eq!(view.loosened, ["`node` contains itself, and is open at the second visit"]);
}

#[test]
fn references_that_double_are_bounded() {
    let step = |n: usize| {
        (
            format!("d{n}"),
            json!({ "type": "object", "properties": {
        "l": { "$ref": format!("#/$defs/d{}", n + 1) }, "r": { "$ref": format!("#/$defs/d{}", n + 1) } } }),
        )
    };
    let mut defs: Map<String, Value> = (0..200).map(step).collect();
    defs.insert("d200".into(), json!({ "type": "string" }));
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    for &provider in Provider::ALL {
        let view = view(&schema, rules(provider), false, Some(&mut StrictBudget::default())).unwrap();
        let (parts, depth) = measure(&view.schema.unwrap());
        assert!(parts < 60_000 && depth < 128, "{provider:?}: {parts} parts, {depth} deep");
    }
}

#[test]
fn a_union_at_the_root_becomes_one_object() {
    let schema = json!({ "type": "object", "description": "Names", "properties": { "x": { "type": "string" } },
        "oneOf": [
            { "properties": { "name": { "type": "string" }, "kind": { "const": "a" } }, "required": ["kind", "name"] },
            { "properties": { "names": { "type": "array", "items": {} }, "kind": { "const": "b" } }, "required": ["kind", "names"] },
        ] });
    let view = view(&schema, &PROPERTIES, false, None).unwrap();
    check(
        view.schema.unwrap(),
        json!({ "type": "object", "description": "Names. Give one of: `kind` and `name`; `kind` and `names`.",
        "properties": { "x": { "type": "string" }, "name": { "type": "string" }, "kind": { "enum": ["a", "b"] }, "names": { "type": "array", "items": {} } },
        "required": ["kind"] }),
    );
    assert_eq!(view.loosened, ["`oneOf` at the root"]);
}

#[test]
fn parts_at_the_root_are_merged() {
    let schema = json!({ "allOf": [
        { "$ref": "#/$defs/base" },
        { "type": "object", "properties": { "a": { "maximum": 5, "type": "number" }, "b": {} }, "required": ["b"] },
    ], "$defs": { "base": { "type": "object", "properties": { "a": { "type": "integer", "minimum": 1 } }, "required": ["a"] } } });
    check(
        whole(schema, &PROPERTIES),
        json!({ "type": "object",
        "properties": { "a": { "type": "integer", "minimum": 1, "maximum": 5 }, "b": {} }, "required": ["a", "b"] }),
    );
}

#[test]
fn few_keywords_say_what_they_can() {
    let gemini = |schema| property(schema, rules(Provider::Gemini));
    let ollama = |schema| property(schema, rules(Provider::Ollama));
    cases! { ollama;
        { "type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many." }
            => { "type": "integer", "description": "How many. (1 to 100, default 30)" };
        { "type": "integer", "maximum": 100, "default": 30, "description": "Default 30, at most 100" }
            => { "type": "integer", "description": "Default 30, at most 100" };
        { "type": "string", "format": "date" } => { "type": "string", "description": "date" };
        { "type": "array", "prefixItems": [{ "type": "string" }], "items": false, "minItems": 1 }
            => { "type": "array", "items": { "type": "string" }, "description": "at least 1 item" };
    }
    cases! { gemini;
        { "const": 3 } => { "type": "integer", "enum": [3] };
        { "type": "integer", "exclusiveMinimum": 0 } => { "type": "integer", "minimum": 1 };
        { "oneOf": [{ "type": "null" }, { "not": {}, "type": "string" }] }
            => { "anyOf": [{ "type": "null" }, { "type": "string" }] };
        { "oneOf": [true, { "type": "string" }] } => {};
        { "type": "object", "patternProperties": { "^x": { "type": "string" } }, "additionalProperties": false }
            => { "type": "object", "additionalProperties": { "type": "string" } };
        { "type": "object", "properties": {}, "required": ["x"] } => { "type": "object" };
        { "allOf": [{ "type": "string" }, { "minLength": 2 }] } => { "type": "string", "description": "at least 2 characters" };
    }
}

#[test]
fn a_reference_stands_alone_where_it_must() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/s", "description": "d" }, "b": { "$ref": "#/$defs/s", "title": "t" },
        "c": { "allOf": [{ "$ref": "#/$defs/s" }, { "enum": ["x"] }] } }, "$defs": { "s": { "type": "string" } } });
    check(
        whole(schema, rules(Provider::Gemini)),
        json!({ "type": "object", "properties": {
        "a": { "description": "d", "anyOf": [{ "$ref": "#/$defs/s" }] }, "b": { "$ref": "#/$defs/s" },
        "c": { "enum": ["x"], "type": "string" } }, "$defs": { "s": { "type": "string" } } }),
    );
}

#[test]
fn a_tool_without_arguments_has_no_schema_where_none_may_be_empty() {
    let gemini = rules(Provider::Gemini);
    check(
        whole(json!({ "type": "object", "properties": {}, "additionalProperties": false }), gemini),
        Value::Null,
    );
    check(whole(json!({ "type": "object" }), gemini), Value::Null);
    let args = json!({ "type": "object", "properties": { "args": { "type": "object" } } });
    check(
        whole(json!({ "type": "object", "additionalProperties": { "type": "string" } }), gemini),
        args.clone(),
    );
    check(whole(json!({ "type": "object", "additionalProperties": true }), gemini), args);
    check(
        whole(json!({ "type": "object" }), rules(Provider::Ollama)),
        json!({ "type": "object", "properties": {} }),
    );
    check(whole(json!({ "type": "object" }), rules(Provider::Mcp)), json!({ "type": "object" }));
}

#[test]
fn odd_keys_are_renamed_everywhere_but_in_values() {
    let long = "x".repeat(70);
    let schema = json!({ "type": "object", "properties": {
        "$filter": { "enum": ["$filter"] }, "filter": {}, "page[size]": { "type": "object", "properties": { "@type": {} }, "required": ["@type"] }, long.clone(): {} },
        "required": ["$filter"] });
    let keys = property_names::renamed(&schema, Keys::Portable);
    let pairs: Vec<(&str, &str)> =
        keys.iter().map(|(emitted, canonical)| (emitted.as_str(), canonical.as_str())).collect();
    assert_eq!(
        pairs,
        [("filter_2", "$filter"), ("page_size", "page[size]"), ("type", "@type"), (&"x".repeat(64), &long)]
    );
    let rules = SchemaRules { keys: Keys::Portable, ..PROPERTIES };
    check(
        whole(schema.clone(), &rules),
        json!({ "type": "object", "properties": {
        "filter_2": { "enum": ["$filter"] }, "filter": {}, "page_size": { "type": "object", "properties": { "type": {} }, "required": ["type"] }, "x".repeat(64): {} },
        "required": ["filter_2"] }),
    );
    assert!(property_names::renamed(&schema, Keys::Any).is_empty());
}

#[test]
fn strict_is_made_or_switched_off_with_the_reason() {
    let strict = |schema: Value, provider| {
        let view = view(&schema, rules(provider), false, Some(&mut StrictBudget::default())).unwrap();
        assert_eq!(view.strict, view.not_strict.is_none());
        if view.strict { view.schema.unwrap() } else { view.not_strict.unwrap().to_string().into() }
    };
    let both = json!({ "type": "object", "properties": { "a": { "type": "string", "minLength": 1, "default": "x" }, "b": { "$ref": "#/$defs/b" }, "c": { "type": "integer", "minimum": 0 } },
        "required": ["a"], "$defs": { "b": { "enum": ["x", "y"] } } });
    check(
        strict(both.clone(), Provider::OpenAi),
        json!({ "type": "object", "properties": { "a": { "type": "string", "description": "default \"x\"" },
        "b": { "anyOf": [{ "$ref": "#/$defs/b" }, { "type": "null" }] }, "c": { "type": ["integer", "null"], "minimum": 0 } },
        "required": ["a", "b", "c"], "$defs": { "b": { "enum": ["x", "y"], "type": "string" } }, "additionalProperties": false }),
    );
    check(
        strict(both, Provider::Anthropic),
        json!({ "type": "object", "properties": { "a": { "type": "string", "description": "default \"x\"" },
        "b": { "$ref": "#/$defs/b" }, "c": { "type": "integer" } },
        "required": ["a"], "$defs": { "b": { "enum": ["x", "y"], "type": "string" } }, "additionalProperties": false }),
    );
    let one = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    for (property, reason) in [
        (json!({ "type": "object" }), "an object without properties at `/properties/a` cannot be strict"),
        (json!({}), "a schema of any value at `/properties/a` cannot be strict"),
        (json!({ "type": "array" }), "a schema of any value at `/properties/a/items` cannot be strict"),
        (
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            "an object with properties of any name at `/properties/a` cannot be strict",
        ),
        (json!({ "type": "string", "not": { "const": "x" } }), "`not` at `/properties/a` cannot be strict"),
        (
            json!({ "type": "string", "enum": (0..1001).collect::<Vec<_>>() }),
            "it has 1002 enumerated values, and strict schemas at most 1000",
        ),
    ] {
        check(strict(one(property), Provider::OpenAi), reason.into());
    }
    check(
        strict(json!({ "type": "object" }), Provider::OpenAi),
        json!({ "type": "object", "properties": {}, "additionalProperties": false, "required": [] }),
    );
    let node = json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/n" } }, "$defs": { "n": { "type": "object", "properties": { "n": { "$ref": "#/$defs/n" } } } } });
    check(strict(node, Provider::Anthropic), "`n` contains itself, which cannot be strict".into());
}

#[test]
fn what_no_object_fits_is_not_bound() {
    for schema in [json!(false), json!({ "type": "string" })] {
        assert!(view(&schema, &PROPERTIES, false, None).is_err());
    }
    check(whole(json!(true), &PROPERTIES), json!({ "type": "object", "properties": {} }));
}
