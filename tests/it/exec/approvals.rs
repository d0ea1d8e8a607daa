//! The approved call is the one that runs: all of it, and nothing else.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::state::{Approval, ApprovalStatus, StateStore};

use super::{Bench, WRITES, code, warned};
use crate::fixture;

/// A tool that waits for a person, run like this.
fn tools(description: &str, backend: &Value) -> String {
    json!([{
        "name": "send", "op": "mail.send", "effect": "write", "approval": true, "description": description,
        "parameters": {"type": "object", "properties": {
            "to": {"type": "string"}, "pin": {"type": "string", "format": "password"},
            "headers": {"type": "array", "items": {"type": "object"}}, "extra": {"type": "object"},
        }},
        "backend": backend,
    }])
    .to_string()
}

fn sent() -> Value {
    json!({"type": "static", "content": "sent"})
}

fn bench(description: &str, backend: &Value, config: &str, state: &Arc<StateStore>) -> Bench {
    let (tools, config) = (tools(description, backend), format!("{WRITES}{config}"));
    let folder = fixture::folder(&[("tools.json", &tools), ("toolcrib.toml", &config)]);
    Bench::at(folder, None, Arc::clone(state))
}

fn state() -> Arc<StateStore> {
    Arc::new(StateStore::in_memory())
}

/// Asks for a call, and the approval that waits for it.
#[track_caller]
fn asked(bench: &Bench, args: &Value) -> Approval {
    let answer = bench.run("mail.send", args.clone());
    assert_eq!(code(&answer), "APPROVAL_REQUIRED", "{answer}");
    approval(bench, answer["error"]["details"]["approval"]["id"].as_str().unwrap())
}

fn approval(bench: &Bench, id: &str) -> Approval {
    let all = bench.wait(bench.state.approvals(false)).unwrap();
    all.into_iter().find(|approval| approval.id == id).unwrap()
}

fn approve(bench: &Bench, id: &str) {
    let decided = bench.wait(bench.state.decide_approval(id, true, None)).unwrap().unwrap().0;
    assert_eq!(decided.status, ApprovalStatus::Approved);
}

#[test]
fn what_waits_is_all_of_the_call_and_the_caller_hides_nothing() {
    let bench = bench("Send.", &sent(), "[state]\nredact = [\"iban\"]\n", &state());
    let text = format!("{}the end", "x".repeat(10 << 20));
    let args = json!({
        "to": text, "headers": [{"name": "api-key", "value": "rm -rf /"}],
        "extra": {"password": "Bearer abcdef123456", "iban": "DE1", "\u{430}mount": 1, "amount": 2}, "pin": "1234",
    });
    let waiting = asked(&bench, &args);
    let mut expected = args;
    expected["pin"] = Value::Null;
    expected["extra"]["iban"] = Value::Null;
    assert!(waiting.arguments == expected, "whole but for what the schema and the operator hide");
    let hidden: Vec<_> =
        waiting.hidden.iter().map(|hidden| (hidden.pointer.as_str(), hidden.bytes)).collect();
    assert_eq!(hidden, [("/extra/iban", 3), ("/pin", 4)]);
    // A short secret cannot be tried: its hash has a key.
    let plain = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..32].to_string();
    let hash = &waiting.hidden[1].hash;
    assert!(hash.len() == 32 && ![plain("1234"), plain("\"1234\"")].contains(hash), "{hash}");
    assert!(!json!(waiting).to_string().contains(&waiting.fingerprint));
}

#[test]
fn calls_that_differ_anywhere_are_approved_apart() {
    let bench = bench("Send.", &sent(), "", &state());
    let to = |end: &str| json!({"to": format!("{}{end}", "x".repeat(40_000)), "pin": "1234"});
    let first = asked(&bench, &to("a"));
    approve(&bench, &first.id);
    assert_ne!(asked(&bench, &to("b")).id, first.id);
    let mut other = to("a");
    other["pin"] = json!("1235");
    let other = asked(&bench, &other);
    assert_ne!((&other.id, &other.hidden[0].hash), (&first.id, &first.hidden[0].hash));
    assert_ne!(other.hidden[0].hash, first.hidden[0].hash);
    assert_eq!(other.arguments, first.arguments, "they look alike but for the hash");
    assert_eq!(bench.run("mail.send", to("a"))["result"], "sent");
}

#[test]
fn an_approval_is_void_once_the_definition_or_the_backend_has_changed() {
    let http = json!({"type": "http", "server": "api", "method": "POST", "path": "/send"});
    let server = |port: u16| format!("[server.api]\nurl = \"http://127.0.0.1:{port}\"\n");
    let other = json!({"type": "static", "content": "other"});
    for (first, second) in [
        (("Send.", sent(), String::new()), ("Send to all.", sent(), String::new())),
        (("Send.", sent(), String::new()), ("Send.", other, String::new())),
        (("Send.", http.clone(), server(1)), ("Send.", http, server(2))),
    ] {
        let state = state();
        let before = bench(first.0, &first.1, &first.2, &state);
        let waiting = asked(&before, &json!({"to": "amy"}));
        approve(&before, &waiting.id);
        let after = bench(second.0, &second.1, &second.2, &state);
        let answer = after.run("mail.send", json!({"to": "amy"}));
        assert_eq!(code(&answer), "APPROVAL_REQUIRED", "{answer}");
        let error = &answer["error"];
        assert_eq!(error["details"]["approval"]["void"], waiting.id.as_str(), "{answer}");
        assert!(error["message"].as_str().unwrap().contains("has changed since"), "{answer}");
        assert_eq!(approval(&after, &waiting.id).status, ApprovalStatus::Void);
    }
}

#[test]
fn a_yes_whose_call_was_not_sent_is_given_back() {
    let backend = json!({"type": "http", "server": "api", "method": "POST", "path": "/send"});
    // Nobody listens there.
    let nowhere = "[server.api]\nurl = \"http://127.0.0.1:1\"\nretries = 0\n";
    let bench = bench("Send.", &backend, nowhere, &state());
    let args = json!({"to": "amy"});
    let waiting = asked(&bench, &args);
    approve(&bench, &waiting.id);
    for key in [None, Some("k1"), Some("k1")] {
        let mut call = json!({"op": "mail.send", "args": args});
        if let Some(key) = key {
            call["idempotency_key"] = key.into();
        }
        let answer = bench.exec(call);
        assert_eq!(code(&answer), "BACKEND_ERROR", "{answer}");
        warned(&answer, "still counts");
        let kept = approval(&bench, &waiting.id);
        assert_eq!((kept.status, &kept.arguments), (ApprovalStatus::Approved, &args));
    }
}

#[test]
fn a_call_that_was_sent_uses_its_approval_up_and_leaves_no_arguments() {
    let bench = bench("Send.", &sent(), "", &state());
    let args = json!({"to": "amy", "pin": "1234"});
    let waiting = asked(&bench, &args);
    approve(&bench, &waiting.id);
    assert_eq!(bench.run("mail.send", args)["result"], "sent");
    let kept = approval(&bench, &waiting.id);
    assert_eq!((kept.status, kept.arguments, kept.hidden.len()), (ApprovalStatus::Used, Value::Null, 0));
}
