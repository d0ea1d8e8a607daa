//! Replies of HTTP backends, and retries.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::exec::backend::BackendErrorKind;

use super::http_requests::catalog;
use super::recorder::Recorder;

fn get(path: &str) -> Value {
    json!({ "method": "GET", "path": path, "effect": "read" })
}

#[test]
fn answers_are_what_they_say_they_are() {
    let recorder = Recorder::start();
    let (_root, mut running) = {
        let tools =
            ["text", "latin", "binary", "empty", "problem+json", "broken-json", "untyped", "huge", "events"];
        let tools: Vec<(String, Value)> =
            tools.iter().map(|name| (name.replace(['+', '-'], "_"), get(&format!("/{name}")))).collect();
        let tools: Vec<(&str, Value)> =
            tools.iter().map(|(name, tool)| (name.as_str(), tool.clone())).collect();
        let (root, running) = catalog_at(&recorder, "max_bytes = 1000000", &tools);
        (root, running)
    };
    let check = |name: &str, content: Value, warning: &str| {
        let response = running.call(name, json!({})).unwrap();
        assert_eq!(response.content, content, "{name}");
        assert!(
            response.warnings.concat().contains(warning)
                && response.warnings.is_empty() == warning.is_empty(),
            "{response:?}"
        );
    };
    check("text", json!("grüße \u{fffd}"), "");
    check("latin", json!("grüße"), "");
    check("binary", json!({ "media_type": "image/png", "bytes": 4, "base64": "iVBORw==" }), "");
    check("empty", json!(null), "");
    check("problem_json", json!({ "a": [1] }), "");
    check("broken_json", json!("{\"a\": "), "declared as JSON");
    check("untyped", json!({ "b": 2 }), "");
    check("huge", json!("x".repeat(1_000_000)), "longer than 1000000 bytes");
    running.time = Duration::from_secs(1);
    let response = running.call("events", json!({})).unwrap();
    assert!(response.content.as_str().unwrap().starts_with("data: 0\n\n"), "{response:?}");
    assert!(response.warnings[0].contains("without an end"), "{response:?}");
}

/// As [`catalog`], but the paths are the server's own.
fn catalog_at(
    recorder: &Recorder,
    server: &str,
    tools: &[(&str, Value)],
) -> (tempfile::TempDir, super::Running) {
    let (root, _) = catalog(recorder, server, tools);
    let toml = std::fs::read_to_string(root.path().join("toolcrib.toml")).unwrap();
    crate::fixture::write(root.path(), "toolcrib.toml", &toml.replace("/base/", ""));
    let running = super::Running::open(root.path());
    (root, running)
}

#[test]
fn an_error_says_what_to_do() {
    let recorder = Recorder::start();
    let tools = [("plain", get("/status/{code}")), ("turn", get("/redirect/302/text"))];
    let (_root, running) = catalog_at(&recorder, "retries = 0\nheaders = { A = '${TOKEN}' }", &tools);
    let statuses = [
        (400, "does not accept these arguments"),
        (401, "credentials"),
        (403, "does not allow"),
        (404, "has nothing"),
        (409, "conflict"),
        (422, "does not accept these arguments"),
        (500, "failed"),
        (418, "refuses"),
    ];
    for (status, words) in statuses {
        let error = running.fails("plain", json!({ "code": status }), BackendErrorKind::Failed, words);
        assert!(error.message.contains(&status.to_string()));
        let expect = json!({ "status": status, "body": { "detail": "no [redacted] here" } });
        assert_eq!(super::Running::told(&error), expect);
    }
    for status in [429, 503] {
        running.fails("plain", json!({ "code": status }), BackendErrorKind::Busy, &status.to_string());
    }
    // A success that echoes what it was sent does not tell it on either.
    let response = running.call("plain", json!({ "code": 200 })).unwrap();
    assert_eq!(response.content, json!({ "detail": "no [redacted] here" }));
    let error = running.fails("turn", json!({}), BackendErrorKind::Failed, "redirects");
    assert_eq!(super::Running::told(&error), json!({ "status": 302, "location": "/text" }));
}

#[test]
fn redirects_are_followed_within_the_origin_and_as_far_as_configured() {
    let recorder = Recorder::start();
    let post = |path: &str| json!({ "method": "POST", "path": path });
    let tools = [
        ("near", get("/redirect/302/redirect/307/fine")),
        ("far", get("/redirect/302/redirect/302/redirect/302/fine")),
        ("away", get("/redirect/302/elsewhere")),
        ("kept", post("/redirect/307/fine")),
        ("turned", post("/redirect/302/fine")),
        ("seen", post("/redirect/303/fine")),
    ];
    let (_root, running) = catalog_at(&recorder, "redirects = 2\nheaders = { A = '${TOKEN}' }", &tools);
    assert_eq!(running.call("near", json!({})).unwrap().content["path"], "/fine");
    running.fails("far", json!({}), BackendErrorKind::Failed, "302");
    running.fails("away", json!({}), BackendErrorKind::Failed, "302");
    running.fails("turned", json!({ "a": 1 }), BackendErrorKind::Failed, "302");
    recorder.arrived();
    running.call("kept", json!({ "a": 1 })).unwrap();
    let kept = recorder.arrived().pop().unwrap();
    assert_eq!((kept.method.as_str(), kept.json()), ("POST", json!({ "a": 1 })));
    running.call("seen", json!({ "a": 1 })).unwrap();
    let seen = recorder.arrived().pop().unwrap();
    assert_eq!((seen.method.as_str(), seen.body.as_str(), seen.header("content-type")), ("GET", "", None));
}

#[test]
fn only_what_may_run_twice_is_sent_again() {
    let recorder = Recorder::start();
    let tools = [
        ("get_it", get("/busy/2")),
        ("get_worse", get("/busy/3")),
        ("create_it", json!({ "method": "POST", "path": "/busy/2" })),
        ("search_it", json!({ "method": "POST", "path": "/busy/2" })),
        ("find_it", json!({ "method": "POST", "path": "/busy/1", "effect": "read" })),
    ];
    let (_root, mut running) = catalog_at(&recorder, "idempotency_header = 'Idempotency-Key'", &tools);
    let sent = |running: &super::Running, name: &str| {
        let is_ok = running.call(name, json!({})).is_ok();
        (is_ok, recorder.arrived().len())
    };
    assert_eq!(sent(&running, "get_it"), (true, 3));
    assert_eq!(sent(&running, "get_worse"), (false, 3));
    assert_eq!(sent(&running, "create_it"), (false, 1));
    assert_eq!(sent(&running, "search_it"), (false, 1), "that a name sounds like reading is not enough");
    assert_eq!(sent(&running, "find_it"), (true, 2));
    running.key = Some("k-1".into());
    running.call("create_it", json!({})).unwrap();
    let keys: Vec<_> =
        recorder.arrived().iter().map(|arrived| arrived.header("idempotency-key") == Some("k-1")).collect();
    assert_eq!(keys, [true, true, true]);
}

#[test]
fn a_call_has_its_time() {
    let recorder = Recorder::start();
    let (_root, mut running) = catalog_at(&recorder, "", &[("wait", get("/slow"))]);
    running.time = Duration::from_millis(300);
    let start = Instant::now();
    running.fails("wait", json!({}), BackendErrorKind::TimedOut, "may have run");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
