//! `toolcrib parse` and `toolcrib results`: what the program reads, prints and answers. Each provider's calls and results are
//! tested in `crates/providers/tests/formats/calls/`.

use serde_json::{Value, json};

use crate::fixture::{self, run_with};

const TOOLS: &str = r#"[
  {"name": "files.read", "description": "Read a file.", "parameters": {"type": "object", "required": ["path"], "properties": {
    "path": {"type": "string"}, "price": {"type": "number"}}}},
  {"name": "ping", "description": "Say whether the server is there.", "parameters": {"type": "object", "properties": {}}}
]"#;

/// A response of chat completions with one call of `files.read`, whose arguments are this text.
fn chat(arguments: &str) -> String {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "files_read", "arguments": arguments}});
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]}).to_string()
}

#[test]
fn tools_outside_the_profile_are_unknown_by_any_of_their_names() {
    let call = |name: &str| {
        let call = json!({"type": "tool_use", "id": "t", "name": name, "input": {}});
        let body = json!({"role": "assistant", "content": [call]}).to_string();
        let command = ["parse", "examples/github", "--profile", "triage", "--provider", "anthropic"];
        let run = run_with(&command, &body, &[]);
        serde_json::from_str::<Value>(&run.stdout).unwrap()[0].take()
    };
    assert_eq!(call("get_me")["args"], json!({}));
    for name in ["delete_repository", "github.delete_repository", "delete_repositor"] {
        let entry = call(name);
        assert_eq!(entry["error"]["code"], "unknown_tool", "{entry}");
        assert!(!entry["error"]["nearest"].to_string().contains("delete_repository"), "{entry}");
    }
    let nearest = call("issue_rea")["error"]["nearest"].take();
    assert_eq!(nearest[0], "issue_read");
    assert!(!nearest.to_string().contains('.'), "names that can be called, not ops: {nearest}");
}

#[test]
fn every_text_of_a_result_keeps_its_digits() {
    let input = r#"[{"name":"ping","call_id":"a","envelope":123456789012345678901234567890},
        {"name":"ping","call_id":"b","envelope":{"ok":true,"result":{"price":1.10}}}]"#;
    let command = ["results", "examples/github", "--provider", "openai"];
    let run = run_with(&command, input, &[]);
    let messages: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    assert_eq!(messages[0]["content"], "123456789012345678901234567890");
    assert_eq!(messages[1]["content"], "{\"price\":1.10}");
}

#[test]
fn replies_say_what_they_lack() {
    let run = |provider: &str, input: &str| {
        run_with(&["results", "examples/github", "--provider", provider], input, &[])
    };
    let nameless = r#"[{"name":"get_me","call_id":null,"envelope":"x"}]"#;
    for provider in ["anthropic", "openai-responses", "bedrock", "cohere", "langchain", "gemini-interactions"]
    {
        let run = run(provider, nameless);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{provider}");
        assert!(run.stderr.contains("no `call_id`"), "{}", run.stderr);
    }
    assert_eq!(run("ollama", nameless).code, 0);
    assert_eq!(run("anthropic", "[]").code, 1);
    let failed =
        run("anthropic", r#"[{"name":"get_me","call_id":"a","envelope":{"ok":false,"error":"boom"}}]"#);
    assert!(
        failed.stdout.contains("\"is_error\":true") && failed.stdout.contains("\"boom\""),
        "{}",
        failed.stdout
    );
}

#[test]
fn the_commands() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let catalog = folder.path().join("tools.json");
    let common = [fixture::text(&catalog), "--provider", "openai"];
    let run = |command: &str, more: &[&str], input: &str| {
        run_with(&[&[command], &common[..], more].concat(), input, &[])
    };
    let good = run("parse", &[], &chat("{\"path\":\"a\",\"price\":1.10}"));
    assert_eq!(
        (good.code, good.stdout.as_str()),
        (
            0,
            "[\n{\"name\":\"files.read\",\"call_id\":\"call_1\",\"args\":{\"path\":\"a\",\"price\":1.10}}\n]\n"
        )
    );
    let bad = run("parse", &["--pretty"], &chat("{\"path\""));
    assert_eq!(
        (bad.code, bad.stdout.contains("\n    \"name\": \"files.read\"")),
        (1, true),
        "{}",
        bad.stdout
    );
    let none = run("parse", &[], "{\"choices\":[]}");
    assert_eq!((none.code, none.stdout.as_str()), (0, "[]\n"));
    let other = run("parse", &[], "{\"candidates\":[]}");
    assert_eq!((other.code, other.stdout.as_str()), (1, ""));
    assert!(other.stderr.contains("looks like gemini"), "{}", other.stderr);

    let answered = json!([
        {"name": "files.read", "call_id": "call_1", "args": {}, "envelope": {"op": "x", "ok": true, "result": "text", "meta": {}}},
        {"name": "ping", "call_id": "call_2", "args": {}, "envelope": null},
    ]);
    let reply = run("results", &[], &answered.to_string());
    let expected = json!([
        {"role": "tool", "tool_call_id": "call_1", "content": "text"}, {"role": "tool", "tool_call_id": "call_2", "content": "null"}
    ]);
    assert_eq!((reply.code, reply.stdout), (0, format!("{expected}\n")));
    let error = run("results", &[], &bad.stdout);
    let content: Value = serde_json::from_str(&error.stdout).unwrap();
    assert!(content[0]["content"].as_str().unwrap().contains("\"code\":\"parse\""), "{content}");
    assert_eq!(run("results", &[], "[{\"name\":\"ping\",\"args\":{}}]").code, 1);
    let found = json!([{"name": "tool_search", "call_id": "s1", "search": true, "found": ["ping"]}]);
    let found =
        run_with(&["results", fixture::text(&catalog), "--provider", "anthropic"], &found.to_string(), &[]);
    assert!(found.stdout.contains("tool_reference"), "{}{}", found.stdout, found.stderr);
}

#[test]
fn a_call_left_in_the_text_is_noted_or_read() {
    let text = "<tool_call>{\"name\": \"add_issue_comment\", \"arguments\": {}}</tool_call>";
    let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string();
    let parse = |more: &[&str]| {
        let command = [&["parse", "examples/github", "--provider", "openai"], more].concat();
        fixture::run_with(&command, &body, &[])
    };
    let noted = parse(&[]);
    assert_eq!((noted.code, noted.stdout.trim()), (0, "[]"), "{}", noted.stderr);
    assert!(noted.stderr.contains("--from-text"), "{}", noted.stderr);
    let read = parse(&["--from-text"]);
    assert_eq!(read.code, 1, "the call lacks arguments");
    assert!(read.stdout.contains("add_issue_comment"), "{}", read.stdout);
}

#[test]
fn a_part_is_selected_and_the_whole_is_written_into_a_file() {
    let rows: Vec<Value> = (0..400).map(|id| json!({"id": id, "title": "A title of some length"})).collect();
    let tools = json!([{"name": "get_rows", "effect": "read", "description": "Get rows.", "parameters": {"type": "object", "properties": {}},
        "backend": {"type": "static", "content": {"rows": rows}}}]);
    let config = "[exec]\nresult_bytes = 500\n";
    let folder = fixture::folder(&[("tools.json", &*tools.to_string()), ("toolcrib.toml", config)]);
    let catalog = fixture::text(folder.path());
    let call = |more: &[&str]| {
        let run = fixture::run(
            &[&["call", "tool_exec", r#"{"op": "get_rows", "args": {}}"#, catalog], more].concat(),
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    assert_eq!(call(&["--select", "rows[-1].id"])["result"], 399);
    let file = folder.path().join("rows.json");
    let answer = call(&["--out", fixture::text(&file)]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, json!({"rows": rows}));
    assert_eq!(answer["result"]["shape"], "{rows: [400 of {id: number, title: text}]}");
    let refused = fixture::run(&["call", "tool_search", r#"{"query": "x"}"#, catalog, "--select", "a"]);
    assert!(refused.code != 0 && refused.stderr.contains("tool_exec"), "{}", refused.stderr);
}
