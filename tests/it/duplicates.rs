//! A key that is there twice is refused: readers differ on which of the two counts.

use serde_json::{Value, json};

use crate::fixture::{self, run, run_with};
use crate::mcp::line_transport::Process;
use crate::serve::{Server, client};

const TOOLS: &str = r#"[{"name": "look_up", "op": "file.get", "description": "Look up.", "effect": "read",
  "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "to": {"type": "object"}}},
  "backend": {"type": "static", "content": "moved"}}]"#;

/// A call in which `path` is there twice.
const TWICE: &str = r#"{"op": "file.get", "args": {"path": "a", "path": "b"}}"#;

const SAID: &str = "the key \"path\" is there twice";

#[track_caller]
fn is_refused(answer: &Value) {
    let error = &answer["error"];
    assert_eq!(error["code"], "VALIDATION_ERROR", "{answer}");
    assert!(error.to_string().contains("the key \\\"path\\\" is there twice at line 1 column"), "{answer}");
}

#[test]
fn a_call_with_a_key_twice_is_refused_over_http() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let post = |path: &str, body: &str| -> Value { server.post(path, body).json().unwrap() };
    is_refused(&post("tool_exec", TWICE));
    is_refused(&post("tools/look_up", r#"{"path": "a", "path": "b"}"#));
    is_refused(&post("read_tool_doc", r#"{"path": 1, "path": 1}"#));
    // Also in text within JSON, and in an item of a batch alone.
    let args = r#"{"path": "a", "path": "b"}"#;
    is_refused(&post("tool_exec", &json!({"op": "file.get", "args": args}).to_string()));
    is_refused(&post("tool_exec", &json!(TWICE).to_string()));
    is_refused(&post("tool_batch", &format!("{{\"calls\": [{TWICE}]}}")));
    let good = json!({"op": "file.get", "args": {"path": "a"}});
    let calls = json!({"calls": [TWICE, good, {"function": "tool_exec", "input": TWICE}]});
    let batch = post("tool_batch", &calls.to_string());
    is_refused(&batch["results"][0]);
    is_refused(&batch["results"][2]);
    assert_eq!(batch["results"][1]["result"], "moved", "{batch}");
    is_refused(&post("tool_batch", &json!({"calls": format!("[{TWICE}]")}).to_string()));
    let query = server.get("/v1/workspace.tar?name=look_up&name=x", &[]);
    assert_eq!(query.status(), 400);
    assert!(query.text().unwrap().contains("`name` is there twice"));
}

#[test]
fn a_call_with_a_key_twice_is_refused_over_mcp() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let message = |id: &str| {
        format!(
            r#"{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "tool_exec", "arguments": {TWICE}}}}}"#
        )
    };
    let check = |answer: &Value| {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(SAID), "{answer}");
    };
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let asking = client().post(server.url("/mcp")).header("content-type", "application/json");
    let asking = asking.header("accept", "application/json, text/event-stream").body(message("\"x\""));
    let answer: Value = asking.send().unwrap().json().unwrap();
    check(&answer);
    assert_eq!(answer["id"], "x");

    let mut process = Process::start(fixture::text(folder.path()));
    process.handshake();
    for id in 10..200 {
        process.write(&message(&id.to_string()));
    }
    for id in 10..200 {
        check(&process.answer(id));
    }
    process.write(r#"{"jsonrpc": "2.0", "method": "notifications/initialized", "method": "x"}"#);
    process.request(300, "ping", json!({}));
    assert_eq!(process.answer(300)["result"], json!({}));
    assert_eq!(process.end().1, Some(0));
}

#[test]
fn a_call_with_a_key_twice_is_refused_on_the_command_line() {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("call.txt", TWICE)]);
    let catalog = fixture::text(folder.path());
    let file = format!("@{catalog}/call.txt");
    for arguments in [TWICE, &file] {
        let run = run(&["call", "tool_exec", arguments, catalog]);
        assert!(run.code == 2 && run.stderr.contains(SAID), "{}", run.stderr);
    }
    let piped = run_with(&["call", "tool_exec", "-", catalog], TWICE, &[]);
    assert!(piped.code == 2 && piped.stderr.contains(SAID), "{}", piped.stderr);
    let picked = run(&["payload", "--provider", "openai", "--pick", TWICE, catalog]);
    assert!(picked.stderr.contains(SAID), "{}", picked.stderr);
}

#[test]
fn a_response_of_a_provider_with_a_key_twice_has_no_call() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let catalog = fixture::text(folder.path());
    let parse = |provider: &str, body: &str| run_with(&["parse", "--provider", provider, catalog], body, &[]);
    let input = r#"{"path": "a", "path": "b"}"#;
    let anthropic =
        format!(r#"{{"content": [{{"type": "tool_use", "id": "1", "name": "look_up", "input": {input}}}]}}"#);
    let run = parse("anthropic", &anthropic);
    assert!(run.code == 1 && run.stderr.contains(SAID), "{}", run.stderr);
    let call = json!({"id": "1", "type": "function", "function": {"name": "look_up", "arguments": input}});
    let openai = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]});
    let run = parse("openai", &openai.to_string());
    assert!(run.code == 1 && run.stdout.contains("is there twice"), "{}", run.stdout);
}

#[test]
fn a_definition_with_a_key_twice_is_reported_with_its_place() {
    let twice = |name: &str, text: &str, code: &str| {
        let checked = fixture::open_text(name, text);
        let finding = checked.findings.iter().find(|finding| finding.code.as_str() == code).unwrap();
        assert!(finding.message.contains("name") && finding.message.contains("there twice"), "{finding:?}");
        assert_eq!(fixture::codes(&checked).iter().find(|found| found.0 == code).unwrap().1, Some(3));
        checked.catalog.tools.iter().map(|tool| tool.names.canonical.to_string()).collect::<Vec<_>>()
    };
    let json = "[{\"name\": \"x\",\n \"description\": \"A.\",\n \"name\": \"y\", \"parameters\": {}}]";
    assert_eq!(twice("tools.json", json, "definition-repaired"), ["y"], "the last one counts");
    let yaml = "- name: x\n  description: A.\n  name: y\n";
    assert!(twice("tools.yaml", yaml, "file-invalid").is_empty());
}
