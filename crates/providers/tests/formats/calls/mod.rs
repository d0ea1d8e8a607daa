//! Calls in: each provider's responses, arguments in every form that models give them, and hostile bodies. Results out are in
//! [`results`].

mod formats;
mod results;

use std::sync::LazyLock;

use serde_json::{Value, json};
use toolcrib_catalog::Checked;
use toolcrib_providers::Provider;
use toolcrib_providers::call::{ParseError, Parser};

use crate::fixture;

const TOOLS: &str = r#"[
  {"name": "files.read", "op": "onto.file.read", "aliases": ["cat"], "description": "Read a file.", "parameters": {
    "type": "object", "required": ["path"], "additionalProperties": false, "properties": {
      "path": {"type": "string"}, "limit": {"type": "integer"}, "price": {"type": "number"},
      "tags": {"type": "array", "items": {"type": "string"}}, "where": {"type": "object"},
      "any": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
      "rules": {"type": "array", "items": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "list": {"type": "array"}, "text": {"type": "string"}}, "required": ["kind", "list"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false}
      ]}},
      "mode": {"enum": ["text", "binary"]}}}},
  {"name": "ping", "description": "Say whether the server is there.", "parameters": {"type": "object", "properties": {}}},
  {"name": "list-items", "description": "List all items.", "parameters": {"type": "object", "properties": {"args": {"type": "object"}, "page": {"type": "integer"}}}},
  {"name": "held", "description": "A tool held to its schema.", "strict": true, "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}},
  {"name": "free", "description": "A tool without a schema.", "allow_no_schema": true, "no_schema_mode": "read-only"},
  {"name": "shut", "description": "A tool that nobody can call."}
]"#;

fn checked() -> &'static Checked {
    static CHECKED: LazyLock<Checked> = LazyLock::new(|| fixture::open_text("tools.json", TOOLS));
    &CHECKED
}

fn parsed(provider: Provider, body: &str) -> Result<Value, ParseError> {
    let parser = Parser::new(&checked().catalog, provider);
    Ok(serde_json::to_value(parser.parse(body)?).unwrap())
}

/// A response gives these entries.
#[track_caller]
fn check(provider: Provider, body: Value, expected: Value) {
    assert_eq!(parsed(provider, &body.to_string()).unwrap(), expected, "{body}");
}

/// A response of chat completions with one call of a tool; `arguments` as they stand in the response.
fn chat(name: &str, arguments: Value) -> String {
    let call =
        json!({"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]}).to_string()
}

fn one(name: &str, arguments: Value) -> Value {
    parsed(Provider::OpenAi, &chat(name, arguments)).unwrap()[0].take()
}

/// Arguments of `files.read` are read as these, with these repairs.
#[track_caller]
fn reads(arguments: Value, expected: Value, repaired: &[(&str, &str)]) {
    let entry = one("files_read", arguments.clone());
    let got: Vec<(&str, &str)> = entry["repaired"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|repair| (repair["pointer"].as_str().unwrap(), repair["repair"].as_str().unwrap()))
        .collect();
    assert_eq!((&entry["args"], got.as_slice()), (&expected, repaired), "{arguments} gave {entry}");
}

#[test]
fn arguments_in_every_form() {
    let good = json!({"path": "a"});
    let text = good.to_string();
    reads(good.clone(), good.clone(), &[]);
    reads(json!(text), good.clone(), &[]);
    reads(json!(format!(" {text}\n")), good.clone(), &[]);
    reads(json!(json!(text).to_string()), good.clone(), &[("", "double-encoded")]);
    for none in [json!(""), json!(" \n"), json!("null"), json!("{}"), json!(null), json!({})] {
        let entry = one("ping", none.clone());
        assert_eq!((&entry["args"], entry.get("repaired")), (&json!({}), None), "{none}");
    }
    let absent = json!({"choices": [{"message": {"tool_calls": [{"function": {"name": "ping"}}]}}]});
    check(Provider::OpenAi, absent, json!([{"name": "ping", "call_id": null, "args": {}}]));
}

#[test]
fn calls_in_one_text_are_read_each_and_words_are_left_out() {
    let good = json!({"path": "a"});
    for text in
        ["{}{\"path\":\"a\"}", "{\"path\":\"a\"}{\"path\":\"a\"}", "{\"path\":\"a\"}\n\nI read it now."]
    {
        reads(json!(text), good.clone(), &[("", "extracted")]);
    }
    let text = r#"{"path":"}{","price":1.10}{"path":"b"}{"limit":1}"#;
    let entries =
        Parser::new(&checked().catalog, Provider::OpenAi).parse(&chat("files_read", json!(text))).unwrap();
    let read = |index: usize| entries[index].outcome.as_ref().map(|call| call.json());
    assert_eq!(read(0).unwrap(), r#"{"path":"}{","price":1.10}"#);
    assert_eq!(read(1).unwrap(), r#"{"path":"b"}"#);
    assert_eq!(read(2).unwrap_err().given, r#"{"limit":1}"#);
    assert!(entries.len() == 3 && entries.iter().all(|entry| entry.call_id.as_deref() == Some("call_1")));
    let unclear = one("files_read", json!("{\"path\":\"a\"} or {\"path\":\"b\"}"));
    assert!(unclear["error"]["message"].as_str().unwrap().contains("several JSON objects"), "{unclear}");
}

#[test]
fn arguments_below_a_wrong_key() {
    let good = json!({"path": "a"});
    for key in ["args", "arguments", "input", "parameters", "params", "kwargs", "files_read", "files.read"] {
        let pointer = format!("/{key}");
        reads(json!({key: good}), good.clone(), &[(&pointer, "unwrapped")]);
        reads(
            json!({key: good.to_string()}),
            good.clone(),
            &[(&pointer, "decoded"), (&pointer, "unwrapped")],
        );
    }
    for name in ["files_read", "files.read"] {
        for (key, below) in
            [("name", "arguments"), ("tool", "args"), ("op", "args"), ("function", "parameters")]
        {
            let whole = json!({key: name, below: good});
            reads(whole, good.clone(), &[(&format!("/{below}"), "unwrapped")]);
        }
    }
    reads(json!([good]), good.clone(), &[("/0", "unwrapped")]);
    for other in [json!({"name": "files_write", "arguments": good}), json!([good, good]), json!([[good]])] {
        assert_eq!(one("files_read", other)["error"]["code"], "schema");
    }
    assert_eq!(one("list-items", json!({"args": {"page": 1}}))["args"], json!({"args": {"page": 1}}));
    assert_eq!(one("files_read", json!({"other": good}))["error"]["code"], "schema");
    assert_eq!(one("files_read", json!({"args": good, "limit": 1}))["error"]["code"], "schema");
    let inside = one("files_read", json!({"args": {"path": true}}));
    assert_eq!(
        inside["error"]["field_errors"],
        json!([{"pointer": "/path", "message": "expected string, got true"}])
    );
    assert_eq!(inside["repaired"], json!([{"pointer": "/args", "repair": "unwrapped"}]));
}

#[test]
fn lists_and_objects_given_as_text() {
    reads(
        json!({"path": "a", "tags": "[\"x\"]"}),
        json!({"path": "a", "tags": ["x"]}),
        &[("/tags", "decoded")],
    );
    reads(
        json!({"path": "a", "where": "{\"n\":1}"}),
        json!({"path": "a", "where": {"n": 1}}),
        &[("/where", "decoded")],
    );
    reads(json!({"path": "a", "any": "[\"x\"]"}), json!({"path": "a", "any": ["x"]}), &[("/any", "decoded")]);
    reads(json!({"path": "[1]"}), json!({"path": "[1]"}), &[]);
    reads(json!({"path": "[1]", "tags": "[]"}), json!({"path": "[1]", "tags": []}), &[("/tags", "decoded")]);
    let rules = json!({"path": "a", "rules": [{"kind": "a", "list": "[1]", "text": "[2]"}]});
    let read = json!({"path": "a", "rules": [{"kind": "a", "list": [1], "text": "[2]"}]});
    reads(rules, read, &[("/rules/0/list", "decoded")]);
    assert_eq!(one("files_read", json!({"path": "a", "tags": "[1]"}))["error"]["code"], "schema");
    assert_eq!(one("files_read", json!({"path": "a", "tags": "[\"x\""}))["error"]["code"], "schema");
}

#[test]
fn misspelled_names_are_read_as_a_call_reads_them() {
    reads(json!({"Path": "a"}), json!({"path": "a"}), &[("", "respelled")]);
    reads(json!({"path": "a", "Limit": 5}), json!({"path": "a", "limit": 5}), &[("", "respelled")]);
    let modes = json!({"path": "a", "mode": "text"});
    reads(json!({"path": "a", "mode": "TEXT"}), modes, &[("", "respelled")]);
}

#[test]
fn text_cut_within_a_character_costs_no_response() {
    let body = r#"{"choices": [{"message": {"content": "cut \ud83d", "tool_calls": [{"function": {"name": "ping"}}]}}]}"#;
    assert_eq!(parsed(Provider::OpenAi, body).unwrap()[0]["name"], "ping");
}

#[test]
fn nulls_of_optional_properties() {
    reads(json!({"path": "a", "limit": null}), json!({"path": "a"}), &[("/limit", "null-dropped")]);
    reads(json!({"path": "a", "any": null}), json!({"path": "a", "any": null}), &[]);
    assert_eq!(one("files_read", json!({"path": null}))["error"]["code"], "schema");
    let strict = one("held", json!({"a": "x", "b": null}));
    assert_eq!(
        (&strict["args"], strict.get("repaired")),
        (&json!({"a": "x"}), None),
        "asked for by the strict schema"
    );
}

#[test]
fn numbers_keep_their_digits() {
    let check = |arguments: &str| {
        let parser = Parser::new(&checked().catalog, Provider::OpenAi);
        for body in
            [chat("files_read", json!(arguments)), chat("files_read", json!("@")).replace("\"@\"", arguments)]
        {
            let entries = parser.parse(&body).unwrap();
            let call = entries[0].outcome.as_ref().unwrap();
            assert_eq!(call.json(), arguments, "{body}");
            let printed = serde_json::to_string(&entries[0]).unwrap();
            assert!(printed.contains(arguments), "{printed}");
        }
    };
    check(r#"{"path":"a","limit":123456789012345678901234567890}"#);
    check(r#"{"path":"a","limit":18446744073709551615,"price":1.10}"#);
    check(r#"{"path":"1.10","price":-0.000000000000000000001230}"#);
    check(r#"{"path":"a","price":1e999,"where":{"deep":[1E+2,{"x":-0}]}}"#);
    let parser = Parser::new(&checked().catalog, Provider::OpenAi);
    let repaired = parser
        .parse(&chat("files_read", json!({"args": "{\"path\":\"a\",\"where\":\"{\\\"n\\\":2.50}\"}"})))
        .unwrap();
    assert_eq!(repaired[0].outcome.as_ref().unwrap().json(), r#"{"path":"a","where":{"n":2.50}}"#);
    let unknown = parser
        .parse(&chat("nope_nope", json!("@")).replace("\"@\"", "{\"a\":1.50}").replace("\"call_1\"", "2.50"));
    let unknown = unknown.unwrap().remove(0);
    assert_eq!(
        (unknown.call_id.as_deref(), unknown.outcome.unwrap_err().given.as_str()),
        (Some("2.50"), "{\"a\":1.50}")
    );
    let cut = one("files_read", json!("{\"price\":1.50,"));
    assert!(cut["error"]["message"].as_str().unwrap().contains("cut off after 14 characters"), "{cut}");
    let refused = one("files_read", json!("{\"path\":\"a\",\"limit\":1.50}"));
    assert_eq!(refused["error"]["field_errors"][0]["message"], "expected integer, got 1.5");
    assert_eq!(one("files_read", json!("1.5"))["error"]["code"], "schema");
    assert_eq!(one("files_read", json!(1.5))["error"]["code"], "schema");
}

#[test]
fn what_is_wrong_is_said() {
    for cut in [
        "{\"path\":\"a\"", "{\"path\":\"a\"}{", "{\"path\":\"a\"} 5", "path", "{\"path\":01}", "\"{\"",
        "{path:x}",
    ] {
        let entry = one("files_read", json!(cut));
        assert_eq!(entry["error"]["code"], "parse", "{cut} gave {entry}");
        assert_eq!(entry["error"]["help_path"], "onto.file.read");
    }
    for other in [json!([1]), json!("[1]"), json!(1), json!("1"), json!("true"), json!("\"\\\"x\\\"\"")] {
        let error = one("files_read", other.clone())["error"].take();
        assert!(["schema", "parse"].contains(&error["code"].as_str().unwrap()), "{other}");
    }
    let entry = one("files_read", json!({"pth": "a", "limit": "x", "mode": "txt"}));
    let expected = json!({"name": "files.read", "call_id": "call_1", "error": {
        "code": "schema",
        "message": entry["error"]["message"],
        "field_errors": [
            {"pointer": "/limit", "message": "expected integer, got \"x\""},
            {"pointer": "/mode", "message": "expected one of \"text\", \"binary\", got \"txt\"", "nearest": "text"},
            {"pointer": "/path", "message": "missing required property \"path\""},
            {"pointer": "/pth", "message": "unknown property \"pth\"", "nearest": "path"},
        ],
        "help_path": "onto.file.read", "nearest": [],
    }});
    let mut sorted = entry.clone();
    let errors = sorted["error"]["field_errors"].as_array_mut().unwrap();
    errors.sort_by_key(|error| error["pointer"].as_str().unwrap().to_string());
    assert_eq!(sorted, expected);
    let shut = one("shut", json!({}));
    assert_eq!(shut["error"]["code"], "schema");
    assert!(shut["error"]["message"].as_str().unwrap().contains("no schema"), "{shut}");
}

#[test]
fn tools_by_other_names() {
    let args = json!({"path": "a"});
    for name in
        ["files_read", "files.read", "onto.file.read", "onto_file_read", "functions.onto_file_read", "cat"]
    {
        assert_eq!(one(name, args.clone())["name"], "files.read", "{name}");
    }
    for name in ["tool_search", "tool.search", "functions.tool_search"] {
        assert_eq!(one(name, json!({"query": "x"}))["name"], "tool_search");
    }
    let unknown = one("files_raed", args);
    assert_eq!(unknown["error"]["code"], "unknown_tool");
    assert_eq!(
        (&unknown["error"]["help_path"], &unknown["error"]["nearest"][0]),
        (&json!("root"), &json!("files_read"))
    );
    assert_eq!(unknown["name"], "files_raed");
    assert_eq!(one("tool_serch", json!({}))["error"]["nearest"][0], "tool_search");
    let clash = fixture::open_text(
        "tools.json",
        r#"[{"name": "a-b", "parameters": {"type": "object"}}, {"name": "a_b", "parameters": {"type": "object"}}]"#,
    );
    let parser = Parser::new(&clash.catalog, Provider::Cohere);
    let body = json!({"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a_b", "arguments": "{}"}}]}});
    let entries = parser.parse(&body.to_string()).unwrap();
    assert_eq!(entries[0].name.as_deref(), Some("a_b"));
}

#[test]
fn tools_without_a_schema_are_unchecked() {
    let entry = one("free", json!("{\"any\":[1]}"));
    assert_eq!(
        entry,
        json!({"name": "free", "call_id": "call_1", "args": {"any": [1]}, "validated": false, "no_schema_mode": "read-only"})
    );
    assert_eq!(one("free", json!("[1]"))["error"]["code"], "schema");
}

#[derive(Debug, serde::Deserialize, PartialEq)]
struct Read {
    path: String,
    limit: Option<u128>,
}

#[test]
fn valid_calls_become_instances() {
    let parser = Parser::new(&checked().catalog, Provider::OpenAi);
    let call = |name: &str, arguments: &str| parser.parse(&chat(name, json!(arguments))).unwrap().remove(0);
    let big = call("files_read", r#"{"path":"a","limit":123456789012345678901234567890}"#);
    let read: Read = big.outcome.unwrap().arguments_as().unwrap();
    assert_eq!(read, Read { path: "a".into(), limit: Some(123_456_789_012_345_678_901_234_567_890) });
    let small = call("files_read", r#"{"path":"a"}"#).outcome.unwrap();
    assert_eq!(small.arguments_as::<Read>().unwrap().limit, None);
    assert!(small.arguments_as::<Vec<u8>>().is_err());
}

#[test]
fn an_entry_is_rebuilt_from_other_arguments() {
    let parser = Parser::new(&checked().catalog, Provider::OpenAi);
    let broken = parser.parse(&chat("files_read", json!("{\"path\": \"a"))).unwrap().remove(0);
    assert_eq!(broken.outcome.as_ref().unwrap_err().given, "{\"path\": \"a");
    let still = parser.rebuild(broken, "{\"path\": true}");
    assert_eq!(still.outcome.as_ref().unwrap_err().field_errors[0].pointer, "/path");
    let fixed = parser.rebuild(still, "{\"path\":\"a\",\"price\":1.10}");
    assert_eq!(fixed.call_id.as_deref(), Some("call_1"));
    assert_eq!(fixed.outcome.unwrap().json(), "{\"path\":\"a\",\"price\":1.10}");
    let unknown = parser.parse(&chat("nothing_like_it", json!({}))).unwrap().remove(0);
    assert!(parser.rebuild(unknown, "{}").outcome.is_err());
}

#[test]
fn hostile_bodies_cost_little() {
    let long = "x".repeat(1 << 20);
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    let bodies = [
        deep(100_000),
        "[".repeat(1 << 20),
        chat(&long, json!({})),
        chat("files_read", json!({"path": long})),
        chat("files_read", json!({&long: 1})),
        chat("files_read", json!({"path": "a", "mode": long})),
        chat("files_read", json!(long)),
        chat("files_read", json!(deep(100_000))),
        chat("files_read", json!(format!("{{\"path\":\"a\",\"tags\":{}}}", deep(100)))),
        chat("files_read", json!({"path": "a", "tags": deep(100_000)})),
        chat("files_read", json!(format!("{{\"path\":\"a\",\"limit\":{}}}", "9".repeat(1 << 20)))),
        chat("files_read", json!(format!("{{\"path\":\"a\",{}}}", vec!["\"limit\":null"; 10_000].join(",")))),
        json!({"choices": [{"message": {"role": "assistant", "tool_calls": vec![json!({"function": {"name": "nope_nope"}}); 10_000]}}]}).to_string(),
    ];
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let parser = Parser::new(&checked().catalog, provider);
        for body in &bodies {
            let started = std::time::Instant::now();
            let entries = parser.parse(body);
            let spent = started.elapsed();
            assert!(spent.as_secs() < 10, "{} took {spent:?} for {}", provider.as_str(), &body[..80]);
            drop(entries);
        }
    }
}

#[test]
fn numbers_and_flags_given_as_text_are_read_where_text_is_refused() {
    reads(json!({"path": "7", "limit": "7"}), json!({"path": "7", "limit": 7}), &[("/limit", "decoded")]);
    assert_eq!(one("files_read", json!({"path": "a", "limit": "seven"}))["error"]["code"], "schema");
    assert_eq!(one("files_read", json!({"path": "a", "limit": "1 2"}))["error"]["code"], "schema");
}

#[test]
fn a_number_for_a_text_keeps_every_digit_that_the_model_wrote() {
    for digits in ["7", "1.10", "-0.50", "123456789012345678901234567890", "18446744073709551615"] {
        for arguments in [
            json!(format!("{{\"path\":{digits}}}")),
            json!(json!(format!("{{\"path\":{digits}}}")).to_string()),
        ] {
            let entry = one("files_read", arguments);
            assert_eq!(entry["args"], json!({"path": digits}), "{entry}");
            let repaired = entry["repaired"].as_array().unwrap().last().unwrap();
            assert_eq!(*repaired, json!({"pointer": "/path", "repair": "as-text"}), "{entry}");
        }
    }
    // It could be written in several ways.
    assert_eq!(one("files_read", json!("{\"path\":1e3}"))["error"]["code"], "schema");
    // A number stays one where both fit, and among other mistakes it is no mistake.
    reads(json!({"path": "a", "price": 1.5}), json!({"path": "a", "price": 1.5}), &[]);
    let other = one("files_read", json!("{\"path\":7,\"limit\":\"x\"}"));
    assert_eq!(other["error"]["field_errors"][0]["pointer"], "/limit", "{other}");
}

#[test]
fn an_error_of_the_provider_is_told_as_one() {
    let bodies = [
        (
            Provider::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded", "message": "Overloaded"}}),
        ),
        (Provider::OpenAi, json!({"error": {"message": "Overloaded", "code": 503}})),
        (Provider::Gemini, json!({"error": {"code": 503, "message": "Overloaded"}})),
        (Provider::Ollama, json!({"error": "Overloaded"})),
    ];
    let checked = fixture::open_text("a.json", "[]");
    for (provider, body) in bodies {
        let error = Parser::new(&checked.catalog, provider).parse(&body.to_string()).unwrap_err();
        assert!(error.to_string().contains("answered with an error: Overloaded"), "{error}");
    }
}

#[test]
fn keys_of_open_objects_are_not_taken_for_properties_with_other_names() {
    let tools = r##"[{"name": "find", "description": "Find entries.", "parameters": {"type": "object", "properties": {
      "$filter": {"type": "string"}, "where": {"type": "object"}, "next": {"$ref": "#"}}}}]"##;
    let checked = fixture::open_text("tools.json", tools);
    let parser = Parser::new(&checked.catalog, Provider::Anthropic);
    let reads = |input: Value, expected: Value| {
        let body =
            json!({"content": [{"type": "tool_use", "id": "toolu_1", "name": "find", "input": input}]});
        let entries = serde_json::to_value(parser.parse(&body.to_string()).unwrap()).unwrap();
        assert_eq!(entries, json!([{"name": "find", "call_id": "toolu_1", "args": expected}]));
    };
    reads(json!({"where": {"filter": 1}}), json!({"where": {"filter": 1}}));
    reads(
        json!({"filter": "a", "where": {"filter": 1}, "next": {"filter": "b"}}),
        json!({"$filter": "a", "where": {"filter": 1}, "next": {"$filter": "b"}}),
    );
}

#[test]
fn nulls_that_a_strict_schema_asks_for_are_dropped_however_many() {
    let properties: serde_json::Map<String, Value> =
        (0..120).map(|index| (format!("p{index}"), json!({"type": "string"}))).collect();
    let tool = json!({"name": "t", "description": "Get a thing.", "strict": true,
        "parameters": {"type": "object", "properties": properties, "additionalProperties": false}});
    let checked = fixture::open_text("a.json", &json!([tool]).to_string());
    let nulls: serde_json::Map<String, Value> =
        (0..120).map(|index| (format!("p{index}"), Value::Null)).collect();
    let entries =
        Parser::new(&checked.catalog, Provider::OpenAi).parse(&chat("t", Value::Object(nulls))).unwrap();
    assert_eq!(
        serde_json::to_value(entries).unwrap(),
        json!([{"name": "t", "call_id": "call_1", "args": {}}])
    );
}

#[test]
fn a_stub_of_gemini_for_a_tool_that_has_args_itself() {
    let tools = r#"[{"name": "run", "description": "Run a command.", "parameters": {"type": "object", "properties": {
      "command": {"type": "string"}, "args": {"type": "array", "items": {"type": "string"}}},
      "required": ["command"], "additionalProperties": false}}]"#;
    let checked = fixture::open_text("a.json", tools);
    let parser = Parser::new(&checked.catalog, Provider::Gemini);
    let good = json!({"command": "ls", "args": ["-l"]});
    for args in [json!({"arguments": good}), good.clone()] {
        let body = json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "run", "args": args}}]}}]});
        let entries = serde_json::to_value(parser.parse(&body.to_string()).unwrap()).unwrap();
        assert_eq!(entries, json!([{"name": "run", "call_id": null, "args": good}]));
    }
}

#[test]
fn calls_that_nobody_can_read_are_not_lost() {
    let message = |calls: Value| json!({"role": "assistant", "tool_calls": calls});
    let entry = parsed(Provider::OpenAi, &message(json!(["t"])).to_string()).unwrap();
    assert_eq!(entry[0]["error"]["code"], "parse", "{entry}");
    for body in [message(json!({"0": {}})), json!({"choices": ["x"]})] {
        assert!(parsed(Provider::OpenAi, &body.to_string()).is_err(), "{body}");
    }
    assert!(parsed(Provider::Gemini, r#"{"candidates":[null]}"#).is_err());
    assert_eq!(parsed(Provider::OpenAi, &message(Value::Null).to_string()).unwrap(), json!([]));
}

#[test]
fn names_with_what_formats_and_clients_add_to_them() {
    for name in [
        "functions.files_read",
        "Functions.Files_Read",
        "default_api:files_read",
        "mcp__files__files_read",
        "MCP__files__FILES_READ",
        "files_read<|channel|>commentary",
        "functions.files_read:0",
        "files.read:12",
        "mcp__any__files.read",
    ] {
        let entry = one(name, json!({"path": "a"}));
        let repaired = json!([{"pointer": "", "repair": "name"}]);
        assert_eq!((&entry["name"], &entry["repaired"]), (&json!("files.read"), &repaired), "{name}");
    }
    assert_eq!(one(" files_read ", json!({"path": "a"}))["repaired"], Value::Null);
    for name in ["functions.nothing", "files_read:x", "<|channel|>", "mcp__files", "functions."] {
        assert_eq!(one(name, json!({}))["error"]["code"], "unknown_tool", "{name}");
    }
}

#[test]
fn the_call_in_which_an_answer_was_cut_off_is_said() {
    let cut = r#"{"path": "a", "li"#;
    let openai = |arguments: &str| {
        json!({"choices": [{"finish_reason": "length", "message": {"role": "assistant", "tool_calls": [
        {"id": "1", "function": {"name": "ping", "arguments": "{}"}}, {"id": "2", "function": {"name": "files_read", "arguments": arguments}}]}}]})
    };
    let responses = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "function_call", "call_id": "2", "name": "files_read", "arguments": cut}]});
    let anthropic = json!({"role": "assistant", "stop_reason": "max_tokens", "content": [
        {"type": "tool_use", "id": "2", "name": "files_read", "input": {"path": "a"}}]});
    let gemini = json!({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [{"functionCall": {"name": "files_read", "args": {"path": "a"}}}]}}]});
    for (provider, body) in [
        (Provider::OpenAi, openai(cut)),
        (Provider::OpenAi, openai("")),
        (Provider::OpenAiResponses, responses),
        (Provider::Anthropic, anthropic),
        (Provider::Gemini, gemini),
    ] {
        let entries = parsed(provider, &body.to_string()).unwrap();
        let last = entries.as_array().unwrap().last().unwrap();
        assert!(last["error"]["message"].as_str().unwrap().contains("`max_tokens`"), "{last}");
        assert!(entries.as_array().unwrap().len() == 1 || entries[0]["args"] == json!({}), "{entries}");
    }
    let whole = parsed(Provider::OpenAi, &openai(r#"{"path":"a"}"#).to_string()).unwrap();
    assert_eq!(whole[1]["args"], json!({"path": "a"}), "{whole}");
}

#[test]
fn calls_left_in_the_text_are_found_and_are_not_read_as_calls() {
    let call = json!({"name": "files_read", "arguments": {"path": "a", "price": 1.10}});
    let good = json!({"path": "a", "price": 1.10});
    let found = |provider: Provider, body: Value| {
        let parser = Parser::new(&checked().catalog, provider);
        let entries = parser.parse(&body.to_string()).unwrap();
        serde_json::to_value(parser.left_in_text(&body.to_string(), &entries)).unwrap()
    };
    for text in [
        format!("<tool_call>\n{call}\n</tool_call>"),
        format!("I read it:\n```json\n{call:#}\n```"),
        "{'tool': 'files_read', 'args': {'path': 'a', 'price': 1.10}}".into(),
        format!("<function=files_read>{good}</function>"),
        format!("[TOOL_CALLS]files_read[ARGS]{good}"),
        format!("<|channel|>commentary to=functions.files_read <|constrain|>json<|message|>{good}<|call|>"),
        json!({"tool_calls": [{"id": "x", "function": {"name": "files_read", "arguments": good.to_string()}}]}).to_string(),
    ] {
        for (provider, body) in [
            (Provider::OpenAi, json!({"choices": [{"message": {"role": "assistant", "content": text}}]})),
            (Provider::Anthropic, json!({"role": "assistant", "content": [{"type": "text", "text": text}]})),
            (Provider::Gemini, json!({"candidates": [{"content": {"parts": [{"text": text}]}}]})),
            (Provider::OpenAiResponses, json!({"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]})),
        ] {
            assert_eq!(parsed(provider, &body.to_string()).unwrap(), json!([]), "{body}");
            let entries = found(provider, body);
            assert_eq!((&entries[0]["name"], &entries[0]["args"]), (&json!("files.read"), &good), "{text}: {entries}");
            assert_eq!(entries.as_array().unwrap().len(), 1, "{text}");
        }
    }
    for text in [
        r#"{"name": "nothing", "arguments": {}}"#,
        r#"{"name": "files_read"}"#,
        "{".repeat(10_000).as_str(),
        r#"{"name": "files_read", "description": "Read.", "parameters": {"type": "object"}}"#,
        "files_read({})",
    ] {
        let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
        assert_eq!(found(Provider::OpenAi, body), json!([]), "{text}");
    }
    let said = json!({"choices": [{"message": {"role": "assistant", "content": call.to_string(), "tool_calls": [
        {"id": "1", "function": {"name": "files_read", "arguments": good.to_string()}}]}}]});
    assert_eq!(found(Provider::OpenAi, said), json!([]), "the call is there already");
}

#[test]
fn calls_packed_into_one_are_read_each_and_share_its_id() {
    let part = |name: &str, path: Value| json!({"recipient_name": name, "parameters": {"path": path}});
    let uses =
        json!({"tool_uses": [part("functions.files_read", "a".into()), part("files_read", 5.into()), "x"]});
    for name in ["multi_tool_use.parallel", "functions.multi_tool_use.parallel", "multi_tool_use_parallel"] {
        for arguments in [uses.clone(), uses.to_string().into()] {
            let entries = parsed(Provider::OpenAi, &chat(name, arguments)).unwrap();
            assert_eq!(entries[0]["args"], json!({"path": "a"}), "{entries}");
            assert_eq!(entries[1]["name"], "files.read", "{entries}");
            assert_eq!(entries[2]["error"]["code"], "parse", "{entries}");
            assert!((0..3).all(|index| entries[index]["call_id"] == "call_1"), "{entries}");
        }
    }
    let block = json!({"type": "tool_use", "id": "t", "name": "multi_tool_use_parallel", "input": uses});
    let message = json!({"role": "assistant", "content": [block]});
    assert_eq!(parsed(Provider::Anthropic, &message.to_string()).unwrap().as_array().unwrap().len(), 3);
    let broken = one("multi_tool_use.parallel", json!({"tools": []}));
    assert_eq!(broken["error"]["code"], "parse");
    assert!(broken["error"]["message"].as_str().unwrap().contains("call each tool by itself"), "{broken}");
    // One message answers all calls of an id.
    let result = |text: &str| toolcrib_providers::ToolResult {
        call_id: Some("call_1".into()),
        name: "files_read".into(),
        ..toolcrib_providers::ToolResult::of(text.into())
    };
    let messages = toolcrib_providers::result_messages(Provider::OpenAi, &[result("one"), result("two")]);
    let content = r#"[{"name":"files_read","result":"one"},{"name":"files_read","result":"two"}]"#;
    assert_eq!(messages, json!([{"role": "tool", "tool_call_id": "call_1", "content": content}]));
}

#[test]
fn every_text_of_a_call_keeps_its_digits() {
    let body = r#"{"output":[{"type":"function_call","call_id":"c","name":"ping","namespace":1.10,"arguments":"{\"n\":1.10}"}]}"#;
    let entries = parsed(Provider::OpenAiResponses, body).unwrap();
    assert_eq!(entries[0]["namespace"], "1.10");
    let body = r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"tools/call","params":{"name":"ping"}}"#;
    assert_eq!(parsed(Provider::Mcp, body).unwrap()[0]["call_id"], "123456789012345678901234567890");
}
