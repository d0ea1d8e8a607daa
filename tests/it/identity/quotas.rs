//! Limits of calls, by caller, role and tool.

use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::exec::backend::Backends;
use toolcrib::exec::{Caller, Quotas};
use toolcrib::functions::{FunctionContext, Services};
use toolcrib::state::StateStore;

use crate::exec::{Bench, check, code};
use crate::fixture;
use crate::serve::Server;

const TOOLS: &str = r#"
- {name: read_note, op: note.read, effect: read, description: Reads a note., parameters: {type: object, properties: {id: {type: string}}, additionalProperties: false}, backend: {type: static, content: a note}}
- {name: put_note, op: note.put, effect: write, description: Writes a note., parameters: {type: object, properties: {text: {type: string}}, additionalProperties: false}, backend: {type: static, content: done}}
- {name: wait_note, op: note.wait, effect: read, description: Waits for a note., parameters: {type: object}, backend: {type: command, argv: [cat, pipe], stdin: none}}
- {name: ask_note, op: note.ask, effect: write, approval: true, description: Asks about a note., parameters: {type: object}, backend: {type: static, content: done}}
- name: copy_note
  op: note.copy
  effect: write
  description: Copies a note.
  parameters: {type: object, properties: {}, additionalProperties: false}
  backend: {type: steps, steps: [{id: read, op: note.read, args: {}}, {id: write, op: note.put, args: {text: a}}]}
"#;

const START: &str = "[[source]]\npath = \"tools.yaml\"\ntrust = \"run\"\n[exec]\nallow = \"write\"\n";

/// A catalog with quotas, and a clock that the test moves.
struct Limited {
    bench: Bench,
    seconds: Arc<AtomicU64>,
    folder: std::path::PathBuf,
}

impl Limited {
    fn new(quotas: &str) -> Self {
        let folder: TempDir =
            fixture::folder(&[("tools.yaml", TOOLS), ("toolcrib.toml", &format!("{START}{quotas}"))]);
        let root = folder.path().to_path_buf();
        let mut bench = Bench::at(folder, None, Arc::new(StateStore::in_memory()));
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&seconds);
        let services = Services {
            quotas: Quotas::with_clock(move || Duration::from_secs(clock.load(Relaxed))),
            backends: Backends::new(&root, Default::default()),
            state: Arc::clone(&bench.state),
            ..Services::default()
        };
        bench.context.services = Arc::new(services);
        Self { bench, seconds, folder: root }
    }

    fn pass(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Relaxed);
    }

    /// A caller with this name and these roles.
    fn caller(&self, name: &str, roles: &[&str]) -> FunctionContext {
        let roles = Some(roles.iter().map(ToString::to_string).collect());
        let caller = Caller { name: name.into(), roles, session: Some("s".into()), ..Caller::default() };
        FunctionContext { caller: Arc::new(caller), ..self.bench.context.clone() }
    }

    fn run(&self, caller: &FunctionContext, call: Value) -> Value {
        let answer = self.bench.call_in(caller, "tool_exec", call);
        check(&answer);
        answer
    }

    /// `ok`, or the code of the error, of a call of this op.
    fn outcome(&self, caller: &FunctionContext, op: &str) -> String {
        let answer = self.run(caller, json!({ "op": op, "args": {} }));
        if answer["ok"] == true { "ok".into() } else { code(&answer).to_string() }
    }

    /// Number of calls of this op until one is refused, `most` at most.
    fn allowed(&self, caller: &FunctionContext, op: &str, most: usize) -> usize {
        (0..most).take_while(|_| self.outcome(caller, op) == "ok").count()
    }
}

#[test]
fn a_call_over_the_rate_is_told_when_to_come_back_and_is_run_then() {
    let limited = Limited::new("[[serve.quota]]\nper_minute = 4\nburst = 3\n");
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.allowed(&amy, "note.read", 9), 3);
    limited.pass(5);
    // Told as often as it is asked: waiting is no mistake of its caller.
    for _ in 0..5 {
        let refused = limited.run(&amy, json!({"op": "note.read", "args": {}}));
        assert_eq!(code(&refused), "RATE_LIMITED", "{refused}");
        assert_eq!(refused["error"]["details"]["retry_after"], 10, "{refused}");
        assert_eq!(refused["error"]["next_action"], "wait 10 seconds, then send the same call again");
        assert!(refused["error"]["message"].as_str().unwrap().contains("you have 4 in a minute"));
    }
    limited.pass(9);
    assert_eq!(limited.outcome(&amy, "note.read"), "RATE_LIMITED");
    limited.pass(1);
    assert_eq!(limited.allowed(&amy, "note.read", 9), 1);
    limited.pass(3_600);
    assert_eq!(limited.allowed(&amy, "note.read", 9), 3, "a pause gives the burst and no more");
}

#[test]
fn a_quota_is_for_a_role_or_a_caller_and_each_caller_has_a_count_of_its_own() {
    let quotas = "[[serve.quota]]\nrole = \"agent\"\nper_minute = 2\n[[serve.quota]]\ncaller = \"amy\"\nper_minute = 1\n";
    let limited = Limited::new(quotas);
    let allowed = |name: &str, roles: &[&str]| limited.allowed(&limited.caller(name, roles), "note.read", 9);
    assert_eq!(allowed("bob", &["agent"]), 2);
    assert_eq!(allowed("cleo", &["agent", "editor"]), 2, "another caller has used its own");
    assert_eq!(allowed("amy", &["agent"]), 1, "the tighter one counts");
    assert_eq!(allowed("dora", &["editor"]), 9);
    assert_eq!(allowed("admin", &["*"]), 9);
    assert_eq!(allowed("bob", &["agent"]), 0);
}

#[test]
fn a_quota_counts_the_tools_that_it_selects_under_any_name() {
    let limited = Limited::new("[[serve.quota]]\ntools = [\"effect:write\"]\nper_minute = 1\n");
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.allowed(&amy, "note.read", 5), 5);
    assert_eq!(limited.outcome(&amy, "put_note"), "ok");
    assert_eq!(limited.outcome(&amy, "note.put"), "RATE_LIMITED");
    let batch = json!({"calls": [{"op": "note.read", "args": {}}, {"op": "note.put", "args": {}}]});
    let batch = limited.bench.call_in(&amy, "tool_batch", batch);
    assert_eq!(batch["results"][0]["ok"], true, "{batch}");
    assert_eq!(batch["results"][1]["error"]["code"], "RATE_LIMITED", "{batch}");
    let called = limited.bench.call_in(&amy, "call_tool", json!({"tool_id": "note.put", "arguments": {}}));
    assert_eq!(called["error"]["code"], "RATE_LIMITED", "{called}");
}

#[test]
fn calls_that_are_not_run_count_in_no_quota() {
    let quotas = "[[serve.quota]]\nper_minute = 2\n[[serve.quota]]\ntools = \"put_note\"\nper_minute = 1\n";
    let limited = Limited::new(quotas);
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.outcome(&amy, "note.put"), "ok");
    for _ in 0..2 {
        assert_eq!(limited.outcome(&amy, "note.put"), "RATE_LIMITED");
        assert_eq!(limited.outcome(&amy, "note.none"), "NOT_FOUND");
        let wrong = limited.run(&amy, json!({"op": "note.read", "args": {"id": {}}}));
        assert_ne!(wrong["ok"], true);
        let dry = limited.run(&amy, json!({"op": "note.put", "args": {}, "dry_run": true}));
        assert_eq!(dry["ok"], true, "{dry}");
    }
    assert_eq!(limited.allowed(&amy, "note.read", 5), 1, "of two, one is left");
}

#[test]
fn a_limited_write_leaves_its_key_free_and_a_repeated_one_does_not_count() {
    let limited = Limited::new("[[serve.quota]]\nper_minute = 1\n");
    let amy = limited.caller("amy", &[]);
    let write = |key: &str| limited.run(&amy, json!({"op": "note.put", "args": {}, "idempotency_key": key}));
    assert_eq!(write("one")["ok"], true);
    assert_eq!(code(&write("two")), "RATE_LIMITED");
    assert_eq!(write("one")["meta"]["replayed"], true, "the answer is there already");
    limited.pass(60);
    let second = write("two");
    assert!(second["ok"] == true && second["meta"].get("replayed").is_none(), "{second}");
}

#[test]
fn a_limited_call_asks_no_person() {
    let limited = Limited::new("[[serve.quota]]\nper_minute = 1\n");
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.outcome(&amy, "note.read"), "ok");
    assert_eq!(limited.outcome(&amy, "note.ask"), "RATE_LIMITED");
    assert_eq!(limited.bench.wait(limited.bench.state.approvals(true)).unwrap().len(), 0);
    limited.pass(60);
    assert_eq!(limited.outcome(&amy, "note.ask"), "APPROVAL_REQUIRED");
}

#[test]
fn each_step_counts_and_a_failed_whole_goes_on_later() {
    let limited = Limited::new("[[serve.quota]]\nper_minute = 2\nburst = 3\n");
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.outcome(&amy, "note.read"), "ok");
    let call = json!({"op": "note.copy", "args": {}, "idempotency_key": "k"});
    let refused = limited.run(&amy, call.clone());
    assert_eq!(code(&refused), "RATE_LIMITED", "{refused}");
    assert_eq!(refused["error"]["details"]["retry_after"], 30, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("step `write`"), "{refused}");
    limited.pass(90);
    let done = limited.run(&amy, call);
    assert_eq!((&done["ok"], &done["result"]), (&json!(true), &json!("done")), "{done}");
}

#[test]
fn steps_need_no_place_beside_that_of_the_whole() {
    let limited = Limited::new("[[serve.quota]]\nat_once = 1\n");
    let amy = limited.caller("amy", &[]);
    assert_eq!(limited.outcome(&amy, "note.copy"), "ok");
    assert_eq!(limited.outcome(&amy, "note.copy"), "ok");
}

#[cfg(unix)]
#[test]
fn calls_that_run_at_once_are_limited_for_each_caller_and_places_are_free_again() {
    let limited = Limited::new("[[serve.quota]]\nrole = \"agent\"\nat_once = 1\n");
    let pipe = limited.folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (amy, bob) = (limited.caller("amy", &["agent"]), limited.caller("bob", &["agent"]));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| limited.run(&amy, json!({"op": "note.wait", "args": {}})));
        // Opening the pipe waits for its reader: the call runs.
        let mut opened = File::options().write(true).open(&pipe).unwrap();
        let refused = limited.run(&amy, json!({"op": "note.read", "args": {}}));
        assert_eq!(code(&refused), "RATE_LIMITED", "{refused}");
        assert_eq!(refused["error"]["details"]["retry_after"], 1);
        assert_eq!(limited.outcome(&bob, "note.read"), "ok");
        opened.write_all(b"\"a note\"").unwrap();
        drop(opened);
        assert_eq!(waiting.join().unwrap()["ok"], true);
    });
    assert_eq!(limited.outcome(&amy, "note.read"), "ok");
}

/// Every door limits the calls of a caller by the same count.
#[test]
fn over_http_and_mcp_a_limited_call_says_when_to_come_back() {
    let tokens =
        "[[serve.token]]\nenv = \"AMY\"\nname = \"amy\"\n[[serve.token]]\nenv = \"BOB\"\nname = \"bob\"\n";
    // One call a minute, and the test takes less: a call in the second minute is allowed one more.
    let quotas = "[[serve.quota]]\nper_minute = 1\n";
    let config = format!("{START}{tokens}{quotas}");
    let folder = fixture::folder(&[("tools.yaml", TOOLS), ("toolcrib.toml", &config)]);
    let values = [("AMY", "the-test-token-of-amy"), ("BOB", "the-test-token-of-bob")];
    let server = Server::start(fixture::text(folder.path()), &[], &values);
    let ask = |token: &str, path: &str, body: Value| {
        let asking = server.posting(path, body).bearer_auth(token);
        asking.header("accept", "application/json, text/event-stream").send().unwrap()
    };
    let call = json!({"op": "note.read", "args": {}});
    let limited = (0..).map(|_| ask(values[0].1, "/v1/tool_exec", call.clone()));
    let limited = limited.take(5).find(|answer| answer.status() == 429).unwrap();
    let seconds: u64 = limited.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    let told: Value = limited.json().unwrap();
    assert_eq!(told["error"]["details"]["retry_after"], seconds, "{told}");
    let find = |path: &str, body: Value| {
        let mut answers = (0..3).map(|_| ask(values[0].1, path, body.clone()).text().unwrap());
        assert!(answers.any(|answer| answer.contains("RATE_LIMITED")), "{path}");
    };
    find("/v1/tools/read_note", json!({}));
    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool_exec", "arguments": call}});
    find("/mcp", mcp);
    assert_eq!(ask(values[1].1, "/v1/tool_exec", call).status(), 200, "bob has a count of his own");
}

/// The configuration of the page on identity does what its sentences say.
#[test]
fn the_quotas_of_the_page_on_identity_are_kept() {
    let page = std::fs::read_to_string(fixture::package().join("docs/identity.md")).unwrap();
    let (_, section) = page.split_once("\n## Limits and tenants\n").unwrap();
    let quotas = section.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = fixture::folder(&[("tools.yaml", TOOLS), ("toolcrib.toml", quotas)]);
    let mistakes = fixture::codes(&fixture::open(folder.path()));
    assert!(mistakes.iter().all(|(_, _, pointer)| !pointer.starts_with("/serve")), "{mistakes:?}");
    let limited = Limited::new(quotas);
    let (agent, person) = (limited.caller("a", &["agent"]), limited.caller("p", &["editor"]));
    assert_eq!(limited.allowed(&agent, "note.put", 20), 5);
    assert_eq!(limited.allowed(&agent, "note.read", 20), 20);
    assert_eq!(limited.allowed(&person, "note.put", 20), 20);
    limited.pass(2);
    assert_eq!(limited.allowed(&agent, "note.put", 20), 1);
}

#[test]
fn mistakes_in_quotas_are_findings() {
    let found = |quota: &str| {
        let config = format!("[[serve.quota]]\n{quota}\n");
        let folder = fixture::folder(&[("tools.yaml", TOOLS), ("toolcrib.toml", &config)]);
        let codes = fixture::codes(&fixture::open(folder.path()));
        codes.into_iter().filter(|(_, _, pointer)| pointer.starts_with("/serve")).collect::<Vec<_>>()
    };
    assert_eq!(found("per_minute = 60\nburst = 10\nat_once = 4\ntools = [\"*_note\"]"), []);
    for (quota, pointer) in [
        ("role = \"agent\"", "/serve/quota/0"),
        ("burst = 3\nat_once = 1", "/serve/quota/0"),
        ("per_minute = 0", "/serve/quota/0/per_minute"),
        ("at_once = 1\nper_hour = 5", "/serve/quota/0/per_hour"),
        ("at_once = 1\ntools = [\"effect:none\"]", "/serve/quota/0/tools"),
    ] {
        let found = found(quota);
        assert!(found.iter().any(|(_, _, at)| at == pointer), "{quota}: {found:?}");
    }
}
