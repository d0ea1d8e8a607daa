//! Sample calls, and the work they take.

use super::*;
use proptest::prelude::*;

/// A tool of which nothing is known but its schema.
const UNKNOWN: About<'_> =
    About { examples: &[], effect: Effect::Read, resource: None, name: "", description: "", http: None };

fn sample(schema: &Value, about: &About<'_>) -> Option<Sample> {
    let valid = jsonschema::validator_for(schema).unwrap();
    sample_call(schema, about, &|value| valid.is_valid(value))
}

fn made(schema: &Value, about: &About<'_>) -> Option<Value> {
    sample(schema, about).map(|made| Value::Object(made.arguments))
}

fn check(schema: Value, expect: Value) {
    assert_eq!(made(&schema, &UNKNOWN), Some(expect), "{schema}");
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
fn types_and_formats_make_values_reserved_for_examples() {
    cases! { one;
        "owner": { "type": "string" } => { "owner": "example-owner" };
        "taskId": { "type": "string" } => { "taskId": "example-task-id" };
        "due": { "type": "string", "format": "date" } => { "due": "2030-01-01" };
        "user_email": { "type": "string" } => { "user_email": "user@example.com" };
        "id": { "type": "string", "format": "uuid" } => { "id": "00000000-0000-4000-8000-000000000000" };
        "sound": { "type": "string", "contentEncoding": "base64" } => { "sound": "SGVsbG8=" };
        "per_page": { "type": "integer", "minimum": 5 } => { "per_page": 5 };
        "lat": { "type": "number" } => { "lat": 1 };
        "city": { "type": ["null", "string"] } => { "city": "example-city" };
        "tags": { "type": "array", "items": { "type": "string" } } => { "tags": ["example-tags"] };
        "force": { "type": "boolean" } => { "force": false };
        "any": {} => { "any": "example-any" };
    }
}

#[test]
fn the_values_of_the_author_come_first() {
    cases! { one;
        "ref": { "type": "string", "examples": ["a"], "default": "b", "example": "c" } => { "ref": "a" };
        "ref": { "type": "string", "default": "b", "example": "c" } => { "ref": "c" };
        "ref": { "type": "string", "default": "b" } => { "ref": "b" };
        "ref": { "type": "string", "default": "" } => { "ref": "example-ref" };
        "ref": { "enum": ["a", "b"], "default": "b" } => { "ref": "b" };
        "ref": { "enum": [null, "a"] } => { "ref": null };
        "ref": { "type": "string", "enum": ["a"], "examples": ["x"] } => { "ref": "a" };
        "x": { "anyOf": [{ "type": "null" }, { "type": "integer", "const": 3 }] } => { "x": 3 };
    }
}

#[test]
fn limits_are_kept() {
    cases! { one;
        "x": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 } => { "x": 0.375 };
        "x": { "type": "integer", "exclusiveMinimum": 20, "multipleOf": 7 } => { "x": 28 };
        "code": { "type": "string", "pattern": "^[A-Z]{3}-\\d{4}$" } => { "code": "AAA-1111" };
        "side": { "type": "string", "pattern": "^(buy|sell)$" } => { "side": "buy" };
        "name": { "type": "string", "maxLength": 4 } => { "name": "exam" };
        "name": { "type": "string", "minLength": 15 } => { "name": "example-nameexa" };
        "tags": { "type": "array", "minItems": 2, "uniqueItems": true, "items": { "enum": ["a", "b"] } }
            => { "tags": ["a", "b"] };
        "tags": { "type": "array", "minItems": 2, "uniqueItems": true, "items": { "type": "string" } }
            => { "tags": ["example-tags", "example-tags-2"] };
        "at": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "boolean" }], "minItems": 2 }
            => { "at": [1, false] };
        "map": { "type": "object", "minProperties": 1, "additionalProperties": { "type": "integer" } }
            => { "map": { "key": 1 } };
    }
}

#[test]
fn references_and_compositions_are_followed() {
    let defs = json!({ "node": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "child": { "$ref": "#/$defs/node" } } } });
    check(
        json!({ "$defs": defs, "type": "object", "required": ["root"], "properties": { "root": { "$ref": "#/$defs/node" } } }),
        json!({ "root": { "name": "example-name" } }),
    );
    cases! { one;
        "x": { "allOf": [{ "type": "object", "required": ["limit"] }, { "properties": { "limit": { "type": "integer" } } }] }
            => { "x": { "limit": 1 } };
        "x": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } },
            "oneOf": [{ "properties": { "kind": { "const": "a" } } }, { "properties": { "kind": { "const": "b" } } }] }
            => { "x": { "kind": "a" } };
    }
    check(
        json!({ "type": "object", "properties": { "a": { "type": "boolean" }, "b": { "type": "boolean" } }, "oneOf": [{ "required": ["b"] }] }),
        json!({ "b": false }),
    );
}

#[test]
fn an_object_without_required_members_gets_those_with_an_example_else_three_plain_ones() {
    cases! {
        { "type": "object", "properties": { "q": { "type": "string" }, "limit": { "type": "integer", "default": 5 } } } => {};
        { "type": "object", "required": ["q"], "properties": { "q": { "type": "string" }, "limit": { "type": "integer" } } }
            => { "q": "example-q" };
        { "type": "object" } => {};
    }
    let body = json!({ "type": "object", "properties": {
        "tags": { "type": "array" }, "a": { "type": "string" }, "b": { "type": "integer" }, "c": { "type": "boolean" }, "d": { "type": "string" } } });
    let plain = json!({ "a": "example-a", "b": 1, "d": "example-d" });
    check(one("body", body.clone()), json!({ "body": plain }));
    assert_eq!(made(&body, &About { effect: Effect::Write, ..UNKNOWN }), Some(plain));
    let example = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "integer", "example": 7 } } });
    check(one("body", example), json!({ "body": { "b": 7 } }));
}

#[test]
fn an_example_within_a_property_counts_where_no_property_has_one_itself() {
    let about = About { effect: Effect::Write, name: "update_note", ..UNKNOWN };
    let deep = json!({ "type": "object", "properties": { "name": { "type": "string", "example": "Deep" } } });
    let with = |plain: Value| json!({ "type": "object", "properties": { "id": { "type": "string" }, "data": deep, "plain": plain }, "required": ["id"] });
    let only = json!({ "id": "example-id", "data": { "name": "Deep" } });
    assert_eq!(made(&with(json!({ "type": "string" })), &about), Some(only));
    let own = json!({ "id": "example-id", "plain": "own" });
    assert_eq!(made(&with(json!({ "type": "string", "example": "own" })), &about), Some(own));
}

#[test]
fn a_call_of_a_write_changes_something() {
    let schema = json!({ "type": "object", "required": ["issue_id"], "properties": {
        "issue_id": { "type": "string" }, "fields": { "type": "string" }, "title": { "type": "string" } } });
    let of = |about: &About<'_>| made(&schema, &About { effect: Effect::Write, ..*about });
    let update = About { name: "update_issue", ..UNKNOWN };
    assert_eq!(of(&update), Some(json!({ "issue_id": "example-issue-id", "title": "example-title" })));
    assert_eq!(
        of(&About { name: "close_issue", ..UNKNOWN }),
        Some(json!({ "issue_id": "example-issue-id" }))
    );
    // In a request, what is in the query changes nothing.
    let http = json!({ "method": "PUT", "path": "/issues/{issue_id}", "arguments": { "fields": { "in": "query" } } });
    let http: HttpBackend = serde_json::from_value(http).unwrap();
    let request = About { name: "issues", http: Some(&http), ..UNKNOWN };
    assert_eq!(of(&request), Some(json!({ "issue_id": "example-issue-id", "title": "example-title" })));
}

#[test]
fn a_call_switches_nothing_off_for_the_sake_of_an_example() {
    let about = About { effect: Effect::Write, name: "update_key", ..UNKNOWN };
    let of = |enabled: Value| {
        made(
            &json!({ "required": ["id"], "properties": { "id": { "type": "string" }, "enabled": enabled } }),
            &about,
        )
    };
    let on = Some(json!({ "id": "example-id", "enabled": true }));
    assert_eq!(of(json!({ "type": "boolean" })), on);
    assert_eq!(of(json!({ "type": "boolean", "default": false })), on);
}

/// The value of a required argument with this text.
fn of_text(name: &str, kind: &str, text: &str) -> Value {
    let schema = one(name, json!({ "type": kind, "description": text }));
    made(&schema, &UNKNOWN).unwrap()[name].clone()
}

#[test]
fn an_example_in_the_text_is_the_value() {
    for (kind, text, wanted) in [
        ("string", "The city (e.g., Paris, Rome)", json!("Paris")),
        ("string", "City and state, e.g. San Francisco, CA.", json!("San Francisco, CA")),
        ("string", "A symbol, such as 'AAPL' or 'MSFT'.", json!("AAPL")),
        ("string", "Example: ``\"noreply\"`` sends from noreply@example.com", json!("noreply")),
        ("string", "Why. Example: \"The API doesn't support it\"", json!("The API doesn't support it")),
        ("string", "A filter (e.g. '{\"status\": \"draft\"}')", json!("{\"status\": \"draft\"}")),
        ("string", "For example, `tools/a.md`.", json!("tools/a.md")),
        ("integer", "Days (e.g. 7 for weekly, 14 for bi-weekly)", json!(7)),
        ("number", "The ratio, for example 0.5.", json!(0.5)),
        ("array", "Names (e.g. [\"Status\", \"Priority\"])", json!(["Status", "Priority"])),
        ("array", "Chords. Eg: ['I', 'V'].", json!(["I", "V"])),
        ("array", "Descriptors, such as 'yellow logo', 'tune'.", json!(["yellow logo"])),
        ("object", "Fields (e.g. {\"a\": 1})", json!({ "a": 1 })),
    ] {
        assert_eq!(of_text("thing", kind, text), wanted, "{text}");
    }
    for (kind, text) in [
        ("string", "Not a word such as 'none'."),
        ("string", "The identifier, such as an account number."),
        ("string", "A file with its ending (e.g. '.png')"),
        ("string", "A path (e.g. <folder>/a)"),
        ("integer", "A date, e.g. 2024-01-01"),
        ("integer", "A share, e.g. 5%"),
    ] {
        let made_up = if kind == "string" { json!("example-thing") } else { json!(1) };
        assert_eq!(of_text("thing", kind, text), made_up, "{text}");
    }
}

#[test]
fn the_text_chooses_the_form_of_a_value() {
    for (name, text, wanted) in [
        ("to", "Recipient email address. For several, give a list.", "user@example.com"),
        ("to", "The phone number in E.164 format", "+12025550123"),
        ("country", "The ISO-3166-1 country code of the phone number", "US"),
        ("from", "First day (YYYY-MM-DD)", "2030-01-01"),
        ("from", "First day, as DD/MM/YYYY", "01/01/2030"),
        ("at", "As YYYY-MM-DD HH:MM:SS", "2030-01-01 09:00:00"),
        ("at", "24-hour format HH:MM", "09:00"),
        ("at", "In ISO 8601 format", "2030-01-01T09:00:00Z"),
        ("wait", "A duration in ISO 8601 format", "PT1H"),
        ("email_id", "The id of the email address", "example-email-id"),
    ] {
        assert_eq!(of_text(name, "string", text), json!(wanted), "{text}");
    }
}

#[test]
fn arguments_that_replace_one_another_are_given_once() {
    let of = |a: &str, b: &str| {
        let text = |text: &str| json!({ "type": "string", "description": text });
        let made =
            made(&json!({ "properties": { "body": text(a), "reaction": text(b) } }), &UNKNOWN).unwrap();
        made.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    for (a, b) in [
        ("Text. Required unless reaction is given.", "Required unless body is given."),
        ("Either this or `reaction` must be provided.", "Either this or body must be provided"),
        ("Required if reaction is not provided", "An emoji"),
        ("Optional, but if 'reaction' is not provided, 'body' becomes required", "An emoji"),
    ] {
        assert_eq!(of(a, b), ["body"], "{a} {b}");
    }
    assert!(of("Required when reaction is provided", "An emoji").is_empty());
}

#[test]
fn a_method_may_be_paraphrased() {
    let schema = |first: &str| {
        json!({ "required": ["method"], "properties": {
            "method": { "enum": [first, "create_view", "reply"] },
            "layout": { "type": "string", "description": "The layout; required when creating a view." },
            "text": { "type": "string", "description": "Required when replying" } } })
    };
    check(schema("create_view"), json!({ "method": "create_view", "layout": "example-layout" }));
    check(schema("reply"), json!({ "method": "reply", "text": "example-text" }));
    check(schema("other"), json!({ "method": "other" }));
}

#[test]
fn a_schema_that_nothing_fits_has_no_sample() {
    let never = one("x", json!({ "$ref": "#/properties/x" }));
    assert_eq!(sample_call(&one("x", json!(false)), &UNKNOWN, &|_| true), None);
    assert!(sample_call(&never, &UNKNOWN, &|_| false).is_none());
    assert_eq!(sample_call(&json!(false), &UNKNOWN, &|_| true), None);
}

#[test]
fn an_example_of_a_docstring_that_is_json_comes_before_made_up_values() {
    let schema = one("path", json!({ "type": "string" }));
    let of = |text: &str| {
        let examples = [text.to_string()];
        let sample = sample(&schema, &About { examples: &examples, ..UNKNOWN }).unwrap();
        (Value::Object(sample.arguments), sample.fill_in.len())
    };
    let written = (json!({ "path": "c.txt" }), 0);
    assert_eq!(of("{\"path\": \"c.txt\"}"), written);
    assert_eq!(of("call: {\"name\": \"read\", \"arguments\": {\"path\": \"c.txt\"}}"), written);
    for text in ["{\"path\": \"<path>\"}", "{\"path\": 1}", "{\"file\": \"c\"}", "read('c')", "}{"] {
        assert_eq!(of(text), (json!({ "path": "example-path" }), 1), "{text}");
    }
}

#[test]
fn made_up_values_are_listed() {
    let schema = json!({ "type": "object", "required": ["a/b", "kind", "people"], "properties": {
        "a/b": { "type": "string" },
        "kind": { "enum": ["x"] },
        "people": { "type": "array", "items": { "type": "object", "required": ["email"], "properties": { "email": { "type": "string" } } } } } });
    let made = sample(&schema, &UNKNOWN).unwrap();
    assert_eq!(made.fill_in, ["/a~1b", "/people/0/email"]);
    assert_eq!(made.arguments["people"], json!([{ "email": "user@example.com" }]));
}

#[test]
fn a_destructive_tool_is_sampled_as_a_dry_run() {
    let schema = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": "string" }, "dryRun": { "type": "boolean", "default": false }, "force": { "type": "boolean" } } });
    let of = |effect| made(&schema, &About { effect, ..UNKNOWN });
    assert_eq!(of(Effect::Destructive), Some(json!({ "id": "example-id", "dryRun": true })));
    assert_eq!(of(Effect::Write), Some(json!({ "id": "example-id" })));
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
                assert!(took < 10.0, "{count} of {property}: {took} s");
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

/// A tool whose first argument, `method`, has these values or this text; the others have texts alone.
fn by_text(method: Value, others: &[(&str, &str)]) -> Value {
    let text =
        |(name, text): &(&str, &str)| ((*name).to_string(), json!({ "type": "string", "description": text }));
    let mut properties: Map<String, Value> = Map::from_iter([("method".to_string(), method)]);
    properties.extend(others.iter().map(text));
    json!({ "type": "object", "properties": properties, "required": ["method"] })
}

/// Checks what a call of `add`, `rename` and `remove` has beside its method.
fn check_needs(others: &[(&str, &str)], about: &str, wanted: [&[&str]; 3]) {
    let methods = ["add", "rename", "remove"];
    for (method, wanted) in methods.into_iter().zip(wanted) {
        // A call takes the first value, so each is the first once.
        let mut values = methods;
        values.sort_by_key(|value| *value != method);
        let schema = by_text(json!({ "type": "string", "enum": values }), others);
        let made = sample(&schema, &About { description: about, ..UNKNOWN }).unwrap().arguments;
        let keys: Vec<&str> = made.keys().map(String::as_str).filter(|key| *key != "method").collect();
        assert_eq!((made["method"].as_str(), &*keys), (Some(method), wanted), "{others:?} {about}");
    }
}

#[test]
fn a_call_has_what_the_text_of_an_argument_requires_for_its_method() {
    let x: &[&str] = &["x"];
    for (text, wanted) in [
        ("Room (required for 'add')", [x, &[], &[]]),
        ("(required for add)", [x, &[], &[]]),
        ("The user's room. Required when method is `add`.", [x, &[], &[]]),
        ("Required for 'add', optional for 'rename'", [x, &[], &[]]),
        ("(optional for add to filter, required for rename/remove)", [&[], x, x]),
        ("Required if `method` = \"add\" or \"rename\".", [x, x, &[]]),
        ("required for all methods except 'add'", [&[], x, x]),
        ("Required unless method is 'remove'.", [x, x, &[]]),
        ("required for every operation", [x, x, x]),
        ("Only for 'rename', where it is required.", [&[], x, &[]]),
        ("For 'add' and 'remove', this is required.", [x, &[], x]),
        ("Must be provided when method is 'add'", [x, &[], &[]]),
        ("**Required** for **add**", [x, &[], &[]]),
        ("Mandatory for 'add'; not used by 'rename'", [x, &[], &[]]),
        ("Not required for 'add'", [&[], &[], &[]]),
        ("Required for 'add', not for 'rename'", [x, &[], &[]]),
        ("Optional for 'add', required for all others", [&[], x, x]),
        ("Only for 'add'", [&[], &[], &[]]),
        ("Required when state is 'closed'", [&[], &[], &[]]),
        ("Required to add things", [x, &[], &[]]),
        ("It requires everybody to add or remove.", [&[], &[], &[]]),
        ("What 'add' adds", [&[], &[], &[]]),
    ] {
        check_needs(&[("x", text)], "", wanted);
    }
}

#[test]
fn a_call_has_what_the_text_of_the_tool_requires_for_its_method() {
    let others = [("room", "A room"), ("shelf", "A shelf")];
    let room_or_shelf: [&[&str]; 3] = [&["room"], &["shelf"], &["shelf"]];
    for text in [
        "add: needs room. rename: needs shelf. remove: needs shelf, room is optional",
        "- `add`: requires `room`\n- `rename`: requires `shelf`\n- `remove` (requires `shelf`)",
        "For 'add', provide room.\nFor 'rename', provide shelf.\nFor 'remove', provide shelf and optionally room.",
        "| method | required | optional |\n|---|---|---|\n| add | room | shelf |\n| `rename` | `shelf` | |\n| remove | shelf | room |",
        "| argument | add | rename | remove |\n|---|---|---|---|\n| room | required | - | no |\n| shelf | | yes | required |",
        "| argument | required for |\n|---|---|\n| room | add |\n| shelf | rename, remove |",
    ] {
        check_needs(&others, text, room_or_shelf);
    }
    check_needs(&others, "Adds a room, renames or removes a shelf.", [&[], &[], &[]]);
}

#[test]
fn conditions_follow_one_another() {
    let schema = json!({ "type": "object", "required": ["method"], "properties": {
        "number": { "type": "integer", "description": "Required for 'add' when kind is 'issue'." },
        "method": { "enum": ["add", "list"] },
        "kind": { "enum": ["issue", "pull"], "description": "Required for 'add'." } } });
    check(schema, json!({ "number": 1, "method": "add", "kind": "issue" }));
}

#[test]
fn a_value_comes_from_the_list_in_the_text() {
    for text in [
        "One of: add, remove",
        "one of 'add' or 'remove'",
        "Must be one of the following: `add` | `remove`.",
        "Operation to perform: 'add', 'rename', or 'remove'",
        "Operation type (\"add\", \"remove\")",
        "Options are:\n- 'add' - adds a thing.\n- 'remove' - removes it.\n",
        "What to do.\n* add: adds a thing\n* remove: removes it",
        "Kind. Must be one of: - ``add`` — adds. - ``remove`` — removes.",
        "Possible values: add (adds a thing), remove (removes it).",
        "The action (add, rename, remove)",
        "Can be 'add' or 'remove'.",
        "Either add or remove.",
        "add | rename | remove",
        "Write: add, rename or remove.",
        "Options are:\n- 'add' - adds.\n- 'remove' - removes, by either 'x' or 'method'.",
    ] {
        let schema =
            by_text(json!({ "type": "string", "description": text }), &[("x", "required for 'add'")]);
        assert_eq!(made(&schema, &UNKNOWN), Some(json!({ "method": "add", "x": "example-x" })), "{text}");
    }
    for text in ["The method.", "At least one of: x, y", "One of the methods", "either a file or a folder"] {
        let schema = by_text(json!({ "type": "string", "description": text }), &[]);
        assert_eq!(made(&schema, &UNKNOWN), Some(json!({ "method": "example-method" })), "{text}");
    }
}

#[test]
fn the_schema_decides_where_it_rejects_what_the_text_says() {
    let mut schema = by_text(json!({ "enum": ["add"] }), &[]);
    schema["properties"]["kind"] =
        json!({ "type": "string", "pattern": "^[A-Z]$", "description": "One of: lend, return" });
    schema["required"] = json!(["method", "kind"]);
    check(schema, json!({ "method": "add", "kind": "A" }));
    let mut closed = by_text(json!({ "enum": ["add", "remove"] }), &[("x", "required for 'add'")]);
    closed["maxProperties"] = json!(1);
    check(closed, json!({ "method": "add" }));
}

proptest! {
    #[test]
    fn any_text_is_taken_and_the_call_is_valid(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30), about in "\\PC{0,80}") {
        let text = pieces.concat();
        for method in [json!({ "enum": ["add", "rename"] }), json!({ "type": "string", "description": text })] {
            let schema = by_text(method, &[("x", &text), ("y", &about)]);
            let about = About { description: &text, ..UNKNOWN };
            let made = sample(&schema, &about);
            let made = made.expect("a schema of texts has a call");
            prop_assert!(jsonschema::is_valid(&schema, &Value::Object(made.arguments.clone())));
            prop_assert!(made.fill_in.iter().all(|at| Value::Object(made.arguments.clone()).pointer(at).is_some()));
        }
    }
}

const PIECES: &[&str] = &[
    "required", " for ", "'add'", "rename", "\"", "'", "`", "|", "\n", "- ", "(", ")", ", ", " or ", " all ",
    "methods", "except ", "one of", ": ", ". ", "only ", "not ", "x", "y", "é", "“", "| x | required |",
    "optional ", "…", "\u{202e}",
];
