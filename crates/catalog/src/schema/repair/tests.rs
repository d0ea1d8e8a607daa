//! Values with one possible meaning, and values without one.

use serde_json::{Value, json};

use super::*;

/// Checks the repaired form of a schema, and that each repair is reported.
#[track_caller]
fn check(written: Value, expect: Value) {
    let (read, repairs) = repair(&written).expect("something is repaired");
    assert_eq!(read, expect, "{repairs:?}");
    assert!(repairs.lost.is_empty() && !repairs.words.is_empty(), "{repairs:?}");
}

#[test]
fn values_that_can_only_mean_one_thing_are_read_as_that() {
    check(json!({ "additionalProperties": "false" }), json!({ "additionalProperties": false }));
    check(json!({ "items": "True", "uniqueItems": "true" }), json!({ "items": true, "uniqueItems": true }));
    check(json!({ "minimum": "5", "maxLength": "10" }), json!({ "minimum": 5, "maxLength": 10 }));
    check(json!({ "maxItems": 5.0, "multipleOf": "0.5" }), json!({ "maxItems": 5, "multipleOf": 0.5 }));
    check(json!({ "minimum": 1, "exclusiveMinimum": "true" }), json!({ "exclusiveMinimum": 1 }));
    check(json!({ "enum": "a" }), json!({ "enum": ["a"] }));
    check(json!({ "anyOf": { "type": "string" } }), json!({ "anyOf": [{ "type": "string" }] }));
    check(json!({ "dependentRequired": { "a": "b" } }), json!({ "dependentRequired": { "a": ["b"] } }));
    let object = |required: Value| json!({ "properties": { "a": {} }, "required": required });
    check(object("a".into()), object(json!(["a"])));
    check(json!({ "type": "string", "nullable": "true" }), json!({ "type": ["string", "null"] }));
    check(
        json!({ "properties": { "a": { "type": "string", "required": "true" } } }),
        json!({ "properties": { "a": { "type": "string" } }, "required": ["a"] }),
    );
}

#[test]
fn maps_with_numbers_as_keys_are_the_lists_that_php_meant() {
    let written = json!({ "properties": {
        "a": { "type": { "0": "string", "1": "null" }, "enum": { "0": "x", "2": "y" } },
        "b": { "anyOf": { "0": { "type": "string" }, "1": { "type": "integer" } } },
    }, "required": { "1": "a" } });
    let read = json!({ "properties": {
        "a": { "type": ["string", "null"], "enum": ["x", "y"] },
        "b": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
    }, "required": ["a"] });
    check(written, read);
}

#[test]
fn values_decide_where_none_of_them_has_the_type() {
    check(json!({ "type": "string", "enum": [1, 2] }), json!({ "type": "integer", "enum": [1, 2] }));
    let list = json!({ "type": "array", "enum": ["a"] });
    let items = json!({ "enum": ["a"] });
    check(list, json!({ "type": "array", "items": items }));
    check(json!({ "type": "integer", "const": "1" }), json!({ "type": "string", "const": "1" }));
    let mixed = json!({ "type": ["string", "null"], "enum": [1, "a", 1.5, null] });
    assert!(repair(&mixed).is_none());
    for fine in [json!({ "type": "number", "enum": [1] }), json!({ "type": "integer", "enum": [1.0] })] {
        assert!(repair(&fine).is_none(), "{fine}");
    }
}

#[test]
fn keywords_and_types_of_other_languages_are_read() {
    let vertex =
        json!({ "type_": "OBJECT", "properties": { "type_": { "type_": "STRING", "format_": "date" } } });
    check(
        vertex,
        json!({ "type": "object", "properties": { "type_": { "type": "string", "format": "date" } } }),
    );
    check(json!({ "type": "str, optional" }), json!({ "type": "string" }));
}

#[test]
fn names_of_properties_in_place_of_a_schema_are_its_properties() {
    let text = json!({ "type": "string" });
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    check(json!({ "city": text, "title": text }), object(json!({ "city": text, "title": text })));
    let nested = json!({ "type": "object", "properties": { "address": { "street": text, "no": { "type": "integer", "required": true } } } });
    let mut address = object(json!({ "street": text, "no": { "type": "integer" } }));
    address["required"] = json!(["no"]);
    check(nested, object(json!({ "address": address })));
    let beside = json!({ "type": "object", "description": "d", "city": text });
    check(beside, json!({ "type": "object", "description": "d", "properties": { "city": text } }));
    for schema in [
        json!({}),
        json!({ "items": text }),
        json!({ "not": text }),
        json!({ "x-note": text }),
        json!({ "type": "array", "prefix": text }),
    ] {
        assert!(repair(&schema).is_none(), "{schema}");
    }
}

#[test]
fn types_in_place_of_schemas_and_types_of_other_languages_are_read() {
    let text = json!({ "type": "string" });
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    check(json!({ "phone": "string", "title": "str" }), object(json!({ "phone": text, "title": text })));
    check(object(json!({ "phone": "string", "any": true })), object(json!({ "phone": text, "any": true })));
    check(object(json!([{ "name": "phone", "type": "string" }])), object(json!({ "phone": text })));
    let mut whole = object(json!({ "phone": text }));
    whole["required"] = json!(["phone"]);
    check(json!({ "type": "object", "properties": whole }), whole);
    let of = |word: Value| json!({ "type": word });
    check(of("Optional[str]".into()), of(json!(["string", "null"])));
    check(of("string | None".into()), of(json!(["string", "null"])));
    check(of(json!(["string", null])), of(json!(["string", "null"])));
    check(of("Union[int, str]".into()), of(json!(["integer", "string"])));
    let list = json!({ "type": "array", "items": text });
    check(of("string[]".into()), list.clone());
    check(of("List[str]".into()), list.clone());
    let mut or_none = list;
    or_none["type"] = json!(["array", "null"]);
    check(of("Optional[List[str]]".into()), or_none);
    check(json!({ "type": "string", "enum": "a | b" }), json!({ "type": "string", "enum": ["a", "b"] }));
}

#[test]
fn misspelled_keywords_are_read_where_their_values_fit() {
    check(
        json!({ "type": "object", "propertys": { "a": { "tpye": "string" } }, "requried": ["a"] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
    );
    check(
        json!({ "MinLength": 1, "additional_properties": true }),
        json!({ "minLength": 1, "additionalProperties": true }),
    );
    for schema in [json!({ "cost": 5 }), json!({ "example": ["a"] }), json!({ "item": 1 })] {
        assert!(repair(&schema).is_none(), "{schema}");
    }
}

#[test]
fn forms_that_differ_in_format_alone_may_all_fit() {
    let forms = json!([{ "type": "string", "format": "uuid" }, { "type": "string", "format": "email" }]);
    check(json!({ "oneOf": forms }), json!({ "anyOf": forms }));
    let kinds = json!([{ "type": "string", "format": "uuid" }, { "type": "integer" }]);
    assert!(repair(&json!({ "oneOf": kinds })).is_none());
}

#[test]
fn what_is_lost_is_told_with_its_place() {
    let written = json!({ "properties": { "n": 5, "m": null, "e": { "enum": { "a": 1 } }, "t": { "type": ["odd"] } }, "required": [1, "n"], "maximum": "x" });
    let (read, repairs) = repair(&written).unwrap();
    assert_eq!(read, json!({ "properties": { "n": true, "m": true, "e": {}, "t": {} }, "required": ["n"] }));
    let lost: Vec<_> = repairs.lost.iter().map(|(pointer, _)| pointer.as_str()).collect();
    let of_properties = ["/properties/n", "/properties/m", "/properties/e/enum", "/properties/t/type"];
    assert_eq!(lost, [&["/maximum", "/required"][..], &of_properties].concat());
    let (_, repairs) = repair(&json!({ "properties": "a, b" })).unwrap();
    assert_eq!((repairs.lost.len(), repairs.words.len()), (1, 0));
}
