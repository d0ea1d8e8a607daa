//! Hostile names of tools, calls and files: no control or invisible character is printed.

use serde_json::{Value, json};

use crate::fixture::{self, Run, run, run_with};

/// All of C0 but line ends and tabs, DEL, C1, and signs that turn the order of text around or take no room.
fn nasty() -> String {
    let hidden = [0x200b, 0x200d, 0x200e, 0x202a, 0x202e, 0x2066, 0x2069, 0x2028, 0xfeff, 0xe0041];
    let all = (1..0x20).chain(0x7f..0xa0).chain(hidden).filter_map(char::from_u32);
    all.filter(|c| !matches!(c, '\n' | '\t')).flat_map(|c| ['x', c]).collect()
}

#[track_caller]
fn is_clean(what: &str, run: &Run) {
    let is_bad = |c: &char| nasty().contains(*c) && *c != 'x';
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let found: Vec<char> = text.chars().filter(is_bad).collect();
        assert!(found.is_empty(), "{what}: {stream} has {found:?}: {text:?}");
    }
    assert!(!(run.stdout.is_empty() && run.stderr.is_empty()), "{what} prints nothing");
}

fn catalog() -> tempfile::TempDir {
    let nasty = nasty();
    let tool = |name: &str| {
        json!({
            "name": format!("{name}{nasty}"), "description": format!("Does {nasty} things."), "category": format!("Group {nasty}"),
            "aliases": [format!("other{nasty}")], "effect": "read", "title": nasty,
            "parameters": {"type": "object", "properties": {nasty.clone(): {"type": "string", "enum": [nasty], "default": nasty, "description": nasty}}},
            "examples": [{"description": nasty, "arguments": {nasty.clone(): nasty}}],
            "backend": {"type": "static", "content": {"text": nasty}},
        })
    };
    let broken = json!({"name": nasty, "description": 7, "parameters": {"type": nasty}});
    let mut plain = tool("plain");
    plain["name"] = "plain".into();
    let tools = json!([tool("read"), tool("write"), plain, broken]);
    let config = "[exec]\nallow = \"write\"\n";
    fixture::folder(&[("tools.json", &tools.to_string()), ("toolcrib.toml", config)])
}

#[test]
#[ignore = "slow"]
fn no_command_prints_what_steers_a_terminal() {
    let (nasty, folder) = (nasty(), catalog());
    let root = fixture::text(folder.path());
    let state = folder.path().join("state.db");
    let queries = format!("{}\n", json!({"query": nasty, "tools": [nasty]}));
    fixture::write(folder.path(), "queries.jsonl", &queries);
    let queries = folder.path().join("queries.jsonl");
    let (state, queries) = (fixture::text(&state), fixture::text(&queries));
    let out = folder.path().join("out");
    let exec = json!({"op": format!("read{nasty}"), "args": {}}).to_string();
    let unknown = json!({"op": nasty, "args": {nasty.clone(): nasty}}).to_string();
    let doc = json!({"name": format!("read{nasty}")}).to_string();
    let missing = json!({"name": nasty, nasty.clone(): 1}).to_string();
    for command in [
        vec!["check"],
        vec!["check", "--json"],
        vec!["render", "--out", fixture::text(&out)],
        vec!["payload", "--provider", "openai"],
        vec!["payload", "--provider", "mcp", "--mode", "full", "--pretty"],
        vec!["payload", "--provider", "openai", "--pick", &nasty],
        vec!["tokens"],
        vec!["tokens", "--json"],
        vec!["prompt"],
        vec!["search", &nasty],
        vec!["search", &nasty, "--json"],
        vec!["eval", "--queries", queries],
        vec!["eval", "--queries", queries, "--json"],
        vec!["call", "read_tool_doc", &doc],
        vec!["call", "read_tool_doc", &doc, "--text"],
        vec!["call", "read_tool_doc", &missing],
        vec!["call", "tool_exec", &exec, "--session", "s", "--state", state],
        vec!["call", "tool_exec", &unknown, "--session", "s", "--state", state],
        vec!["call", "list", "{}"],
        vec!["call", "tool_help", "{}"],
        vec!["call", "tool_search", &nasty],
        vec!["--profile", &nasty, "check"],
        vec!["payload", "--provider", &nasty],
        vec!["payload", "--provider", "openai", "--profile", &nasty],
    ] {
        let run = run(&[command.as_slice(), &[root]].concat());
        is_clean(&command.join(" "), &run);
    }
    for command in [
        vec!["trace", "--session", "s", "--state", state],
        vec!["trace", "--session", "s", "--state", state, "--json"],
        vec!["trace", "--state", state],
        vec!["approvals", "list", "--state", state],
        vec!["check", &format!("/nowhere/{nasty}")],
        vec![&nasty],
    ] {
        is_clean(&command.join(" "), &run(&command));
    }
    let call = json!({"id": nasty, "type": "function", "function": {"name": nasty, "arguments": nasty}});
    let body = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}).to_string();
    let parse = ["parse", "--provider", "openai", root];
    is_clean("parse", &run_with(&parse, &body, &[]));
    is_clean("parse", &run_with(&parse, &nasty, &[]));
    let answered =
        json!([{"name": nasty, "call_id": nasty, "envelope": {"ok": true, "result": nasty}}]).to_string();
    is_clean("reply", &run_with(&["reply", "--provider", "openai", root], &answered, &[]));
}

#[test]
fn json_that_is_printed_says_the_same_with_hidden_characters_escaped() {
    let (nasty, folder) = (nasty(), catalog());
    let run = run(&["call", "tool_exec", r#"{"op": "plain", "args": {}}"#, fixture::text(folder.path())]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["result"]["text"], nasty, "{}", run.stdout);
    assert!(run.stdout.contains("\\u009b") && run.stdout.contains("\\u202e"));
}

#[test]
fn no_line_of_the_log_steers_a_terminal() {
    let folder = catalog();
    for format in ["text", "json"] {
        let more = ["--log", format, "--log-level", "debug"];
        let server = crate::serve::Server::process(fixture::text(folder.path()), &more, &[]);
        server.post("tool_exec", json!({"op": nasty(), "args": {}}).to_string());
        server.get("/tools/%C2%9B%E2%80%AE", &[("user-agent", "x")]);
        fixture::write(
            folder.path(),
            &format!("{format}.json"),
            &json!([{"name": nasty(), "description": 1}]).to_string(),
        );
        let started = std::time::Instant::now();
        while !server.log.lock().unwrap().contains(&format!("{format}.json")) {
            assert!(started.elapsed() < std::time::Duration::from_secs(60), "{}", server.log.lock().unwrap());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let stderr = server.log.lock().unwrap().clone();
        is_clean("serve", &Run { code: 0, stdout: String::new(), stderr });
    }
}
