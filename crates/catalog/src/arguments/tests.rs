//! Tests of the work that hostile arguments and definitions cause: they count steps and sizes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use super::{InvalidArguments, Repair, until_stopped, validate};
use crate::assemble::assemble;
use crate::catalog::Catalog;
use crate::config::Workspace;
use crate::schema::Callable;
use crate::sources::RawTool;
use toolcrib_definition::{Definition, Schema};

fn catalog(parameters: Value) -> Catalog {
    let parameters = Some(Schema::from_value(parameters));
    let definition = Definition { name: "make_note".into(), parameters, ..Definition::default() };
    let raw = vec![RawTool { definition, ..RawTool::default() }];
    assemble(Workspace::default(), raw, Vec::new(), &mut Vec::new()).0
}

fn of_property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"p": schema}})
}

type Validated = Result<Vec<Repair>, InvalidArguments>;

fn validated(parameters: Value, mut arguments: Value) -> (Validated, Vec<String>) {
    let catalog = catalog(parameters);
    let mut notes = Vec::new();
    let tool = &catalog.tools[0];
    let result = validate(tool, catalog.secrets(), &mut arguments, Map::new(), &mut notes)
        .map_err(InvalidArguments::shortened);
    (result, notes)
}

fn named(prefix: &str, count: usize, value: Value) -> Map<String, Value> {
    (0..count).map(|index| (format!("{prefix}_{index}"), value.clone())).collect()
}

#[test]
fn a_pattern_takes_fewer_steps_on_a_longer_text() {
    let password = |text: String| {
        validated(of_property(json!({"pattern": r"(?=.*[A-Z])(?=.*\d).{8,}"})), json!({"p": text})).0
    };
    let message = |text| password(text).unwrap_err().fields[0].message.clone();
    assert!(message("a".repeat(500)).contains("text that matches"));
    for length in [3_000, 30_000, 900_000] {
        assert!(message("a".repeat(length)).contains("too many steps"), "{length}");
        assert!(password("a".repeat(length) + "A1").is_ok(), "{length}");
    }
}

#[test]
fn a_long_text_is_no_misspelled_word() {
    let respelled = |length: usize| {
        let words = of_property(json!({"enum": ["a".repeat(length), "b"]}));
        validated(words, json!({"p": "A".repeat(length)})).0.is_ok()
    };
    assert!(respelled(100) && !respelled(1_000));
}

#[test]
fn an_answer_to_many_unknown_names_is_short() {
    let known = named("known_property", 100, json!({"type": "string"}));
    let closed = json!({"type": "object", "properties": known, "additionalProperties": false});
    let given = json!(named("known_propert", 25_000, json!("x")));
    let invalid = validated(closed, given.clone()).0.unwrap_err();
    assert!(invalid.message.ends_with("and at least 30 more fields do not fit"), "{}", invalid.message);
    assert_eq!(invalid.fields.len(), 20);
    assert_eq!(invalid.corrected.as_ref().unwrap().dropped, [""]);
    assert!(format!("{invalid:?}").len() < 20_000);
    let (open, notes) =
        validated(json!({"type": "object", "properties": known, "required": ["known_property_7"]}), given);
    assert!(open.is_err() && notes.is_empty());
    let other = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
    let mut given = named("other", 25_000, json!("x"));
    given.insert("count".into(), "7".into());
    let (open, notes) = validated(other, json!(given));
    assert_eq!((open.unwrap().len(), notes.len()), (1, 22), "{notes:?}");
    let long = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let invalid = validated(long, json!({"x".repeat(100_000): 1})).0.unwrap_err();
    assert!(format!("{invalid:?}").len() < 5_000);
}

#[test]
fn an_answer_to_many_wrong_numbers_is_short() {
    let number: Value = serde_json::from_str("99999999999999999999999").unwrap();
    let invalid = validated(of_property(json!({})), json!({"p": vec![number; 1_000]})).0.unwrap_err();
    assert_eq!(invalid.fields.len(), 20);
}

#[test]
#[ignore = "slow"]
fn the_patterns_of_a_schema_share_their_memory() {
    let callable = |patterns: Map<String, Value>| {
        let catalog = catalog(json!({"type": "object", "properties": patterns}));
        catalog.tools[0].input.parameters.callable().clone()
    };
    let letters = |most: usize, count: usize| {
        let pattern =
            |index| (format!("p{index}"), json!({"pattern": format!(r"^\p{{L}}{{1,{}}}$", most - index)}));
        callable((0..count).map(pattern).collect())
    };
    assert_eq!(letters(64, 10), Callable::Checked);
    assert!(matches!(letters(500, 50), Callable::No(reason) if reason.contains("too much memory")));
    let long =
        |length: usize| callable(Map::from_iter([("p".into(), json!({"pattern": r"\d".repeat(length)}))]));
    assert_eq!(long(1_000), Callable::Checked);
    assert!(matches!(long(100_000), Callable::No(reason) if reason.contains("bytes of them")));
    let small = |index| (format!("p{index}"), json!({"pattern": format!("^x{index}$")}));
    assert_eq!(callable((0..900).map(small).collect()), Callable::Checked);
    assert!(
        matches!(callable((0..1_100).map(small).collect()), Callable::No(reason) if reason.contains("patterns"))
    );
}

#[test]
fn stopped_work_finds_nothing_valid() {
    let catalog = catalog(of_property(json!({})));
    let parameters = &catalog.tools[0].input.parameters;
    let accepts =
        |is_stopped| until_stopped(&Arc::new(AtomicBool::new(is_stopped)), || parameters.accepts(&json!({})));
    assert!(accepts(false) && !accepts(true) && parameters.accepts(&json!({})));
}

#[test]
fn a_name_that_means_something_else_is_no_misspelling() {
    let is_read = |known: &str, given: &str| {
        let kinds = json!({"type": ["number", "boolean", "string"]});
        let schema = json!({"type": "object", "properties": {known: kinds}, "additionalProperties": false});
        validated(schema, json!({ given: 1 })).0.is_ok()
    };
    for (known, given) in [
        ("max_price", "min_price"),
        ("price_lt", "price_gt"),
        ("price_lt", "price_lte"),
        ("unarchived", "archived"),
        ("page_2", "page_1"),
        ("height", "weight"),
        ("includeFields", "excludeFields"),
        ("employer", "employee"),
        ("minimum", "maximum"),
    ] {
        assert!(!is_read(known, given) && !is_read(given, known), "{given} for {known}");
    }
    for (known, given) in [
        ("description", "desciption"),
        ("user_name", "username"),
        ("risk_id", "risk_i"),
        ("user_ids", "user_id"),
    ] {
        assert!(is_read(known, given), "{given} for {known}");
    }
}

#[test]
fn whole_numbers_with_a_fraction_are_written_as_integers() {
    let ids = json!({"type": "array", "items": {"type": "integer"}});
    let properties = json!({"id": {"type": "integer"}, "price": {"type": "number"}, "ids": ids});
    let catalog = catalog(json!({"type": "object", "properties": properties}));
    let mut arguments = json!({"id": 42.0, "price": 5.0, "ids": [1.0, 2]});
    let repaired =
        validate(&catalog.tools[0], catalog.secrets(), &mut arguments, Map::new(), &mut Vec::new());
    assert!(repaired.unwrap().is_empty());
    assert_eq!(arguments.to_string(), r#"{"id":42,"price":5.0,"ids":[1,2]}"#);
}

#[test]
fn text_that_fits_several_forms_stays_text() {
    let forms = json!([
        {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
        {"type": "object", "properties": {"name": {"type": "string"}}},
    ]);
    let schema = of_property(json!({ "oneOf": forms }));
    assert!(validated(schema, json!({"p": {"id": "4111"}})).0.is_err());
}

#[test]
fn a_large_whole_number_fits_where_any_number_does() {
    let validated = |kind: Value| validated(of_property(json!({ "type": kind })), json!({ "p": 1e21 })).0;
    assert!(validated(json!("number")).is_ok() && validated(json!(["number", "null"])).is_ok());
    assert!(validated(json!("integer")).is_err());
}

#[test]
fn a_missing_argument_that_gets_its_default_is_said() {
    let schema =
        json!({"type": "object", "properties": {"p": {"type": "string", "default": "a"}}, "required": ["p"]});
    let (result, notes) = validated(schema, json!({}));
    assert!(result.is_ok());
    assert_eq!(notes, ["`p` was not given, and is its default"]);
}
