//! Arguments that are not where or what they should be: read where that is unambiguous, and said.

use serde_json::{Value, json};

use super::{Bench, WRITES, code, warned};

/// Inputs that all mean the same call, and a word of what is said about each.
fn meant() -> Vec<(Value, &'static str)> {
    let args = json!({"project_id": "p", "title": "Buy nails"});
    vec![
        (json!({"op": "create_task", "args": args.to_string()}), "JSON text"),
        (json!({"op": "create_task", "args": json!(args.to_string()).to_string()}), "JSON text"),
        (json!({"op": "create_task", "args": {"args": args}}), "too deep"),
        (json!({"op": "create_task", "args": {"arguments": args}}), "too deep"),
        (json!({"op": "create_task", "args": {"arguments": args.to_string()}}), "too deep"),
        (json!({"op": "create_task", "arguments": args}), "`arguments` was read as `args`"),
        (json!({"arguments": {"op": "create_task", "args": args}}), "too deep"),
        (json!({"op": "create_task", "project_id": "p", "title": "Buy nails"}), "beside `args`"),
        (json!({"op": "create_task", "args": {"project_id": "p"}, "title": "Buy nails"}), "beside `args`"),
        (json!({"tool": "create_task", "args": args}), "`tool` was read as `op`"),
        (
            json!({"op": "create_task", "args": {"projectId": "p", "title": "Buy nails"}}),
            "`projectId` was read as `project_id`",
        ),
        (
            json!({"op": "create_task", "args": {"Project-ID": "p", "titel": "Buy nails"}}),
            "`titel` was read as `title`",
        ),
        (
            json!({"op": "create_task", "args": {"args": {"projectid": "p", "title": "Buy nails"}}}),
            "`projectid` was read as `project_id`",
        ),
        (
            json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails", "state_key": "In Progress"}}),
            "read as `in_progress`",
        ),
        (
            json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails", "place": {"roomNo": 3}}}),
            "`place/roomNo` was read as `room_no`",
        ),
        (
            json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails", "place": {"room_no": "3"}}}),
            "`place/room_no` was text",
        ),
        (
            json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails", "state_key": null}}),
            "was null",
        ),
        (json!({"op": "create_task", "args": args, "dryRun": "false"}), "`dryRun` was read as `dry_run`"),
    ]
}

#[test]
fn what_can_only_mean_one_call_is_read_as_that_and_told() {
    let bench = Bench::new(WRITES);
    for (input, words) in meant() {
        let answer = bench.exec(input.clone());
        assert_eq!(answer["result"]["id"], "task_9", "{input}: {answer}");
        warned(&answer, words);
    }
}

#[test]
fn what_is_ambiguous_is_refused_with_a_call_that_fits() {
    let bench = Bench::new(WRITES);
    for args in [
        json!({"projectId": "p", "project-id": "q", "title": "Buy nails"}),
        json!({"project_id": "p", "projectId": "q", "title": "Buy nails"}),
        json!({"project_id": "p", "title": "x"}),
        json!({"project_id": "p", "title": "Buy nails", "state_key": "dun"}),
        json!({"project_id": "p", "title": ["Buy nails"]}),
        json!([1]),
        json!("not json"),
    ] {
        let answer = bench.run("create_task", args.clone());
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{args}");
        let again = bench.exec(answer["error"]["example"].clone());
        assert_eq!(again["ok"], true, "{args}: {answer} {again}");
        assert_eq!(again["meta"]["warnings"], json!([]), "{again}");
    }
    let answer = bench
        .exec(json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails"}, "colour": 1}));
    assert_eq!(answer["error"]["details"]["field_errors"][0]["pointer"], "/colour");
}

#[test]
fn nothing_is_deleted_on_a_guess() {
    let bench = Bench::new(WRITES);
    assert_eq!(bench.run("delete_task", json!({"taskId": "t"}))["result"], "gone");
    assert_eq!(code(&bench.run("delete_task", json!({"task_idd": "t"}))), "VALIDATION_ERROR");
    assert_eq!(code(&bench.exec(json!({"op": "delete_task", "taskId": "t"}))), "VALIDATION_ERROR");
    assert_eq!(bench.exec(json!({"op": "delete_task", "task_id": "t"}))["result"], "gone");
}

#[test]
fn open_schemas_take_what_they_do_not_know_and_say_so() {
    let bench = Bench::new("");
    let answer = bench.run("open_note", json!({"noteId": "n"}));
    warned(&answer, "`noteId` was read as `note_id`");
    let answer = bench.run("open_note", json!({"note_id": "n", "colour": 1}));
    warned(&answer, "`colour` is no argument");
    // Its own argument is called like a wrapper.
    assert_eq!(bench.run("open_note", json!({"args": "x"}))["meta"]["warnings"], json!([]));
}

#[test]
fn calls_without_arguments_are_not_run_where_some_are_needed() {
    let bench = Bench::new(WRITES);
    for input in [
        json!({"op": "create_task"}),
        json!({"op": "create_task", "args": {}}),
        json!({"op": "create_task", "args": null}),
        json!({"op": "create_task", "args": ""}),
    ] {
        let answer = bench.exec(input);
        assert_eq!(code(&answer), "VALIDATION_ERROR");
        let error = &answer["error"];
        assert_eq!(
            error["example"],
            json!({"op": "onto.task.create", "args": {"project_id": "proj_atlas", "title": "Draft pricing"}})
        );
        assert_eq!(error["details"]["field_errors"][0]["expected"], "string");
        assert!(error["message"].as_str().unwrap().contains("without arguments"), "{error}");
    }
    assert_eq!(bench.exec(json!({"op": "onto.task.list"}))["ok"], true);
}
