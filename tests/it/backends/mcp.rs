//! Tools of other MCP servers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use toolcrib::exec::backend::BackendErrorKind;

use super::Running;
use super::mcp_server::{command, over_http};
use crate::fixture::{folder, write};

/// A catalog that is nothing but a live server over stdio, and what that notes.
fn live() -> (TempDir, Running, PathBuf) {
    let root = folder(&[]);
    let notes = root.path().join("notes");
    write(root.path(), "toolcrib.toml", &format!("[[source]]\nmcp = {{ {} }}\n", command(&notes)));
    let running = Running::open(root.path());
    std::fs::write(&notes, "").unwrap();
    (root, running, notes)
}

fn noted(notes: &Path, what: &str) -> usize {
    let text = std::fs::read_to_string(notes).unwrap();
    text.lines().filter(|line| *line == what).count()
}

#[track_caller]
fn wait_for(notes: &Path, what: &str) {
    let start = Instant::now();
    while noted(notes, what) == 0 {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "no {what}: {}",
            std::fs::read_to_string(notes).unwrap()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn check_answers(running: &Running) {
    let content = |tool: &str| running.call(tool, json!({})).unwrap().content;
    let arguments = json!({ "z": 1, "a": { "b": [null, "ü"] } });
    assert_eq!(running.call("echo", arguments.clone()).unwrap().content, arguments);
    assert_eq!(content("text"), json!("plain [text"));
    assert_eq!(content("json"), json!({ "a": [1] }));
    assert_eq!(content("texts"), json!(["one", "two"]));
    assert_eq!(content("nothing"), json!(null));
    let image = content("image");
    assert_eq!((&image[0]["text"], &image[1]["mimeType"]), (&json!("see"), &json!("image/png")));
    running.fails("fail", json!({}), BackendErrorKind::Failed, "no");
    let error = running.fails("refuse", json!({}), BackendErrorKind::Failed, "not like this");
    assert_eq!(super::Running::told(&error), json!({ "code": -32602, "data": { "why": 1 } }));
}

#[test]
fn a_live_server_runs_its_own_tools_over_one_connection() {
    let (_root, running, notes) = live();
    check_answers(&running);
    let shown = running.preview("echo", json!({ "a": 1 })).unwrap();
    assert_eq!((&shown["backend"], &shown["tool"]), (&json!("mcp"), &json!("echo")));
    assert_eq!(noted(&notes, "start"), 1);
    running.runtime.block_on(running.backends.close());
    wait_for(&notes, "end");
}

#[test]
fn a_dump_is_run_by_the_configured_server_that_it_names() {
    let root = folder(&[]);
    let notes = root.path().join("notes");
    let (url, _runtime) = over_http(&notes);
    let toml = format!(
        "[server.sky]\nurl = '{url}'\nheaders = {{ X-User = '${{caller:X-User}}', X-Key = '${{TOKEN}}' }}\nmax_bytes = 1000\n\
         [[source]]\npath = 'dump.json'\nserver = 'sky'\n"
    );
    write(root.path(), "toolcrib.toml", &toml);
    let names = ["echo", "text", "json", "texts", "nothing", "image", "fail", "refuse", "large"];
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({ "name": name, "description": "Answers.", "inputSchema": { "type": "object" } }))
        .collect();
    write(root.path(), "dump.json", &json!({ "tools": tools }).to_string());
    let running = Running::open(root.path());
    running.fails("echo", json!({}), BackendErrorKind::MissingCredential, "X-User");
    let running = running.with_headers(&[("x-user", "u")]);
    check_answers(&running);
    let response = running.call("large", json!({})).unwrap();
    assert_eq!((response.content.as_str().unwrap().len(), response.warnings.len()), (1000, 1));
}

#[test]
fn calls_share_a_connection_and_do_not_wait_for_each_other() {
    let (_root, mut running, notes) = live();
    running.time = Duration::from_secs(3);
    running.runtime.block_on(async {
        let slow = running.calling("slow", json!({}));
        let quick = async {
            let calls = (0..20).map(|number| running.calling("echo", json!({ "number": number })));
            for (number, response) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
                assert_eq!(response.unwrap().content, json!({ "number": number }));
            }
        };
        let (slow, ()) = tokio::join!(slow, quick);
        assert_eq!(slow.unwrap_err().kind, BackendErrorKind::TimedOut);
    });
    wait_for(&notes, "cancelled");
    assert_eq!(noted(&notes, "start"), 1);
}

#[test]
fn a_server_that_dies_comes_back_and_what_changes_something_is_not_repeated() {
    let (_root, running, notes) = live();
    running.call("echo", json!({})).unwrap();
    let error = running.fails(
        "die",
        json!({}),
        BackendErrorKind::ConnectionLost,
        "closed the connection during the call",
    );
    assert!(error.message.contains("out of memory"), "{error:?}");
    assert_eq!((noted(&notes, "call die"), noted(&notes, "start")), (1, 1));
    running.call("echo", json!({})).unwrap();
    assert_eq!(noted(&notes, "start"), 2);
    running.fails("read_and_die", json!({}), BackendErrorKind::ConnectionLost, "closed the connection");
    assert_eq!(noted(&notes, "call read_and_die"), 2);
}

#[test]
fn a_server_that_is_not_there_was_not_asked() {
    let tool = json!([{ "name": "x", "description": "X.", "inputSchema": { "type": "object" } }]).to_string();
    let check = |server: &str, why: &str| {
        let toml = format!("[server.sky]\n{server}\n[[source]]\npath = 'dump.json'\nserver = 'sky'\n");
        let root = folder(&[("toolcrib.toml", &toml), ("dump.json", &tool)]);
        Running::open(root.path()).fails("x", json!({}), BackendErrorKind::NotSent, why)
    };
    check("url = 'http://127.0.0.1:9/mcp'", "no connection");
    check("command = ['/no/such/program']", "cannot be run");
    check("command = ['sh', '-c', 'echo no key >&2; exit 1']", "no key");
    check("command = ['sleep', '60']\ntimeout_seconds = 1", "no answer within 1 second");
}
