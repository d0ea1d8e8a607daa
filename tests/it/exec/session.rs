//! Sessions: the context, keys that run once, and the trace.

use serde_json::{Value, json};
use toolcrib::state::{EventKind, EventQuery};

use super::{Bench, WRITES, code, warned};

fn task() -> Value {
    json!({"project_id": "p", "title": "Buy nails"})
}

#[test]
fn arguments_that_were_not_taken_apart_are_not_written_down() {
    let bench = Bench::new(WRITES).in_session("s");
    for args in [json!("{\"password\": \"s3cret"), json!(["s3cret"]), json!("{\"password\": \"s3cret\"}")] {
        bench.run("create_task", args.clone());
        bench.run("no.such.op", args);
    }
    bench.exec(json!({"op": {"password": "s3cret"}}));
    bench.run("no Bearer s3cret-s3cret", json!({}));
    bench.run("create_task", json!({"project_id": "p", "title": "call with Bearer s3cret-s3cret"}));
    bench.wait(bench.state.flush()).unwrap();
    let events = bench.wait(bench.state.events(&EventQuery { limit: 100, ..EventQuery::default() })).unwrap();
    assert!(events.len() >= 9 && !format!("{events:?}").contains("s3cret"), "{events:#?}");
    assert!(
        events.iter().any(|event| event.input == json!({"text": "20 characters, not JSON"})),
        "{events:#?}"
    );
}

#[test]
fn a_key_runs_its_write_once() {
    let bench = Bench::new(WRITES).in_session("s");
    let keyed = |key: &str, args: Value| {
        bench.exec(json!({"op": "create_task", "args": args, "idempotency_key": key}))
    };
    let first = keyed("k", task());
    assert_eq!(first["ok"], true, "{first}");
    warned(&first, "memory only");
    let again = keyed("k", json!({"title": "Buy nails", "projectId": "p"}));
    assert_eq!((&again["result"], &again["meta"]["replayed"]), (&first["result"], &json!(true)), "{again}");
    assert_ne!(again["meta"]["trace_id"], first["meta"]["trace_id"]);
    let other = keyed("k", json!({"project_id": "p", "title": "Buy screws"}));
    assert_eq!(code(&other), "CONFLICT", "{other}");
    assert_eq!(
        code(&bench.exec(json!({"op": "delete_task", "args": {"task_id": "x"}, "idempotency_key": "k"}))),
        "CONFLICT"
    );
    // A refused call has not used its key, and reads need none.
    assert_eq!(code(&keyed("m", json!({}))), "VALIDATION_ERROR");
    assert_eq!(keyed("m", task())["meta"].get("replayed"), None);
    let read = || bench.exec(json!({"op": "tasks", "args": {}, "idempotency_key": "k"}));
    assert_eq!((read()["ok"].clone(), read()["meta"].get("replayed")), (json!(true), None));
}

#[test]
fn a_call_that_waits_for_a_person_has_not_used_its_key() {
    let bench = Bench::new(WRITES);
    let call = || bench.exec(json!({"op": "pay", "args": {"amount": 7}, "idempotency_key": "k"}));
    let waiting = call();
    let id = waiting["error"]["details"]["approval"]["id"].as_str().unwrap().to_string();
    bench.wait(bench.state.decide_approval(&id, true, None)).unwrap();
    assert_eq!(call()["result"], "paid");
    assert_eq!((call()["result"].clone(), call()["meta"]["replayed"].clone()), (json!("paid"), json!(true)));
}

#[test]
fn a_result_changes_what_the_session_is_about() {
    let bench = Bench::new("").in_session("s");
    assert_eq!(bench.run("tasks", json!({}))["meta"].get("context"), None);
    let opened = bench.run("open_project", json!({}));
    assert_eq!(opened["meta"]["context"], json!({"id": "proj_atlas"}));
    assert_eq!(bench.run("tasks", json!({}))["meta"]["context"], json!({"id": "proj_atlas"}));
    let other = bench.call_in(&bench.session("t"), "tool_exec", json!({"op": "tasks", "args": {}}));
    assert_eq!(other["meta"].get("context"), None);
    bench.wait(bench.state.flush()).unwrap();
    let events = bench.wait(bench.state.events(&EventQuery { limit: 100, ..EventQuery::default() })).unwrap();
    let shifts: Vec<_> = events.iter().filter(|event| event.kind == EventKind::ContextShift).collect();
    assert_eq!((shifts.len(), &shifts[0].detail["context"]["id"]), (1, &json!("proj_atlas")));
}

#[test]
fn every_call_is_written_down_without_secrets() {
    let bench = Bench::new(WRITES).in_session("s");
    let answer = bench.run(
        "create_task",
        json!({"project_id": "p", "title": "Buy nails", "api_token": "s3cret-s3cret-s3cret-s3cret"}),
    );
    assert_eq!(answer["ok"], true, "{answer}");
    bench.run("create_task", json!({"api_token": "s3cret"}));
    bench.run("nothing.at.all", json!({}));
    bench.exec(json!({"op": "create_task", "args": task(), "dry_run": true}));
    bench.exec(json!(7));
    bench.wait(bench.state.flush()).unwrap();
    let events = bench.wait(bench.state.events(&EventQuery { limit: 100, ..EventQuery::default() })).unwrap();
    let calls: Vec<_> = events.iter().filter(|event| event.kind == EventKind::Call).collect();
    let outcomes: Vec<&str> = calls.iter().map(|event| event.outcome.as_str()).collect();
    assert_eq!(outcomes, ["ok", "VALIDATION_ERROR", "NOT_FOUND", "ok", "VALIDATION_ERROR"]);
    let first = calls[0];
    assert_eq!(first.trace_id, answer["meta"]["trace_id"].as_str().unwrap());
    assert_eq!(
        (first.session.as_deref(), first.op.as_deref(), first.tool.as_deref()),
        (Some("s"), Some("onto.task.create"), Some("create_task"))
    );
    assert_eq!((first.validated, first.dry_run, calls[3].dry_run), (Some(true), false, true));
    assert!(!format!("{calls:?}").contains("s3cret"), "{calls:#?}");
}

#[test]
fn a_call_in_the_trace_says_what_its_caller_saw() {
    let bench = Bench::new("[profile.planner]\ninclude = [\"*\"]\n").in_session("s");
    let doc = bench.call("read_tool_doc", json!({"name": "tasks"}));
    bench.run("tasks", json!({}));
    bench.run("nothing", json!({}));
    let wanted = EventQuery { session: Some("s".into()), ..EventQuery::default() };
    let events = bench.wait(bench.state.events(&wanted)).unwrap();
    let calls: Vec<_> = events.iter().filter(|event| event.kind == EventKind::Call).collect();
    for call in &calls {
        assert_eq!(call.profile.as_deref(), Some("planner"));
        assert_eq!(call.registry_version.as_deref(), doc["meta"]["registry_version"].as_str());
    }
    assert_eq!(calls[0].doc_version.as_deref(), doc["docs"][0]["doc_version"].as_str());
    assert_eq!((calls.len(), &calls[1].doc_version), (2, &None));
}
