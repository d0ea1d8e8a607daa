//! The use of tools in recorded sessions (docs/tune.md).

use serde_json::{Value, json};

use crate::fixture::{run, text};
use crate::tune::{github, recorded};

const CONFIG: &str = "[[overlay]]\nmatch = \"*\"\nbackend = { type = \"static\", content = { ok = true } }\n\
                      approval = false\n[exec]\nallow = \"destructive\"\n";

#[test]
fn sessions_are_counted_and_queries_are_clean() {
    let folder = github(CONFIG);
    let state = recorded(folder.path());
    let arguments = ["usage", text(folder.path()), "--state", &state];
    let told = run(&[&arguments[..], &["--json"]].concat());
    assert_eq!(told.code, 0, "{}", told.stderr);
    let usage: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(usage["sessions"], 9);
    assert_eq!((&usage["calls"], &usage["failed"], &usage["reads"]), (&json!(24), &json!(2), &json!(1)));
    assert_eq!(usage["searches"], 16);
    let unanswered = usage["unanswered"].as_array().unwrap();
    assert!(unanswered.contains(&json!({"query": "order a [31mpizza", "count": 8})), "{unanswered:?}");
    let tool = |name: &str| {
        let tools = usage["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap().clone()
    };
    assert_eq!((&tool("get_me")["calls"], &tool("get_me")["failed"]), (&json!(2), &json!(0)));
    let write = tool("issue_write");
    assert_eq!((&write["calls"], &write["failed"], &write["reads"]), (&json!(2), &json!(2), &json!(1)));
    let never = usage["never_called"].as_array().unwrap();
    assert_eq!(never.len(), 117 - 12, "eleven tools of the tasks, and one that failed");
    let tokens: u64 = never.iter().map(|tool| tool["tokens"].as_u64().unwrap()).sum();
    assert_eq!(usage["never_called_tokens"], tokens);

    let table = run(&arguments).stdout;
    assert!(!table.contains('\u{1b}') && table.contains("8 x \"order a"), "{table}");
    assert_eq!(table, run(&arguments).stdout, "the same bytes each time");
}

#[test]
fn tasks_have_calls_and_unknown_names_are_listed() {
    let tasks = ["--tasks", "examples/github/tasks.jsonl"];
    let usage = run(&[&["usage", "examples/buildos"], &tasks[..], &["--json"]].concat());
    let usage: Value = serde_json::from_str(&usage.stdout).unwrap();
    assert_eq!((&usage["sessions"], &usage["calls"], &usage["searches"]), (&json!(4), &json!(11), &json!(0)));
    assert_eq!(usage["unknown"].as_array().unwrap().len(), 11);
    assert_eq!(usage["since"], Value::Null);
}
