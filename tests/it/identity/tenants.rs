//! Callers see nothing of each other.

use std::sync::Arc;

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::exec::Caller;
use toolcrib::functions::FunctionContext;
use toolcrib::search::semantic::SemanticStatus;

use crate::exec::{Bench, code};
use crate::fixture;
use crate::semantic::{self, Mode, Vectors};
use crate::serve::Server;

const TOOLS: &str = r#"[
  {"name": "list_notes", "op": "note.list", "effect": "read", "description": "List notes.", "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
   "backend": {"type": "static", "content": ["LONG", "LONG", "LONG"]}},
  {"name": "open_note", "op": "note.open", "effect": "read", "description": "Open a note.", "context_shift": "/note", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": {"note": {"id": "n1"}}}},
  {"name": "put_note", "op": "note.put", "effect": "write", "description": "Put a note.", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
   "backend": {"type": "static", "content": "done"}},
  {"name": "wipe_notes", "op": "note.wipe", "effect": "write", "approval": true, "description": "Wipe notes.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": "gone"}}
]"#;

/// Two callers, in sessions of the same name.
struct Two {
    bench: Bench,
    amy: FunctionContext,
    bob: FunctionContext,
}

impl Two {
    fn new(config: &str) -> Self {
        let config = format!("[exec]\nallow = \"write\"\n{config}");
        let bench = Bench::of(&TOOLS.replace("LONG", &"long ".repeat(100)), &config, None);
        let named = |name: &str| {
            let roles = Some(Vec::new());
            let caller = Caller { name: name.into(), roles, session: Some("s".into()), ..Caller::default() };
            FunctionContext { caller: Arc::new(caller), ..bench.context.clone() }
        };
        let (amy, bob) = (named("amy"), named("bob"));
        Self { bench, amy, bob }
    }

    fn run(&self, caller: &FunctionContext, input: Value) -> Value {
        self.bench.call_in(caller, "tool_exec", input)
    }
}

/// An answer without its own id and time.
fn masked(answer: &Value) -> String {
    let own = Regex::new("tr_[0-9a-z]{12}|\"latency_ms\":[0-9.]+").unwrap();
    own.replace_all(&answer.to_string(), "").into_owned()
}

#[test]
fn the_rest_of_a_result_is_for_its_caller_and_for_others_as_if_it_never_was() {
    let two = Two::new("result_bytes = 700\n");
    let first = two.run(&two.amy, json!({"op": "note.list", "args": {}}));
    let cursor = first["meta"]["more"]["cursor"].as_str().unwrap().to_string();
    let (id, place) = cursor.split_once('.').unwrap();
    let made_up = format!("re_{}.{place}", "0".repeat(id.len() - 3));
    let read = |caller, cursor: &str| two.bench.call_in(caller, "read_result", json!({"cursor": cursor}));
    let (of_amy, of_nobody) = (read(&two.bob, &cursor), read(&two.bob, &made_up));
    assert_eq!(masked(&of_amy), masked(&of_nobody));
    assert_eq!(code(&of_amy), "CURSOR_EXPIRED");
    assert_eq!(read(&two.amy, &cursor)["ok"], true);
}

#[test]
fn keys_of_two_callers_are_different() {
    let two = Two::new("");
    let put = |caller, text: &str| {
        two.run(caller, json!({"op": "note.put", "args": {"text": text}, "idempotency_key": "k"}))
    };
    assert_eq!(put(&two.amy, "one")["ok"], true);
    assert_eq!(code(&put(&two.amy, "other")), "CONFLICT");
    let other = put(&two.bob, "two");
    assert!(other["ok"] == true && other["meta"].get("replayed").is_none(), "{other}");
    let same = put(&Two::new("").bob, "two");
    assert_eq!(masked(&other), masked(&same), "as if nobody had used the key");
}

#[test]
fn an_approval_of_one_caller_runs_no_call_of_another() {
    let two = Two::new("");
    let wipe = |caller| two.run(caller, json!({"op": "note.wipe", "args": {}}));
    let asked = wipe(&two.amy);
    let id = asked["error"]["details"]["approval"]["id"].as_str().unwrap();
    let decided = two.bench.wait(two.bench.state.decide_approval(id, true, None)).unwrap();
    assert!(decided.is_some());
    let other = wipe(&two.bob);
    assert_eq!(code(&other), "APPROVAL_REQUIRED");
    assert!(!other.to_string().contains(id), "{other}");
    assert_eq!(wipe(&two.amy)["result"], "gone");
}

#[test]
fn failures_docs_and_context_of_a_session_are_those_of_its_caller() {
    let two = Two::new("require_doc = \"write\"\n");
    let wrong = |caller| two.run(caller, json!({"op": "note.list", "args": {"page": {}}}));
    let first = wrong(&two.amy);
    assert_eq!(masked(&wrong(&two.bob)), masked(&first), "a mistake of one changes nothing for another");
    two.run(&two.amy, json!({"op": "note.open", "args": {}}));
    let seen = two.run(&two.amy, json!({"op": "note.list", "args": {}}));
    assert_eq!(seen["meta"]["context"]["id"], "n1", "{seen}");
    let seen = two.run(&two.bob, json!({"op": "note.list", "args": {}}));
    assert!(seen["meta"].get("context").is_none(), "{seen}");
    two.bench.call_in(&two.amy, "read_tool_doc", json!({"names": ["put_note"]}));
    let put = |caller| two.run(caller, json!({"op": "note.put", "args": {}}));
    assert_eq!(put(&two.amy)["ok"], true);
    assert_eq!(code(&put(&two.bob)), "DOC_REQUIRED");
}

/// A vector that is there already would show, in the status and in the time, that somebody has asked for the same.
#[test]
fn a_query_of_one_caller_is_not_known_for_another() {
    let server = Vectors::serve();
    let (view, services) = (semantic::view(semantic::TOOLS), semantic::services(&server.url, None));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let search = |name: &str| {
        let caller = Arc::new(Caller { name: name.into(), ..Caller::default() });
        let context =
            FunctionContext { services: services.clone(), caller, ..FunctionContext::of(view.clone()) };
        runtime.block_on(context.search(&["quaxolotl"], None, 5)).semantic
    };
    assert_eq!(search("amy"), SemanticStatus::On);
    server.set(Mode::Answers(503, String::new(), "{}".into()));
    assert_eq!(search("amy"), SemanticStatus::On, "her own query is known");
    assert!(matches!(search("bob"), SemanticStatus::Unavailable(_)));
}

const SECRETS: [(&str, &str); 3] = [
    ("AMY", "the-test-token-of-amy"),
    ("BOB", "the-test-token-of-bob"),
    ("OPERATOR", "the-test-token-of-the-operator"),
];

/// A server with the tokens of two callers and of an operator.
fn served() -> (Server, TempDir) {
    let config = "[exec]\nallow = \"write\"\n[[serve.token]]\nenv = \"AMY\"\nname = \"amy\"\n\
        [[serve.token]]\nenv = \"BOB\"\nname = \"bob\"\n\
        [[serve.token]]\nenv = \"OPERATOR\"\nname = \"operator\"\nroles = [\"*\"]\n";
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config)]);
    (Server::start(fixture::text(folder.path()), &[], &SECRETS), folder)
}

fn bearer(name: &str) -> String {
    let (_, token) = SECRETS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap();
    format!("Bearer {token}")
}

fn search(server: &Server, name: &str, query: &str) {
    let asking = server.posting("/v1/tool_search", json!({ "query": query }));
    let answer = asking.header("authorization", bearer(name)).header("x-session-id", "work").send().unwrap();
    assert_eq!(answer.status(), 200);
}

fn read(server: &Server, name: &str, path: &str) -> (u16, String) {
    let answer = server.get(path, &[("authorization", &bearer(name))]);
    (answer.status().as_u16(), answer.text().unwrap())
}

#[test]
fn a_session_of_another_caller_answers_like_one_that_never_was() {
    let (server, _folder) = served();
    search(&server, "amy", "list notes");
    assert_eq!(read(&server, "amy", "/sessions/work/events.jsonl").0, 200);
    let (status, of_amy) = read(&server, "bob", "/sessions/work/events.jsonl");
    assert_eq!((status, of_amy.clone()), read(&server, "bob", "/sessions/none/events.jsonl"));
    assert!(status == 404 && !of_amy.contains("list notes"), "{of_amy}");
}

/// Numbers that count the events of all would tell how many others have made.
#[test]
fn numbers_of_events_come_from_events_of_their_session_alone() {
    let (server, _folder) = served();
    for round in 0..4 {
        search(&server, "amy", &format!("round {round}"));
        (0..round).for_each(|_| search(&server, "bob", "put a note"));
    }
    let events = server.events("work", &[("authorization", &bearer("amy"))]);
    let numbers: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn metrics_of_a_caller_do_not_change_with_the_calls_of_others() {
    let (server, _folder) = served();
    let before = read(&server, "amy", "/metrics").1;
    assert!(before.contains("toolcrib_tools 4"), "{before}");
    search(&server, "bob", "list notes");
    search(&server, "bob", "qzxv jjkw");
    assert_eq!(read(&server, "amy", "/metrics").1, before);
    let all = read(&server, "operator", "/metrics").1;
    let counted = "toolcrib_function_calls_total{function=\"tool_search\",outcome=\"ok\"} 2";
    assert!(all.contains(counted), "{all}");
    let (ready, _) = (read(&server, "amy", "/readyz?verbose").1, read(&server, "bob", "/nothing"));
    search(&server, "bob", "open a note");
    assert_eq!(read(&server, "amy", "/readyz?verbose").1, ready);
}
