//! The gates between a valid call and its run: roles, effects, schemas, docs, people.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::definition::Effect;
use toolcrib::exec::Caller;
use toolcrib::functions::FunctionContext;
use toolcrib::state::{ApprovalStatus, EventQuery};

use super::{Bench, TOOLS, WRITES, code, warned};

const TASK: &str = "onto.task.create";

fn task() -> Value {
    json!({"project_id": "p", "title": "Buy nails"})
}

#[test]
fn the_least_of_server_profile_and_caller_counts_and_the_error_says_which() {
    let denied = |bench: &Bench, words: &str| {
        let answer = bench.run(TASK, task());
        assert_eq!(code(&answer), "PERMISSION_DENIED");
        assert!(answer["error"].to_string().contains(words), "{answer}");
    };
    denied(&Bench::new(""), "[exec]");
    denied(
        &Bench::new("[exec]\nallow = \"write\"\n[profile.reader]\nallow = \"read\"\n"),
        "[profile.reader]",
    );
    let mut bench = Bench::new(WRITES);
    let caller = Caller { allow: Effect::Read, ..Caller::default() };
    bench.context = FunctionContext { caller: Arc::new(caller), ..bench.context.clone() };
    denied(&bench, "this call allows reads only");
    let caller = Caller { name: Arc::from("amy"), allow: Effect::Read, ..Caller::default() };
    bench.context = FunctionContext { caller: Arc::new(caller), ..bench.context.clone() };
    denied(&bench, "token or session");
    let bench = Bench::new("[exec]\nallow = \"write\"\n");
    assert_eq!(bench.run(TASK, task())["ok"], true);
    assert_eq!(code(&bench.run("delete_task", json!({"task_id": "t"}))), "PERMISSION_DENIED");
    // The arguments of a call that is denied anyway are not read.
    assert_eq!(code(&bench.run("delete_task", json!({}))), "PERMISSION_DENIED");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_what_would_stop_it() {
    let bench = Bench::new("");
    let answer = bench.exec(json!({"op": TASK, "args": task(), "dry_run": true}));
    assert!(answer["ok"] == true && answer["result"]["would"].is_object(), "{answer}");
    assert_eq!(answer["meta"]["dry_run"], true);
    warned(&answer, "dry_run: false");
    warned(&answer, "would be refused");
    let wrong = bench.exec(json!({"op": TASK, "args": {}, "dry_run": true}));
    assert_eq!(code(&wrong), "VALIDATION_ERROR");
    // A tool with a large effect does so by itself.
    let bench = Bench::new(WRITES);
    assert!(bench.run("reorganize", json!({}))["result"]["would"].is_object());
    assert_eq!(bench.exec(json!({"op": "reorganize", "args": {}, "dry_run": false}))["result"], "done");
    // Nobody is asked about what is not run.
    let answer = bench.exec(json!({"op": "pay", "args": {"amount": 7}, "dry_run": true}));
    assert_eq!(answer["ok"], true, "{answer}");
}

#[test]
fn roles_decide_what_is_there() {
    let bench = Bench::of(TOOLS, WRITES, Some(&[]));
    assert_eq!(code(&bench.run("admin.wipe", json!({}))), "PERMISSION_DENIED");
    let hidden = bench.run("admin.hide", json!({}));
    assert_eq!(code(&hidden), "NOT_FOUND");
    let call = |id: &str| bench.call("call_tool", json!({"tool_id": id}));
    assert_eq!((code(&call("admin.wipe")), code(&call("admin.hide"))), ("NOT_AUTHORIZED", "TOOL_NOT_FOUND"));
    let admin = Bench::of(TOOLS, WRITES, Some(&["admin".to_string()]));
    assert_eq!(admin.run("admin.hide", json!({}))["ok"], true);
}

#[test]
fn split_functions_run_their_half() {
    let bench = Bench::new(WRITES);
    let read = |input| bench.call("tool_exec_read", input);
    assert_eq!(read(json!({"op": "tasks", "args": {}}))["ok"], true);
    assert_eq!(code(&read(json!({"op": TASK, "args": task()}))), "PERMISSION_DENIED");
    assert_eq!(bench.call("tool_exec_write", json!({"op": TASK, "args": task()}))["ok"], true);
}

#[test]
fn calls_without_a_schema_go_as_far_as_their_mode() {
    let bench = Bench::new(WRITES).in_session("s");
    let answer = bench.run("free_read", json!({"any": [1]}));
    assert_eq!((&answer["result"], &answer["meta"]["validated"]), (&json!(1), &json!(false)));
    assert_eq!(answer["meta"]["no_schema_mode"], "read-only");
    assert_eq!(code(&bench.run("free_write", json!({}))), "PERMISSION_DENIED");
    assert_eq!(bench.run("free_full", json!({}))["result"], 3);
    assert_eq!(code(&bench.run("free_ask", json!({}))), "APPROVAL_REQUIRED");
    bench.wait(bench.state.flush()).unwrap();
    let events = bench.wait(bench.state.events(&EventQuery { limit: 100, ..EventQuery::default() })).unwrap();
    let full = events.iter().find(|event| event.op.as_deref() == Some("util.free.full")).unwrap();
    assert_eq!((full.validated, full.no_schema_mode.as_deref()), (Some(false), Some("full")));
}

#[test]
fn a_doc_that_has_to_be_read_comes_with_the_refusal() {
    let config = "[exec]\nallow = \"destructive\"\nrequire_doc = \"write\"\n";
    let bench = Bench::new(config);
    assert_eq!(bench.run("tasks", json!({}))["ok"], true);
    let refused = bench.run(TASK, task());
    assert_eq!(code(&refused), "DOC_REQUIRED");
    let receipt = &refused["error"]["help"]["receipt"];
    assert!(receipt.is_string(), "{refused}");
    // Without a session only the receipt counts.
    assert_eq!(code(&bench.run(TASK, task())), "DOC_REQUIRED");
    let with = |receipt: &Value| bench.exec(json!({"op": TASK, "args": task(), "receipt": receipt}));
    assert_eq!(with(receipt)["ok"], true);
    assert_eq!(code(&with(&json!("000000"))), "DOC_REQUIRED");
    // The doc itself carries the same receipt.
    let doc = bench.call("read_tool_doc", json!({"name": TASK}));
    assert!(doc.to_string().contains(receipt.as_str().unwrap()), "{doc}");
    // In a session the refusal itself was the reading.
    let bench = Bench::new(config).in_session("s");
    assert_eq!(code(&bench.run(TASK, task())), "DOC_REQUIRED");
    assert_eq!(bench.run(TASK, task())["ok"], true);
}

#[test]
fn a_person_approves_a_call_once() {
    let bench = Bench::new(WRITES).in_session("s");
    let call = || bench.run("pay", json!({"amount": 7, "password": "s3cret"}));
    let waiting = call();
    assert_eq!(code(&waiting), "APPROVAL_REQUIRED");
    let id = waiting["error"]["details"]["approval"]["id"].as_str().unwrap().to_string();
    // Nobody else can approve a call whose state is in memory.
    assert!(waiting["error"]["next_action"].as_str().unwrap().contains("in memory"), "{waiting}");
    assert_eq!(call()["error"]["details"]["approval"]["id"], id, "it waits already");
    let queue = bench.wait(bench.state.approvals(true)).unwrap();
    assert_eq!((queue.len(), queue[0].arguments["amount"].clone()), (1, json!(7)));
    assert!(!queue[0].arguments.to_string().contains("s3cret"), "{:?}", queue[0]);
    let decided = bench.wait(bench.state.decide_approval(&id, true, None)).unwrap().unwrap().0;
    assert_eq!(decided.status, ApprovalStatus::Approved);
    assert_eq!(bench.run("pay", json!({"amount": 8}))["error"]["code"], "APPROVAL_REQUIRED", "another call");
    assert_eq!(call()["result"], "paid");
    let again = call();
    assert_eq!(code(&again), "APPROVAL_REQUIRED", "a yes is for one run");
    let id = again["error"]["details"]["approval"]["id"].as_str().unwrap().to_string();
    bench.wait(bench.state.decide_approval(&id, false, Some("too much"))).unwrap();
    let denied = call();
    assert_eq!(code(&denied), "PERMISSION_DENIED");
    assert!(denied["error"]["message"].as_str().unwrap().contains("too much"), "{denied}");
}
