//! Argument lists as an agent reads them.

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};
use serde_json::json;

use super::*;
use toolcrib_definition::tokens::token_count;

fn check(schema: Value, expect: &str) {
    let shown = arguments(&schema);
    assert_eq!(shown.markdown(), expect, "{schema}");
    assert!(!shown.folded, "{schema}");
}

fn words(schema: Value, expect: &str) {
    assert_eq!(type_words(&schema), expect, "{schema}");
}

#[test]
fn required_arguments_come_first_and_fields_nest() {
    check(
        json!({ "type": "object", "required": ["text"], "properties": {
            "priority": { "enum": ["high", "low"], "default": "low", "description": "How\nsoon" },
            "labels": { "type": "array", "items": { "type": "string", "maxLength": 9 }, "minItems": 1, "maxItems": 10 },
            "config": { "type": "object", "required": ["depth"], "description": "Options.", "properties": {
                "depth": { "type": "integer", "minimum": 1, "maximum": 5, "default": 3 } } },
            "text": { "type": "string", "description": "Full <b>text</b>" } } }),
        "- `text` (string): Full `<b>text</b>`\n\
         - `priority` (`\"high\"` | `\"low\"`, optional, default `\"low\"`): How soon\n\
         - `labels` (array of string, optional, 1 to 10 items, each at most 9 characters)\n\
         - `config` (object, optional): Options.\n\
         \x20 - `depth` (integer, 1 to 5, default 3)",
    );
}

#[test]
fn types_in_words() {
    words(json!({ "type": ["string", "null"] }), "string | null");
    words(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), "integer | null");
    words(
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }, { "type": "string" }] }),
        "integer | string",
    );
    words(
        json!({ "type": "array", "items": { "type": ["string", "integer"] } }),
        "array of (string | integer)",
    );
    words(json!({ "type": "array", "items": [{ "type": "string" }, {}] }), "array: string, then any");
    words(
        json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        "object of string to integer",
    );
    words(json!({ "oneOf": [{ "const": 0, "title": "Text" }, { "const": 2 }] }), "`0` Text | `2`");
    words(json!({ "type": "string", "nullable": true }), "string | null");
    words(json!({ "type": "dict", "properties": {} }), "object");
    words(json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "boolean" } } }), "boolean");
    words(json!({ "$ref": "#/%24defs/a%20b~1c", "$defs": { "a b/c": { "type": "boolean" } } }), "boolean");
    words(json!({ "type": "string", "anyOf": [{ "format": "uri" }, { "pattern": "^/" }] }), "string");
    words(json!({ "$ref": "https://example.com/a.json" }), "any");
    words(json!({ "$ref": "#" }), "any");
    words(json!(true), "any");
    words(json!({ "type": "[x](y)" }), "[x] (y)");
}

#[test]
fn limits_in_words() {
    let limits = [
        (json!({ "type": "integer", "minimum": 1 }), "integer, at least 1"),
        (
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1.5 }),
            "number, above 0 and at most 1.5",
        ),
        (json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }), "number, above 0"),
        (json!({ "type": "integer", "maximum": 9007199254740991i64 }), "integer"),
        (json!({ "type": "string", "minLength": 1 }), "string, not empty"),
        (json!({ "type": "string", "format": "uri", "pattern": "^a`" }), "string, uri, matches `` ^a` ``"),
        (
            json!({ "type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": true }),
            "array, 2 items, unique",
        ),
        (json!({ "type": "string", "examples": ["a b"] }), "string, e.g. `\"a b\"`"),
        (
            json!({ "type": "string", "deprecated": true, "default": "" }),
            "string, default `\"\"`, deprecated",
        ),
    ];
    for (schema, expect) in limits {
        let expect = format!("- `a` ({expect})");
        check(json!({ "properties": { "a": schema }, "required": ["a"] }), &expect);
    }
}

#[test]
fn alternatives_say_how_to_tell_them_apart() {
    let shape = |kind: &str, field: &str| json!({ "type": "object", "required": ["kind"], "properties": { "kind": { "const": kind }, field: { "type": "number" } } });
    check(
        json!({ "properties": { "shape": { "oneOf": [shape("circle", "radius"), shape("square", "side"), { "type": "string" }] } },
            "anyOf": [{ "required": ["shape"] }, { "required": ["id", "name"] }] }),
        "- `shape` (object | string, optional)\n\
         \x20 - either `kind` `\"circle\"`\n\
         \x20   - `radius` (number, optional)\n\
         \x20 - or `kind` `\"square\"`\n\
         \x20   - `side` (number, optional)\n\
         - one of these is required: `shape`; `id` and `name`",
    );
}

#[test]
fn what_contains_itself_is_listed_once() {
    check(
        json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/Tree" } },
            "$defs": { "Tree": { "type": "object", "description": "A node", "properties": {
                "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } } } } } }),
        "- `tree` (Tree, optional)\n\
         \n\
         **Types:**\n\
         - **Tree** (object): A node\n\
         \x20 - `children` (array of Tree, optional)",
    );
    check(
        json!({ "properties": { "next": { "$ref": "#" } } }),
        "- `next` (Arguments, optional)\n\n**Types:**\n- **Arguments** (object)\n  - `next` (Arguments, optional)",
    );
}

#[test]
fn all_of_is_merged() {
    check(
        json!({ "properties": { "a": { "description": "Here", "allOf": [{ "$ref": "#/definitions/b" }] } },
            "definitions": { "b": { "type": "object", "description": "There", "properties": { "c": { "type": "string" } } } } }),
        "- `a` (object, optional): Here\n  - `c` (string, optional)",
    );
}

#[test]
fn schemas_that_are_no_argument_lists() {
    check(json!({}), "None.");
    check(json!({ "type": "object", "properties": {}, "additionalProperties": false }), "None.");
    check(json!(true), "Any names and values.");
    check(json!({ "type": "object", "additionalProperties": true }), "Any names and values.");
    check(
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        "Any names, each with a value of type string.",
    );
    check(json!({ "type": "array", "items": { "type": "string" } }), "One value: array of string.");
    check(json!({ "type": 5, "properties": [], "required": true, "enum": {}, "allOf": 3 }), "None.");
    check(json!(null), "None.");
}

#[test]
fn what_does_not_fit_is_counted() {
    let many: serde_json::Map<String, Value> =
        (0..200).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
    let shown = arguments(&json!({ "properties": many }));
    assert!(shown.folded);
    assert_eq!(shown.markdown().lines().count(), 151);
    assert!(shown.markdown().ends_with("- ... 50 more arguments"));

    let values: Vec<u32> = (0..20).collect();
    let shown = arguments(&json!({ "properties": { "a": { "enum": values } } }));
    assert!(
        shown.folded && shown.markdown().contains("| `7` | ... 12 more, optional"),
        "{}",
        shown.markdown()
    );

    let shown = arguments(&json!({ "properties": { "a": { "description": "One word. ".repeat(100) } } }));
    assert!(
        shown.folded && shown.markdown().len() < 650 && shown.markdown().ends_with("word. ..."),
        "{}",
        shown.markdown()
    );
}

#[test]
fn schemas_that_multiply_come_to_an_end() {
    let mut definitions = serde_json::Map::new();
    for n in 0..3000 {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        let both = json!({ "anyOf": [{ "type": "array", "items": next }, { "properties": { "l": next, "r": next } }], "allOf": [next] });
        definitions.insert(format!("d{n}"), both);
    }
    let start = std::time::Instant::now();
    let shown = arguments(&json!({ "$ref": "#/$defs/d0", "$defs": definitions }));
    assert!(shown.folded && shown.markdown().len() < 100_000, "{}", shown.markdown().len());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn long_chains_of_references_are_folded() {
    let links: [fn(Value) -> Value; 7] = [
        |next| json!({ "type": "array", "items": next }),
        |next| json!({ "type": "object", "additionalProperties": next }),
        |next| json!({ "type": "object", "patternProperties": { "^x": next } }),
        |next| json!({ "type": "array", "prefixItems": [next] }),
        |next| json!({ "properties": { "a": next } }),
        |next| json!({ "anyOf": [{ "type": "array", "items": next }, { "type": "string" }] }),
        |next| json!({ "allOf": [next] }),
    ];
    let chain = move || {
        for (index, link) in links.into_iter().enumerate() {
            let mut definitions = serde_json::Map::new();
            for n in 0..5000 {
                definitions.insert(format!("d{n}"), link(json!({ "$ref": format!("#/$defs/d{}", n + 1) })));
            }
            definitions.insert("d5000".to_string(), json!({ "properties": { "end": {} } }));
            let schema = json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions });
            let shown = arguments(&schema);
            assert!(shown.markdown().len() < 1_000, "{index}: {}", shown.markdown());
            assert!(shown.folded || index == 6, "{index}: {}", shown.markdown());
            type_words(&json!({ "$ref": "#/$defs/d0", "$defs": schema["$defs"] }));
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(chain).unwrap().join().unwrap();
}

#[test]
fn types_stay_within_the_budget() {
    let mut properties = serde_json::Map::new();
    let mut definitions = serde_json::Map::new();
    for n in 0..100 {
        let itself = json!({ "$ref": format!("#/$defs/T{n}") });
        properties.insert(format!("p{n}"), itself.clone());
        definitions.insert(format!("T{n}"), json!({ "type": "array", "items": itself }));
    }
    let shown = arguments(&json!({ "properties": properties, "$defs": definitions }));
    assert!(
        shown.folded && shown.markdown().ends_with("- **T49** (array of T49)\n- ... 50 more types"),
        "{}",
        shown.markdown()
    );
}

fn hostile_schema() -> impl Strategy<Value = Value> {
    const TEXTS: &[&str] = &[
        "string", "array", "object", "null", "#/$defs/a", "#", "#/$defs/b", "# x\n\n- y",
        "<!-- toolcrib:doc -->", "`](http://a.b)", "a` (x)\n# b", "[a](b)", "**x**", "```\n", "", "<script>",
    ];
    const KEYS: &[&str] = &[
        "type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "a", "b", "enum", "const",
        "default", "description", "title", "required", "minimum", "pattern", "format",
        "additionalProperties", "prefixItems", "nullable", "examples", "<b>[x](y)`",
    ];
    let leaf = prop_oneof![
        4 => proptest::sample::select(TEXTS).prop_map(|text| json!(text)),
        1 => any::<bool>().prop_map(|flag| json!(flag)),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(6, 80, 6, |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            4 => proptest::collection::vec((proptest::sample::select(KEYS), inner), 0..7)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_schema_gives_a_list_and_nothing_else(schema in hostile_schema()) {
        let root = json!({ "properties": { "p": schema, "<b>": schema }, "$defs": { "a": schema, "b": { "items": schema } } });
        for schema in [&schema, &root] {
            let shown = arguments(schema).markdown();
            prop_assert!(!shown.is_empty() && !shown.contains("<!-- toolcrib"));
            let page = format!("**Arguments:**\n{shown}\n\n## After\n");
            let mut headings = 0;
            for event in Parser::new(&page) {
                headings += usize::from(matches!(event, Event::Start(Tag::Heading { .. })));
                let harmless = !matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::Rule
                    | Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_) | Tag::BlockQuote(_)));
                prop_assert!(harmless, "{:?}\n{}", event, page);
            }
            prop_assert_eq!(headings, 1);
            type_words(schema);
        }
    }
}

/// A tool with more optional parts than a doc has room for, and required ones as deep.
fn long_schema() -> Value {
    let text = "Words of a description that somebody wrote with care, and with an example or two.";
    let leaf = |n: usize| (format!("leaf_{n}"), json!({ "type": "string", "description": text }));
    let leaves: serde_json::Map<String, Value> = (0..8).map(leaf).collect();
    let branch = |required: &[&str]| json!({ "type": "object", "required": required, "properties": leaves });
    json!({
        "type": "object",
        "required": ["target"],
        "properties": {
            "options": branch(&[]),
            "filter": branch(&["leaf_1"]),
            "target": branch(&["leaf_0"]),
            "level": { "oneOf": [
                { "const": 1, "description": "The first level, with a meaning too long for a type" },
                { "const": 2, "description": "The second level, with a meaning too long for a type" },
            ] },
            "rules": { "type": "array", "items": { "oneOf": [
                { "properties": { "kind": { "const": "a" }, "x": branch(&[]) } },
                { "properties": { "kind": { "const": "b" }, "y": branch(&[]) } },
            ] } },
        },
    })
}

#[test]
fn a_long_list_names_optional_parts_and_lists_required_ones() {
    let schema = long_schema();
    let list = doc_arguments(&schema);
    let text = &list.markdown;
    assert!(list.folded, "a folded list says that there is more");
    assert!(text.contains("- `options` (object, optional): Optional fields: `leaf_0`, `leaf_1`"), "{text}");
    assert!(text.contains("- `filter` (object, optional): Fields: `leaf_1`; optional: `leaf_0`, "), "{text}");
    assert!(text.contains("- `target` (object)\n  - `leaf_0` (string): Words"), "{text}");
    assert!(text.contains("  - either `1`: The first level"), "values keep their meanings: {text}");
    assert!(text.contains("Forms: `kind` `\"a\"`; `kind` `\"b\"`."), "{text}");
    assert!(token_count(text) < 500, "{text}");
    assert!(!arguments(&schema).folded, "the page for people has them all");
}

#[test]
fn a_list_stays_whole_where_folding_would_save_little() {
    let text = "Words of a description that somebody wrote with care, and with an example or two.";
    let argument = |n: usize| (format!("argument_{n}"), json!({ "type": "string", "description": text }));
    let properties: serde_json::Map<String, Value> = (0..40).map(argument).collect();
    let schema = json!({ "type": "object", "properties": properties });
    let list = doc_arguments(&schema);
    assert_eq!(list.markdown.lines().count(), 40);
    assert!(!list.folded);
}
