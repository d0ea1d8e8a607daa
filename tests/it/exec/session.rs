//! What a session adds: answers that grow stronger, what it is about, keys that run once, and the trace.

use serde_json::{Value, json};
use toolcrib::state::{EventKind, Events, State};

use super::{Bench, WRITES, code, warned};

fn task() -> Value {
    json!({"project_id": "p", "title": "Buy nails"})
}

#[test]
fn the_same_mistake_never_gets_the_same_answer_three_times() {
    let bench = Bench::new(WRITES).in_session("s");
    let mut texts = std::collections::BTreeSet::new();
    for turn in 1..=6 {
        let answer = bench.run("create_task", json!({}));
        let error = &answer["error"];
        assert_eq!(code(&answer), if turn < 3 { "VALIDATION_ERROR" } else { "LOOP_STOPPED" }, "{turn}");
        assert_eq!(error["help"].is_object(), turn >= 2, "{answer}");
        assert!(error["example"]["args"].is_object(), "{answer}");
        assert!(texts.insert(error.to_string()), "{turn}: {answer}");
    }
    // In another session, or without one, nothing was counted.
    let other = bench.call_in(&bench.session("t"), "tool_exec", json!({"op": "create_task", "args": {}}));
    assert_eq!(code(&other), "VALIDATION_ERROR");
    let bench = Bench::new(WRITES);
    for _ in 0..4 {
        assert_eq!(code(&bench.run("create_task", json!({}))), "VALIDATION_ERROR");
    }
}

#[test]
fn other_mistakes_with_one_op_bring_its_whole_doc() {
    let bench = Bench::new(WRITES).in_session("s");
    for turn in 1..=4 {
        let answer = bench.run("create_task", json!({"title": turn}));
        assert_eq!(code(&answer), "VALIDATION_ERROR");
        assert_eq!(answer["error"]["help"].is_object(), turn >= 3, "{turn}: {answer}");
        assert_eq!(
            answer["error"]["next_action"].as_str().unwrap().contains(&format!("{turn} times")),
            turn >= 3
        );
    }
}

#[test]
fn an_unknown_op_is_stopped_too() {
    let bench = Bench::new(WRITES).in_session("s");
    let answers: Vec<Value> = (0..4).map(|_| bench.run("onto.nothing", json!({}))).collect();
    let codes: Vec<&str> = answers.iter().map(code).collect();
    assert_eq!(codes, ["NOT_FOUND", "NOT_FOUND", "LOOP_STOPPED", "LOOP_STOPPED"]);
    assert_ne!(answers[2]["error"], answers[3]["error"]);
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
    // What was refused has not used a key, and reads want none.
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
    bench.wait(bench.state.decide(&id, true, None)).unwrap();
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
    let events = bench.wait(bench.state.events(&Events { limit: 100, ..Events::default() })).unwrap();
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
    let events = bench.wait(bench.state.events(&Events { limit: 100, ..Events::default() })).unwrap();
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
