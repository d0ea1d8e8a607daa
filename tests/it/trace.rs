//! Sessions over every transport, and their trace.

use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, Run, program, run, run_with, text};
use crate::serve::{Server, client, header};

const TOOLS: &str = r#"[
  {"name": "get_task", "op": "onto.task.get", "effect": "read", "description": "Read one task by its id.",
   "parameters": {"type": "object", "properties": {"task_id": {"type": "string"}, "api_key": {"type": "string"}}, "required": ["task_id"]},
   "backend": {"type": "static", "content": {"title": "Water the plants", "project": {"id": "p1"}}}, "context_shift": "/project"},
  {"name": "delete_task", "op": "onto.task.delete", "effect": "destructive", "approval": true, "description": "Delete one task.",
   "parameters": {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]},
   "backend": {"type": "static", "content": {"deleted": true}}},
  {"name": "send_mail", "op": "mail.send", "effect": "write", "description": "Send an e-mail.",
   "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
]"#;

const CONFIG: &str =
    "[state]\nurl = \"state.db\"\n[exec]\nallow = \"destructive\"\nrequire_doc = \"never\"\n";

fn catalog(config: &str) -> TempDir {
    fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)])
}

fn trace(folder: &TempDir, more: &[&str]) -> Run {
    run(&[&["trace", text(folder.path())], more].concat())
}

/// A call over HTTP with these headers.
fn post(
    server: &Server,
    function: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> (reqwest::blocking::Response, u16) {
    let asking =
        client().post(server.url(&format!("/v1/{function}"))).header("content-type", "application/json");
    let asking = headers.iter().fold(asking, |asking, (name, value)| asking.header(*name, *value));
    let response = asking.body(body.to_string()).send().unwrap();
    let status = response.status().as_u16();
    (response, status)
}

fn walk(server: &Server, headers: &[(&str, &str)]) {
    for (function, body) in [
        ("tool_search", json!({"query": "read one task"})),
        ("expand_tool", json!({"tool_id": "onto.task.get"})),
        ("read_tool_doc", json!({"names": ["get_task", "send_mail"]})),
        ("tool_exec", json!({"op": "onto.task.get", "args": {"task_id": "7", "api_key": "hush-hush"}})),
        ("tool_exec", json!({"op": "onto.task.get", "args": {}})),
    ] {
        post(server, function, headers, body);
    }
}

#[test]
fn the_chain_of_a_session_is_told_to_a_person() {
    let folder = catalog(CONFIG);
    let mut server = Server::start(text(folder.path()), &[], &[]);
    walk(&server, &[("x-session-id", "s-42")]);
    // Calls without a session are recorded, other events are not.
    post(&server, "tool_search", &[], json!({"query": "send mail"}));
    post(&server, "tool_exec", &[], json!({"op": "onto.task.get", "args": {"task_id": "8"}}));
    server.terminate();
    assert_eq!(server.ended(Duration::from_secs(20)), Some(0));
    let told = trace(&folder, &["--session", "s-42"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let words: Vec<&str> =
        told.stdout.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    let calls = ["search", "choose", "expand", "read", "read", "context", "call", "call"];
    assert_eq!(words, calls, "{}", told.stdout);
    assert!(told.stdout.contains("number 1 of"), "{}", told.stdout);
    assert!(told.stdout.contains("VALIDATION_ERROR") && told.stdout.contains("validated"), "{}", told.stdout);
    assert!(!told.stdout.contains("hush-hush") && told.stdout.contains("[redacted]"), "{}", told.stdout);
    let lines = trace(&folder, &["--session", "s-42", "--json"]).stdout;
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 7, "{lines}");
    assert_eq!(events[0]["found"][0], "onto.task.get");
    let sessions = trace(&folder, &[]).stdout;
    assert!(sessions.starts_with("s-42 ") && sessions.contains("2 calls, 1 failed"), "{sessions}");
    assert_eq!(trace(&folder, &["--all", "--json"]).stdout.lines().count(), 8);
    let all = trace(&folder, &["--all"]).stdout;
    assert!(all.contains("without a session, since") && all.contains("s-42, since"), "{all}");
    assert_eq!(trace(&folder, &["--session", "nobody"]).code, 1);
    // Others can ask the table.
    let db = Connection::open(folder.path().join("state.db")).unwrap();
    let row: (i64, i64) = db
        .query_row(
            "SELECT count(*), sum(outcome = 'ok') FROM tool_executions WHERE tool = 'get_task'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(row, (3, 2));
    let whole = std::fs::read(folder.path().join("state.db")).unwrap();
    assert!(!whole.windows(9).any(|window| window == b"hush-hush"));
}

#[test]
fn answers_carry_the_id_that_the_trace_has() {
    let folder = catalog(CONFIG);
    let server = Server::start(text(folder.path()), &[], &[]);
    let (response, _) = post(
        &server,
        "tool_exec",
        &[("x-session-id", "s")],
        json!({"op": "onto.task.get", "args": {"task_id": "7"}}),
    );
    let id = header(&response, "x-trace-id").to_string();
    assert!(id.starts_with("tr_"), "{id}");
    let body: Value = serde_json::from_str(&response.text().unwrap()).unwrap();
    assert_eq!(body["meta"]["trace_id"], id.as_str());
    let (refused, status) = post(&server, "no_such_function", &[], json!({}));
    assert!(status == 404 && header(&refused, "x-trace-id").starts_with("tr_"));
    let events = server.events("s", &[]);
    assert!(events.iter().all(|event| event["trace_id"] == id.as_str()), "{events:?}");
    assert!(server.get("/tools/README.md", &[]).headers().get("x-trace-id").is_none());
}

#[test]
fn a_session_is_called_by_a_name_that_fits_wherever_it_comes_from() {
    let folder = catalog(CONFIG);
    let server = Server::start(text(folder.path()), &[], &[]);
    let long = "x".repeat(129);
    for bad in ["", "a b", "a/b", "ä", long.as_str()] {
        let (response, status) = post(&server, "tool_search", &[], json!({"query": "x", "session": bad}));
        let body = response.text().unwrap();
        assert!(
            status == 400 && body.contains("VALIDATION_ERROR") && body.contains("1 to 128"),
            "{bad}: {body}"
        );
    }
    let (response, status) = post(&server, "tool_search", &[("x-session-id", "a b")], json!({"query": "x"}));
    let body = response.text().unwrap();
    assert!(status == 400 && body.contains("VALIDATION_ERROR") && body.contains("1 to 128"), "{body}");
    // The field goes before the header.
    post(
        &server,
        "tool_search",
        &[("x-session-id", "head")],
        json!({"query": "read a task", "session": "field"}),
    );
    post(&server, "tool_search", &[("mcp-session-id", "older")], json!({"query": "read a task"}));
    for known in ["field", "older"] {
        assert_eq!(server.events(known, &[])[0]["kind"], "search");
    }
    assert_eq!(server.get("/sessions/head/events.jsonl", &[]).status(), 404);
}

#[test]
fn clients_of_mcp_have_a_session_on_both_wires() {
    crate::serve::client();
    let folder = catalog(CONFIG);
    let server = Server::start(text(folder.path()), &[], &[]);
    let doc = |meta: bool| {
        let mut request = CallToolRequestParams::new("expand_tool")
            .with_arguments(json!({"tool_id": "get_task"}).as_object().unwrap().clone());
        if meta {
            let own = json!({"toolcrib/session": "by-meta"});
            request.meta = serde_json::from_value(own).unwrap();
        }
        request
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        for mode in [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }] {
            let http = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
            let client = ().serve_with_lifecycle(http, mode.clone()).await.unwrap();
            let answer = client.call_tool(doc(true)).await.unwrap();
            let meta = serde_json::to_value(answer.meta).unwrap();
            assert!(meta["toolcrib/trace_id"].as_str().unwrap().starts_with("tr_"), "{meta}");
            // The older revision repeats the session that it was given.
            client.call_tool(doc(false)).await.unwrap();
            client.call_tool(doc(false)).await.unwrap();
            client.cancel().await.unwrap();
        }
        let stdio = program(&["serve", "--stdio", text(folder.path())]);
        let stdio = TokioChildProcess::new(tokio::process::Command::from(stdio)).unwrap();
        let client = ().serve(stdio).await.unwrap();
        client.call_tool(doc(false)).await.unwrap();
        client.call_tool(doc(false)).await.unwrap();
        client.cancel().await.unwrap();
    });
    assert_eq!(server.events("by-meta", &[]).len(), 2);
    let visits = trace(&folder, &["--json"]).stdout;
    let visits: Vec<Value> = visits.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let own: Vec<&Value> =
        visits.iter().filter(|visit| visit["session"] != "by-meta" && visit["events"] == 2).collect();
    assert_eq!(own.len(), 2, "one of the older revision, one of stdio: {visits:?}");
}

#[test]
fn who_was_given_the_doc_in_a_session_may_call() {
    let folder = catalog(&CONFIG.replace("\"never\"", "\"always\""));
    let server = Server::start(text(folder.path()), &[], &[]);
    let code = |session: &str| {
        let call = json!({"op": "onto.task.get", "args": {"task_id": "7"}, "session": session});
        post(&server, "tool_exec", &[], call).1
    };
    for (session, function, body) in [
        ("doc", "read_tool_doc", json!({"name": "get_task"})),
        ("help", "tool_help", json!({"path": "onto.task.get"})),
        ("expanded", "expand_tool", json!({"tool_id": "get_task"})),
    ] {
        post(&server, function, &[("x-session-id", session)], body);
        assert_eq!(code(session), 200, "{session}");
    }
    let summary = json!({"name": "get_task", "section": "summary"});
    post(&server, "read_tool_doc", &[("x-session-id", "summary")], summary);
    assert_eq!(code("summary"), 428, "a summary tells no arguments");
    assert_eq!(code("nothing"), 428);
}

const TOKENS: &str =
    "[[serve.token]]\nenv = \"AMY\"\nname = \"amy\"\n[[serve.token]]\nenv = \"BOB\"\nallow = \"read\"\n";

#[test]
fn nobody_reads_anothers_session_and_headers_only_lower_what_is_allowed() {
    let folder = catalog(&format!("{CONFIG}{TOKENS}"));
    let variables = [("AMY", "amy-0123456789abcdef"), ("BOB", "bob-0123456789abcdef")];
    let mut server = Server::start(text(folder.path()), &[], &variables);
    let (amy, bob) = ("Bearer amy-0123456789abcdef", "Bearer bob-0123456789abcdef");
    post(
        &server,
        "tool_search",
        &[("authorization", amy), ("x-session-id", "s")],
        json!({"query": "read a task"}),
    );
    let session = |token: &str| server.get("/sessions/s/events.jsonl", &[("authorization", token)]);
    assert_eq!(session(amy).status(), 200);
    assert_eq!(session(bob).status(), 404);
    let delete = json!({"op": "onto.task.delete", "args": {"task_id": "7"}});
    let code = |headers: &[(&str, &str)]| {
        let body: Value =
            serde_json::from_str(&post(&server, "tool_exec", headers, delete.clone()).0.text().unwrap())
                .unwrap();
        body["error"]["code"].as_str().unwrap_or("ok").to_string()
    };
    assert_eq!(code(&[("authorization", amy)]), "APPROVAL_REQUIRED");
    assert_eq!(code(&[("authorization", amy), ("x-allow", "write")]), "PERMISSION_DENIED");
    assert_eq!(code(&[("authorization", bob)]), "PERMISSION_DENIED");
    assert_eq!(code(&[("authorization", bob), ("x-allow", "destructive")]), "PERMISSION_DENIED");
    let (_, status) =
        post(&server, "tool_exec", &[("authorization", amy), ("x-allow", "all")], delete.clone());
    assert_eq!(status, 400);
    server.terminate();
    assert_eq!(server.ended(Duration::from_secs(20)), Some(0));
    let db = Connection::open(folder.path().join("state.db")).unwrap();
    let callers = "SELECT group_concat(caller) FROM (SELECT caller FROM tool_executions GROUP BY caller ORDER BY min(id))";
    let callers: String = db.query_row(callers, [], |row| row.get(0)).unwrap();
    assert_eq!(callers, "amy,BOB");
}

#[test]
fn a_person_approves_a_call_once() {
    let folder = catalog(CONFIG);
    let server = Server::start(text(folder.path()), &[], &[]);
    let approvals =
        |more: &[&str]| run_with(&[&["approvals"], more, &[text(folder.path())]].concat(), "yes\n", &[]);
    let delete = || {
        let call = json!({"op": "onto.task.delete", "args": {"task_id": "7"}, "session": "s"});
        serde_json::from_str::<Value>(&post(&server, "tool_exec", &[], call).0.text().unwrap()).unwrap()
    };
    assert_eq!(delete()["error"]["code"], "APPROVAL_REQUIRED");
    let listed = run(&["approvals", "list", "--json", text(folder.path())]).stdout;
    let waiting: Value = serde_json::from_str(listed.trim()).unwrap();
    let id = waiting["id"].as_str().unwrap();
    let table = approvals(&["list"]).stdout;
    assert!(table.contains(id) && table.contains("onto.task.delete {\"task_id\":\"7\"}"), "{table}");
    let approved = approvals(&["approve", id]);
    assert!(approved.code == 0 && approved.stderr.contains("may run once"), "{}", approved.stderr);
    let second = approvals(&["deny", id]);
    assert!(second.code == 1 && second.stderr.contains("approved"), "{}", second.stderr);
    assert_eq!(delete()["result"]["deleted"], true);
    assert_eq!(delete()["error"]["code"], "APPROVAL_REQUIRED");
    let next: Value = serde_json::from_str(approvals(&["list", "--json"]).stdout.trim()).unwrap();
    let denied = approvals(&["deny", next["id"].as_str().unwrap(), "--reason", "wrong task"]);
    assert_eq!(denied.code, 0, "{}", denied.stderr);
    let refused = delete();
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED");
    assert!(refused.to_string().contains("wrong task"), "{refused}");
    assert_eq!(approvals(&["approve", "nothing"]).code, 1);
    assert!(approvals(&["list"]).stderr.contains("no call waits"));
    let told = trace(&folder, &["--session", "s"]).stdout;
    assert!(told.contains("approved") && told.contains("wrong task"), "{told}");
    assert!(told.contains("waiting") && !told.contains("APPROVAL_REQUIRED"), "{told}");
    assert_eq!(server.metric("toolcrib_executions_total{outcome=\"waiting\"}"), 2);
    let sessions = trace(&folder, &[]).stdout;
    assert!(sessions.contains(", 1 failed"), "{sessions}");
}

#[test]
fn metrics_tell_of_calls_reads_and_state() {
    let folder = catalog(CONFIG);
    let server = Server::start(text(folder.path()), &[], &[]);
    walk(&server, &[]);
    post(&server, "tool_search", &[], json!({"query": "qzxv jjkw"}));
    assert_eq!(server.metric("toolcrib_executions_total{outcome=\"ok\"}"), 1);
    assert_eq!(server.metric("toolcrib_executions_total{outcome=\"VALIDATION_ERROR\"}"), 1);
    assert_eq!(server.metric("toolcrib_execution_duration_seconds_count"), 2);
    assert_eq!(server.metric("toolcrib_search_abstentions_total"), 1);
    assert!(server.metric("toolcrib_tokens_served_total") > 50);
    assert_eq!(server.metric("toolcrib_state_writable"), 1);
    assert_eq!(server.metric("toolcrib_state_lost_events_total"), 0);
    let ready = server.json_of("/readyz?verbose", &[]);
    assert_eq!(ready["state"], "on");
}

#[test]
fn without_a_place_nothing_is_kept_and_that_is_said() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let told = trace(&folder, &[]);
    assert!(told.code == 2 && told.stderr.contains("--state"), "{}", told.stderr);
    let nowhere = folder.path().join("none.db");
    let told = trace(&folder, &["--state", text(&nowhere)]);
    assert!(told.code == 2 && !nowhere.exists(), "{}", told.stderr);
    let told = run(&["trace", "--state", "", text(folder.path())]);
    assert!(told.code == 2 && told.stderr.contains("a file"), "{}", told.stderr);
    let call = run(&["call", "tool_help", "{}", "--session", "s", text(folder.path())]);
    assert!(call.code == 0 && call.stderr.contains("--state"), "{}", call.stderr);
    let asked = json!({"op": "onto.task.delete", "args": {"task_id": "7"}}).to_string();
    let call = run(&["call", "tool_exec", &asked, "--allow", "destructive", text(folder.path())]);
    assert!(
        call.stdout.contains("in memory") && !call.stdout.contains("approvals approve"),
        "{}",
        call.stdout
    );
    // In memory a server follows sessions all the same.
    let server = Server::start(text(folder.path()), &[], &[]);
    post(&server, "tool_search", &[("x-session-id", "s")], json!({"query": "read a task"}));
    assert_eq!(server.events("s", &[]).len(), 1);
    assert_eq!(server.metric("toolcrib_state_volatile"), 1);
}
