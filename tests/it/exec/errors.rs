//! Content of errors: the place, the expected and the given value, near names, and a valid call.

use serde_json::json;

use super::{Bench, WRITES, check, code};

#[test]
fn a_field_error_says_what_was_expected_given_and_near() {
    let bench = Bench::new(WRITES);
    let answer = bench.run(
        "create_task",
        json!({"project_id": true, "title": "Buy nails", "state_key": "prgress", "coulour": "x"}),
    );
    let error = &answer["error"];
    assert_eq!((code(&answer), &error["help_path"]), ("VALIDATION_ERROR", &json!("onto.task.create")));
    let fields = error["details"]["field_errors"].as_array().unwrap();
    let at = |pointer: &str| {
        fields.iter().find(|field| field["pointer"] == pointer).unwrap_or_else(|| panic!("{error}"))
    };
    assert_eq!(
        (&at("/project_id")["expected"], &at("/project_id")["given"]),
        (&json!("string"), &json!(true))
    );
    assert_eq!(at("/state_key")["nearest"], "in_progress", "{error}");
    assert!(at("/coulour")["expected"].as_str().unwrap().contains("project_id, title"), "{error}");
    // Their own values are kept, the others put right.
    let example = &error["example"];
    assert_eq!(
        (&example["op"], &example["args"]["title"]),
        (&json!("onto.task.create"), &json!("Buy nails"))
    );
    // A word outside the enum is not replaced by a guess, and the answer lists what was dropped.
    assert_eq!(example["args"].get("state_key"), None, "{error}");
    assert_eq!(error["dropped"], json!(["/coulour", "/state_key"]), "{error}");
    assert_eq!(example["args"]["project_id"], "true");
    assert!(bench.exec(example.clone())["ok"] == true, "{example}");
}

#[test]
fn arguments_that_cannot_be_sent_are_told_like_those_that_do_not_fit() {
    let tools = json!([{"name": "open_file", "effect": "read", "description": "Open a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        "examples": [{"arguments": {"path": "notes.txt"}}],
        "backend": {"type": "http", "server": "api", "method": "GET", "path": "/files/{+path}"}}]);
    let config = "[server.api]\nurl = \"http://127.0.0.1:9\"\n";
    let bench = Bench::of(&tools.to_string(), config, None);
    let answer = bench.run("open_file", json!({"path": "..%2fadmin"}));
    let error = &answer["error"];
    assert_eq!(
        (code(&answer), &error["details"]["field_errors"][0]["pointer"]),
        ("VALIDATION_ERROR", &json!("/path"))
    );
    assert_eq!(error["details"].get("backend"), None, "{error}");
    assert_eq!(
        (&error["example"]["args"]["path"], &error["fill_in"]),
        (&json!("notes.txt"), &json!(["/path"])),
        "{error}"
    );
}

#[test]
fn secrets_are_not_repeated_in_errors() {
    let bench = Bench::new(WRITES);
    let answer = bench.run("create_task", json!({"project_id": "p", "title": "x", "api_token": "s3cret"}));
    let told = json!([answer["error"]["message"], answer["error"]["details"]]).to_string();
    assert!(told.contains("[redacted]") && !told.contains("s3cret"), "{told}");
}

#[test]
fn an_unknown_op_is_not_run_but_its_neighbours_are_named() {
    let bench = Bench::new(WRITES);
    let answer = bench.run("onto.task.lst", json!({"limit": 3}));
    let error = &answer["error"];
    assert_eq!((code(&answer), &error["help_path"]), ("NOT_FOUND", &json!("onto.task")));
    assert_eq!(error["nearest"][0], "onto.task.list");
    assert_eq!(error["example"], json!({"op": "onto.task.list", "args": {"limit": 3}}));
    for (op, path) in [("qzxv.jjkw", "root"), ("onto.qzxvw", "onto"), ("", "root"), ("\u{202e}\u{0}", "root")]
    {
        let answer = bench.run(op, json!({}));
        assert_eq!(answer["error"]["help_path"], path, "{answer}");
    }
}

#[test]
fn inputs_that_are_no_calls_get_an_envelope_too() {
    let bench = Bench::new(WRITES);
    for input in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"op": 7}),
        json!({"op": "onto.task.list", "dry_run": 3}),
        json!({"op": "x", "idempotency_key": ""}),
    ] {
        let answer = bench.call("tool_exec", input);
        check(&answer);
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{answer}");
    }
}

#[test]
fn what_nothing_here_runs_comes_back_checked() {
    let bench = Bench::new("");
    let answer = bench.run("elsewhere", json!({"x": "7"}));
    assert_eq!(code(&answer), "NO_BACKEND");
    assert_eq!(answer["error"]["call"], json!({"tool": "elsewhere", "arguments": {"x": 7}}));
}

#[test]
fn the_answer_of_a_backend_has_the_code_of_its_status_and_says_that_it_is_the_backends() {
    for (status, expect) in [
        (401, "BACKEND_ERROR"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (409, "CONFLICT"),
        (429, "RATE_LIMITED"),
        (500, "BACKEND_ERROR"),
    ] {
        let slow = super::idempotency::Slow::refusing_all(status);
        let bench = Bench::of(super::idempotency::TOOLS, &slow.config(), None).in_session("s");
        let answer = bench.run("create_task", json!({"title": "Buy nails"}));
        let error = &answer["error"];
        assert_eq!(code(&answer), expect, "{answer}");
        assert_eq!(
            (&error["details"]["source"], &error["details"]["status"]),
            (&json!("backend"), &json!(status))
        );
    }
    let bench = Bench::new("");
    for (op, args) in [("nothing", json!({})), ("delete_task", json!({"task_id": "7"}))] {
        let answer = bench.run(op, args);
        assert_eq!(answer["error"]["details"].get("source"), None, "{answer}");
    }
}

#[test]
fn our_functions_run_as_tools_but_not_those_that_run_tools() {
    let bench = Bench::new("");
    let answer = bench.run("util.search", json!({"query": "list tasks"}));
    assert_eq!(answer["result"]["tools"][0]["op"], "onto.task.list", "{answer}");
    let answer = bench.run("util.search", json!({}));
    assert_eq!(code(&answer), "BACKEND_ERROR", "{answer}");
    assert_eq!(answer["error"]["details"]["backend"]["code"], "VALIDATION_ERROR");
    assert_eq!(code(&bench.run("util.loop", json!({"op": "util.loop"}))), "NO_BACKEND");
}
