//! Sample calls, and the work they take.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// A tool of which nothing is known but its schema.
const UNKNOWN: About<'_> = About { name: "run", description: "", examples: &[], effect: Effect::Read };

fn sample(schema: &Value, about: &About<'_>) -> Option<Sample> {
    let valid = jsonschema::validator_for(schema).unwrap();
    sample_call(schema, about, &|value| valid.is_valid(value))
}

fn check(schema: Value, expect: Value) {
    let made = sample(&schema, &UNKNOWN).map(|made| Value::Object(made.arguments));
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
        "due": { "type": "string", "format": "date" } => { "due": "2030-01-01" };
        "end_date": { "type": "string", "description": "YYYY-MM-DD" } => { "end_date": "2030-01-31" };
        "ref": { "type": "string", "description": "A revision (e.g. HEAD~1)" } => { "ref": "HEAD~1" };
        "mode": { "type": "string", "description": "Such as 'fast' or 'slow'" } => { "mode": "fast" };
        "per_page": { "type": "integer", "maximum": 5 } => { "per_page": 5 };
        "lat": { "type": "number" } => { "lat": 52.52 };
        "pullNumber": { "type": "number" } => { "pullNumber": 5 };
        "sound": { "type": "string", "contentEncoding": "base64" } => { "sound": "SGVsbG8=" };
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
            => { "at": [10, true] };
    }
}

#[test]
fn references_and_compositions_are_followed() {
    let defs = json!({ "node": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "child": { "$ref": "#/$defs/node" } } } });
    check(
        json!({ "$defs": defs, "type": "object", "required": ["root"], "properties": { "root": { "$ref": "#/$defs/node" } } }),
        json!({ "root": { "name": "example-root" } }),
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
fn optional_arguments_are_left_out_unless_a_text_asks_for_them() {
    let method = json!({ "enum": ["create", "delete"] });
    cases! {
        { "type": "object", "properties": { "q": { "type": "string" }, "limit": { "type": "integer", "default": 5 } } } => {};
        { "type": "object", "properties": { "q": { "type": "string", "description": "Search term (required)" } } }
            => { "q": "open invoices" };
        { "type": "object", "required": ["q"], "properties": { "q": { "type": "string" }, "limit": { "type": "integer" } } }
            => { "q": "open invoices" };
        { "type": "object", "required": ["method"], "properties": { "method": method,
            "title": { "type": "string", "description": "The title. Required for 'create'." },
            "id": { "type": "string", "description": "Required for 'delete'." },
            "ref": { "type": "string", "description": "Required for all methods except 'create'." } } }
            => { "method": "create", "title": "Weekly report" };
        { "type": "object" } => {};
    }
    let either = json!({ "type": "object", "properties": { "id": { "type": "string" }, "name": { "type": "string" } } });
    let about = About { description: "One of 'name' or 'id' must be provided.", ..UNKNOWN };
    let made = sample(&either, &about).map(|made| Value::Object(made.arguments));
    assert_eq!(made, Some(json!({ "name": "example" })));
}

#[test]
fn a_schema_that_nothing_fits_has_no_sample() {
    let never = one("x", json!({ "$ref": "#/properties/x" }));
    assert_eq!(sample_call(&never, &UNKNOWN, &|_| true), None);
    assert_eq!(sample_call(&json!(false), &UNKNOWN, &|_| true), None);
    assert_eq!(sample_call(&one("x", json!({ "type": "string" })), &UNKNOWN, &|_| false), None);
}

/// The arguments of the sample of a tool with this description and two arguments.
fn by_description(description: &str) -> Value {
    let schema = json!({ "type": "object", "required": ["path"], "properties": {
        "path": { "type": "string" }, "limit": { "type": "integer" } } });
    let made = sample(&schema, &About { name: "files_read_lines", description, ..UNKNOWN }).unwrap();
    Value::Object(made.arguments)
}

#[test]
fn the_call_that_a_docstring_writes_out_comes_first() {
    let python = "Read.\n\nExample:\n    >>> read_lines('a.txt', limit=3)  # the first three";
    assert_eq!(by_description(python), json!({ "path": "a.txt", "limit": 3 }));
    let lines =
        "Examples:\n    await files_read_lines(\n        path=\"b.txt\",  # a file\n        limit=2,\n    )";
    assert_eq!(by_description(lines), json!({ "path": "b.txt", "limit": 2 }));
    let others = json!({ "path": "docs/readme.md" });
    for text in [
        "read_lines(path)",
        "read_lines('<path>')",
        "read_lines('a.txt', 'many')",
        "relines('a')",
        "read_lines('a",
        "read_lines(f='a')",
    ] {
        assert_eq!(by_description(text), others, "{text}");
    }
    let examples = ["{\"name\": \"read_lines\", \"arguments\": {\"path\": \"c.txt\"}}".to_string()];
    let schema = one("path", json!({ "type": "string" }));
    let made = sample(&schema, &About { examples: &examples, ..UNKNOWN }).unwrap();
    assert_eq!((Value::Object(made.arguments), made.fill_in), (json!({ "path": "c.txt" }), vec![]));
}

#[test]
fn the_values_of_a_schema_come_before_those_of_its_description() {
    let text = "A ref, such as 'd'";
    cases! { one;
        "ref": { "type": "string", "examples": ["a"], "default": "b", "example": "c", "description": text } => { "ref": "a" };
        "ref": { "type": "string", "default": "b", "example": "c", "description": text } => { "ref": "b" };
        "ref": { "type": "string", "example": "c", "description": text } => { "ref": "c" };
        "ref": { "type": "string", "description": text } => { "ref": "d" };
        "ref": { "type": "string", "default": "", "description": "A ref" } => { "ref": "main" };
    }
}

#[test]
fn values_are_found_where_a_description_names_them() {
    for (description, wanted) in [
        ("Side of the order (Buy/Sell)", "Buy"),
        ("The airport, such as 'SFO'", "SFO"),
        ("City and state, e.g. Portland, OR.", "Portland, OR"),
        ("Can be 'melting', 'freezing' or 'boiling'.", "melting"),
        ("Must be one of: - ``FIRST_KIND`` - the first", "FIRST_KIND"),
        ("Recipe to run. Defaults to code_hotspots", "code_hotspots"),
        ("Common areas include residential design, commercial design, and parks.", "residential design"),
        ("Slopes like steep, moderate etc.", "steep"),
        ("'gas' refers to gasoline", "gas"),
        ("Level (low|high)", "low"),
        ("BUY or SELL", "BUY"),
        ("mainnet | testnet.", "mainnet"),
        ("Exchange (NSE, BSE, etc.)", "NSE"),
    ] {
        check(
            one("frob", json!({ "type": "string", "description": description })),
            json!({ "frob": wanted }),
        );
    }
    for description in [
        "The text (e.g. <your text>)",
        "Such as the one that you got",
        "Found with `list_frobs` or `find_frobs`; use `get_a` or `get_b`",
        "Any text, like always",
        "An int or a float (int/float)",
    ] {
        check(
            one("frob", json!({ "type": "string", "description": description })),
            json!({ "frob": "example frob" }),
        );
    }
    cases! { one;
        "days": { "type": "integer", "description": "Days to look back (1-100, default: 14)" } => { "days": 14 };
        "red": { "type": "integer", "description": "From 0 to 100." } => { "red": 50 };
        "names": { "type": "array", "items": { "type": "string" }, "description": "E.g. ['a', 'b']" } => { "names": ["a", "b"] };
        "data": { "type": "array", "items": { "type": "object" }, "description": "Such as, [{ x: 10, y: 15 }]." }
            => { "data": [{ "x": 10, "y": 15 }] };
        "on": { "type": "boolean", "description": "Defaults to False" } => { "on": false };
    }
}

#[test]
fn the_types_of_a_docstring_count_where_the_schema_has_none() {
    cases! { one;
        "frob": { "description": "(int) Any" } => { "frob": 10 };
        "frob": { "description": "(list[str]) Any" } => { "frob": ["example frob"] };
        "frob": { "description": "float, optional" } => { "frob": 10 };
        "frob": { "description": "Whether to wait" } => { "frob": true };
    }
}

#[test]
fn dates_have_the_form_that_a_description_asks_for() {
    cases! { one;
        "start_date": { "type": "string", "description": "In the format 'MM/DD/YYYY'." } => { "start_date": "01/01/2030" };
        "end_date": { "type": "string", "description": "yyyy-mm-dd" } => { "end_date": "2030-01-31" };
        "at": { "type": "string", "description": "24-hour time (HH:MM)" } => { "at": "09:00" };
        "at": { "type": "string", "description": "YYYY-MM-DD HH:mm:ss" } => { "at": "2030-01-01 09:00:00" };
        "season": { "type": "string", "description": "Season, YYYY-YYYY" } => { "season": "2030-2031" };
    }
}

#[test]
fn values_of_one_kind_differ() {
    check(
        json!({ "type": "object", "required": ["source_path", "target_path", "color1", "color2"], "properties": {
            "source_path": { "type": "string" }, "target_path": { "type": "string" },
            "color1": { "type": "string" }, "color2": { "type": "string" } } }),
        json!({ "source_path": "docs/readme.md", "target_path": "docs/readme-2.md", "color1": "blue", "color2": "red" }),
    );
}

#[test]
fn invented_values_are_listed() {
    let schema = json!({ "type": "object", "required": ["a/b", "kind", "ref", "people"], "properties": {
        "a/b": { "type": "string" },
        "kind": { "enum": ["x"] },
        "ref": { "type": "string", "description": "E.g. HEAD~1" },
        "people": { "type": "array", "items": { "type": "object", "required": ["email"], "properties": { "email": { "type": "string" } } } } } });
    let made = sample(&schema, &UNKNOWN).unwrap();
    assert_eq!(made.fill_in, ["/a~1b", "/people/0/email"]);
    assert_eq!(made.arguments["people"], json!([{ "email": "user@example.com" }]));
}

#[test]
fn a_destructive_tool_is_sampled_as_a_dry_run() {
    let schema = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": "string" }, "dryRun": { "type": "boolean", "default": false }, "force": { "type": "boolean" } } });
    let about = About { name: "delete_task", effect: Effect::Destructive, ..UNKNOWN };
    let made = |about: &About<'_>| sample(&schema, about).map(|made| Value::Object(made.arguments));
    assert_eq!(made(&about), Some(json!({ "id": "task_123", "dryRun": true })));
    assert_eq!(made(&About { effect: Effect::Write, ..about }), Some(json!({ "id": "task_123" })));
}

/// The seconds that a sample takes.
fn seconds(schema: &Value, is_valid: bool) -> f64 {
    let start = std::time::Instant::now();
    sample_call(schema, &UNKNOWN, &|_| is_valid);
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
    assert_eq!(sample_call(&schema, &UNKNOWN, &|_| true).map(|made| made.arguments.len()), Some(250));
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
        let is_valid = |value: &Value| value.as_object().is_some_and(|made| made.len() != 1);
        let first = sample_call(&schema, &UNKNOWN, &is_valid);
        prop_assert!(first.as_ref().is_none_or(|made| made.arguments.len() != 1));
        prop_assert_eq!(&first, &sample_call(&schema, &UNKNOWN, &is_valid));
        if let Some(sample) = first {
            let made = Value::Object(sample.arguments);
            prop_assert!(sample.fill_in.iter().all(|pointer| made.pointer(pointer).is_some()), "{made} {:?}", sample.fill_in);
        }
    }
}
