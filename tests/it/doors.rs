//! One table of calls through every door: the command line, HTTP and MCP give the same answers. A new function adds its
//! calls here.

use serde_json::{Value, json};

use crate::fixture::{self, program};
use crate::serve::{Server, client};

/// A function, its arguments, and the code of its error; none when it answers.
fn table() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let doc = "read_tool_doc";
    let mut table = vec![
        (doc, json!({"name": "get_me"}), None),
        (doc, json!({"names": ["get_me", "create_issue"]}), None),
        (doc, json!({"name": "github.create_branch"}), None),
        (doc, json!({"names": ["github.get_me", "get_me"]}), None),
        (doc, json!({"name": "get_me", "format": "json"}), None),
        (doc, json!({"name": "create_pull_request", "max_tokens": 60}), None),
        (doc, json!({"name": "create_pull_request", "max_tokens": 60, "format": "json"}), None),
        (doc, json!({"names": ["get_me", "create_branch"], "max_tokens": 1}), None),
        (doc, json!({"name": "get_me", "known_version": "0000000000"}), None),
        (doc, json!({"name": "get_me", "known_version": version("get_me")}), None),
        (doc, json!({"names": ["get_me", "no_such_tool"]}), None),
        (doc, json!({"names": "get_me"}), None),
        (doc, json!({"name": "creat_issue"}), Some("NOT_FOUND")),
        (doc, json!({"name": "Ünïcode \u{202e}\u{0} \"quoted\""}), Some("NOT_FOUND")),
        (doc, json!({}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": 7}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": "get_me", "section": "everything"}), Some("VALIDATION_ERROR")),
        (doc, json!({"nam": "get_me"}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": "get_me", "max_tokens": 0}), Some("VALIDATION_ERROR")),
    ];
    for section in ["summary", "arguments", "examples", "policy", "schema", "all"] {
        table.push((doc, json!({"name": "create_issue", "section": section}), None));
        table.push((doc, json!({"name": "create_issue", "section": section, "format": "json"}), None));
    }
    table
}

fn catalog() -> String {
    fixture::text(&fixture::package().join("examples/github")).to_string()
}

fn version(name: &str) -> String {
    let answer = on_command_line("read_tool_doc", &json!({"name": name}));
    answer.0["docs"][0]["doc_version"].as_str().unwrap().to_string()
}

/// The answer as JSON, and the exit code.
fn on_command_line(function: &str, arguments: &Value) -> (Value, i32) {
    let run = program(&["call", function, &arguments.to_string(), "--catalog", &catalog()]).output().unwrap();
    (serde_json::from_slice(&run.stdout).unwrap(), run.status.code().unwrap())
}

#[test]
fn every_door_gives_the_same_answer() {
    let server = Server::github();
    for (function, arguments, error) in table() {
        let (answer, code) = on_command_line(function, &arguments);
        assert_eq!(answer["error"]["code"].as_str(), error, "{arguments}: {answer}");
        assert_eq!(
            (answer["ok"].as_bool(), code),
            (Some(error.is_none()), i32::from(error.is_some())),
            "{arguments}"
        );

        let http = server.post(function, arguments.to_string());
        let status = match error {
            None => 200,
            Some("NOT_FOUND") => 404,
            Some(_) => 400,
        };
        assert_eq!(http.status(), status, "{arguments}");
        assert_eq!(http.json::<Value>().unwrap(), answer, "HTTP differs for {arguments}");

        let mcp = through_mcp(&server, function, &arguments);
        assert_eq!(mcp["isError"].as_bool().unwrap_or(false), error.is_some(), "{arguments}: {mcp}");
        let text = mcp["content"][0]["text"].as_str().unwrap();
        match mcp.get("structuredContent") {
            Some(data) => {
                assert_eq!((data, &serde_json::from_str::<Value>(text).unwrap()), (&answer, &answer))
            }
            None => {
                assert_eq!(text, in_markdown(&server, function, &arguments), "MCP differs for {arguments}")
            }
        }
    }
}

/// What a client gets that would rather have markdown.
fn in_markdown(server: &Server, function: &str, arguments: &Value) -> String {
    let asking = client().post(server.url(&format!("/v1/{function}"))).header("accept", "text/markdown");
    asking
        .header("content-type", "application/json")
        .body(arguments.to_string())
        .send()
        .unwrap()
        .text()
        .unwrap()
}

/// The result of `tools/call`.
fn through_mcp(server: &Server, function: &str, arguments: &Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": function, "arguments": arguments}});
    let asking = client().post(server.url("/mcp")).header("content-type", "application/json");
    let asking = asking.header("accept", "application/json, text/event-stream");
    let text = asking
        .header("mcp-protocol-version", "2025-11-25")
        .body(call.to_string())
        .send()
        .unwrap()
        .text()
        .unwrap();
    let text = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    serde_json::from_str::<Value>(text).unwrap_or_else(|_| panic!("{text}"))["result"].take()
}
