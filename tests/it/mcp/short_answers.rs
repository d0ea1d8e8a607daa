//! Answers of MCP hold what a model needs, and little more.

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::tokens::Counter;

use super::run;
use crate::fixture;

/// Most tokens that an answer may add to the text of a backend.
const MOST: usize = 15;

type Client = RunningService<RoleClient, ()>;

/// Contents of the backends.
fn contents() -> Vec<(&'static str, Value)> {
    let rows: Vec<Value> =
        (0..40).map(|row| json!({"id": format!("task_{row}"), "title": "Buy \"nails\""})).collect();
    vec![
        ("a_text", json!("The first line.\nA second one, with \"quotes\".\n\n\tAnd a third.\n".repeat(10))),
        ("a_short_text", json!("ok")),
        ("an_object", json!({"tasks": rows, "total": 40, "text": "a\nb"})),
        ("a_list", json!(rows)),
        ("a_number", json!(7)),
        ("empty_text", json!("")),
        ("empty_object", json!({})),
        ("empty_list", json!([])),
        ("nothing", Value::Null),
    ]
}

fn tools(contents: &[(&str, Value)]) -> String {
    let tool = |(name, content): &(&str, Value)| {
        json!({"name": name, "op": format!("desk.answers.{name}"), "description": "Answers.", "effect": "read",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "limit": {"type": "integer"}}, "additionalProperties": false},
            "backend": {"type": "static", "content": content}})
    };
    Value::from(contents.iter().map(tool).collect::<Vec<_>>()).to_string()
}

fn catalog(config: &str) -> TempDir {
    let own = json!([
        {"name": "unchecked", "description": "Has no schema.", "effect": "read", "allow_no_schema": true, "no_schema_mode": "read-only",
         "backend": {"type": "static", "content": "unchecked"}},
        {"name": "open_project", "description": "Opens a project.", "effect": "read", "context_shift": "/project", "parameters": {"type": "object", "properties": {}},
         "backend": {"type": "static", "content": {"project": {"id": "atlas"}}}},
        {"name": "save", "description": "Saves.", "effect": "write", "parameters": {"type": "object", "properties": {}},
         "backend": {"type": "static", "content": "saved"}},
    ]);
    let config = format!("[exec]\nallow = \"write\"\n{config}");
    fixture::folder(&[
        ("tools.json", &tools(&contents())),
        ("own.json", &own.to_string()),
        ("toolcrib.toml", &config),
    ])
}

/// Runs a test with a client of this catalog.
fn with(folder: &TempDir, flags: &[&str], test: impl AsyncFn(&Client)) {
    let catalog = fixture::text(folder.path());
    run(async {
        let program = fixture::program(&[&["serve", "--stdio", catalog], flags].concat());
        let client =
            ().serve(TokioChildProcess::new(tokio::process::Command::from(program)).unwrap()).await.unwrap();
        test(&client).await;
        let _ = client.cancel().await;
    });
}

async fn call(client: &Client, name: &str, arguments: Value) -> Value {
    let call =
        CallToolRequestParams::new(name.to_string()).with_arguments(arguments.as_object().unwrap().clone());
    serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap()
}

/// The blocks of text of a result.
fn texts(result: &Value) -> Vec<&str> {
    result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect()
}

fn tokens(text: &str) -> usize {
    Counter::default().count(text)
}

/// The text of a backend.
fn own_text(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_string)
}

#[test]
fn a_good_result_takes_at_most_fifteen_tokens_more_than_the_backends_own_text() {
    with(&catalog(""), &[], async |client| {
        for (name, content) in contents() {
            let own = own_text(&content);
            let op = format!("desk.answers.{name}");
            for (function, arguments) in [
                ("tool_exec", json!({"op": op})),
                ("tool_exec", json!({"op": op, "args": {"limit": 3}, "dry_run": false})),
                ("tool_exec_read", json!({"op": op})),
                ("call_tool", json!({"tool_id": name})),
                (name, json!({"id": "x"})),
            ] {
                let result = call(client, function, arguments).await;
                let told = texts(&result);
                assert!(told.len() == 1 && (own.is_empty() || told[0] == own), "{function}: {result}");
                assert!(tokens(told[0]) <= tokens(&own) + MOST, "{function}: {result}");
                // Clients that show data in place of text pay no more.
                let data = Some(&content).filter(|content| content.is_object());
                assert_eq!(result.get("structuredContent"), data, "{function}");
                for name in ["trace_id", "registry_version", "op"] {
                    assert!(!result["_meta"][format!("toolcrib/{name}")].is_null(), "{function}: {result}");
                }
            }
        }
    });
}

#[test]
fn each_answer_of_a_batch_takes_at_most_fifteen_tokens_more() {
    with(&catalog(""), &[], async |client| {
        let calls: Vec<Value> =
            contents().iter().map(|(name, _)| json!({"exec": name, "id": format!("the {name}")})).collect();
        let result = call(client, "tool_batch", json!({"calls": calls})).await;
        for (index, ((name, content), told)) in contents().into_iter().zip(texts(&result)).enumerate() {
            let own = own_text(&content);
            assert!(told.starts_with(&format!("[{index}]\n")) && told.ends_with(&own), "{told}");
            assert!(tokens(told) <= tokens(&own) + MOST, "{name}: {told}");
            let item = &result["structuredContent"]["results"][index];
            assert_eq!(*item, json!({"id": format!("the {name}"), "ok": true, "result": content}));
            assert_eq!(result["_meta"]["toolcrib/calls"][index]["op"], format!("desk.answers.{name}"));
        }
        let calls = json!([{"exec": "a_list", "args": {"limit": "many"}}, {"exec": "a_list", "args": {"limit": "3"}}]);
        let result = call(client, "tool_batch", json!({"calls": calls})).await;
        let told = texts(&result);
        assert!(told[0].starts_with("[0]\n{") && told[0].contains("VALIDATION_ERROR"), "{result}");
        assert!(
            told[1].ends_with(r#"{"meta":{"warnings":["`limit` was text, read as the value in it"]}}"#),
            "{result}"
        );
        let items = &result["structuredContent"]["results"];
        assert_eq!(
            (&items[0]["ok"], &items[1]["meta"]["warnings"][0]),
            (&json!(false), &json!("`limit` was text, read as the value in it"))
        );
    });
}

#[test]
fn a_long_result_is_read_on_with_little_beside_each_part() {
    let long = json!("A line of a long text, and another one.\n".repeat(60));
    let list: Vec<Value> = (0..200).map(|row| json!({"id": format!("task_{row}")})).collect();
    let contents = [("long_text", long.clone()), ("long_list", json!(list))];
    let folder = fixture::folder(&[
        ("tools.json", &tools(&contents)),
        ("toolcrib.toml", "[exec]\nresult_bytes = 1000\n"),
    ]);
    with(&folder, &[], async |client| {
        for (name, content) in &contents {
            for as_op in [false, true] {
                let first = call(client, name, json!({})).await;
                let told = texts(&first);
                let notes: Value = serde_json::from_str(told[1]).unwrap();
                assert!(notes["meta"]["warnings"][0].as_str().unwrap().contains("read_result"), "{first}");
                let mut parts = vec![told[0].to_string()];
                let mut cursor = first["_meta"]["toolcrib/more"]["cursor"].clone();
                assert!(told[1].contains(cursor.as_str().unwrap()), "{first}");
                let link = first["content"].as_array().unwrap().last().unwrap();
                let address = format!("toolcrib://results/{}", cursor.as_str().unwrap());
                assert_eq!(
                    (&link["type"], &link["uri"]),
                    (&json!("resource_link"), &json!(address)),
                    "{first}"
                );
                let rest = client.read_resource(ReadResourceRequestParams::new(address)).await.unwrap();
                let rest = serde_json::to_value(rest).unwrap()["contents"][0]["text"].clone();
                while cursor.is_string() {
                    let arguments = json!({"cursor": cursor});
                    let part = match as_op {
                        true => {
                            call(client, "tool_exec", json!({"op": "read_result", "args": arguments})).await
                        }
                        false => call(client, "read_result", arguments).await,
                    };
                    let told = texts(&part);
                    let notes = told.get(1).map_or("", |notes| notes);
                    assert!(tokens(notes) <= MOST, "{}: {notes}", tokens(notes));
                    parts.push(told[0].to_string());
                    cursor = notes.strip_prefix("next ").into();
                    assert!(parts.len() < 20, "{part}");
                }
                let whole = match content {
                    Value::String(_) => json!(parts.concat()),
                    _ => parts
                        .iter()
                        .flat_map(|part| serde_json::from_str::<Vec<Value>>(part).unwrap())
                        .collect(),
                };
                assert_eq!(whole, *content);
                let rest = rest.as_str().unwrap();
                let begun = &parts[0];
                let with_rest = match content {
                    Value::String(_) => json!(format!("{begun}{rest}")),
                    _ => [begun.as_str(), rest]
                        .iter()
                        .flat_map(|part| serde_json::from_str::<Vec<Value>>(part).unwrap())
                        .collect(),
                };
                assert_eq!(with_rest, *content);
            }
        }
    });
}

#[test]
fn repairs_are_told_each_time_and_standing_warnings_once_a_session() {
    with(&catalog(""), &[], async |client| {
        for _ in 0..2 {
            let result = call(client, "tool_exec", json!({"op": "a_list", "args": {"id": 7}})).await;
            assert!(texts(&result)[1].contains("`id` was not text"), "{result}");
            assert_eq!(result.get("structuredContent"), None, "data would lack the repair");
            let result =
                call(client, "call_tool", json!({"tool_id": "an_object", "arguments": {"limit": "3"}})).await;
            assert!(
                texts(&result)[1].contains(r#""repaired":[{"pointer":"/limit","repair":"decoded"}]"#),
                "{result}"
            );
            let data = &result["structuredContent"];
            assert_eq!(
                (&data["result"]["total"], &data["repaired"][0]["repair"]),
                (&json!(40), &json!("decoded"))
            );
            let dry = call(client, "tool_exec", json!({"op": "a_list", "dry_run": true})).await;
            assert!(texts(&dry)[1].contains("nothing was run"), "{dry}");
        }
        for (function, arguments, blocks) in [
            ("tool_exec", json!({"op": "unchecked"}), 2),
            ("unchecked", json!({}), 1),
            ("tool_exec", json!({"op": "unchecked", "session": "other"}), 2),
            ("tool_exec", json!({"op": "unchecked"}), 1),
            ("tool_exec", json!({"op": "save", "idempotency_key": "a"}), 2),
            ("tool_exec", json!({"op": "save", "idempotency_key": "b"}), 1),
        ] {
            let result = call(client, function, arguments.clone()).await;
            assert_eq!(texts(&result).len(), blocks, "{arguments}: {result}");
            assert_eq!(
                result["_meta"]["toolcrib/warnings"].as_array().unwrap().len(),
                1,
                "programs get each"
            );
        }
        let again = call(client, "tool_exec", json!({"op": "save", "idempotency_key": "b"})).await;
        assert_eq!(texts(&again)[1], r#"{"meta":{"replayed":true}}"#);
    });
}

#[test]
fn the_context_of_a_session_is_told_when_it_is_new() {
    with(&catalog(""), &[], async |client| {
        let shift = call(client, "open_project", json!({})).await;
        assert_eq!(texts(&shift)[1], r#"{"meta":{"context":{"id":"atlas"}}}"#);
        for _ in 0..2 {
            let later = call(client, "tool_exec", json!({"op": "a_number"})).await;
            assert_eq!(
                (texts(&later), &later["_meta"]["toolcrib/context"]),
                (vec!["7"], &json!({"id": "atlas"}))
            );
        }
    });
}

#[test]
fn an_error_keeps_its_envelope_without_what_only_programs_read() {
    with(&catalog(""), &[], async |client| {
        for (function, arguments) in [
            ("tool_exec", json!({"op": "a_list", "args": {"limit": "many"}})),
            ("call_tool", json!({"tool_id": "a_list", "arguments": {"limit": "many"}})),
            ("a_list", json!({"limit": "many"})),
            ("tool_help", json!({"path": "nowhere"})),
        ] {
            let result = call(client, function, arguments).await;
            let told: Value = serde_json::from_str(texts(&result)[0]).unwrap();
            assert_eq!((&told["ok"], told.get("meta")), (&json!(false), None), "{told}");
            assert!(
                told["error"]["next_action"].is_string() && told["error"]["help_path"].is_string(),
                "{told}"
            );
            assert_eq!(result["structuredContent"], told);
            assert!(result["_meta"]["toolcrib/registry_version"].is_string(), "{result}");
        }
    });
}

#[test]
fn help_keeps_its_receipt_and_loses_the_registry_version() {
    with(&catalog(""), &[], async |client| {
        let help = call(client, "tool_help", json!({"path": "a_list"})).await;
        let told: Value = serde_json::from_str(texts(&help)[0]).unwrap();
        assert!(told["receipt"].is_string() && told["doc_version"].is_string(), "{told}");
        assert_eq!((told.get("meta"), &told), (None, &help["structuredContent"]));
        assert!(help["_meta"]["toolcrib/registry_version"].is_string());
        for (function, arguments) in [
            ("tool_search", json!({"query": "a list", "format": "json"})),
            ("read_tool_doc", json!({"name": "a_list"})),
        ] {
            let result = call(client, function, arguments).await;
            assert!(!texts(&result)[0].contains("registry_version"), "{result}");
        }
    });
}
