//! The corrected call of a refusal: it says what the failed one said beside its arguments, and makes nothing up unsaid.

use serde_json::{Value, json};

use super::{Bench, WRITES, code, warned};

const TOOLS: &str = r#"[
  {"name": "wipe", "op": "onto.item.wipe", "effect": "destructive", "description": "Wipe an item.",
   "parameters": {"type": "object", "properties": {"item_id": {"type": "string"}, "mode": {"enum": ["SOFT", "HARD"]}, "note": {"type": "string"}}, "required": ["item_id"], "additionalProperties": false},
   "examples": [{"arguments": {"item_id": "item_1"}}],
   "backend": {"type": "static", "content": "wiped"}},
  {"name": "reset_all", "op": "onto.item.reset", "effect": "destructive", "description": "Reset all.",
   "parameters": {"type": "object", "properties": {"force": {"type": "boolean"}}},
   "backend": {"type": "static", "content": "reset"}},
  {"name": "add", "op": "onto.item.add", "effect": "write", "description": "Add an item.",
   "parameters": {"type": "object", "properties": {"item_id": {"type": "string"}, "id": {"type": "string"}, "state": {"enum": ["TO_DO", "DONE"]}, "count": {"type": "integer"}}, "required": ["item_id"], "additionalProperties": false},
   "examples": [{"arguments": {"item_id": "item_1"}}],
   "backend": {"type": "static", "content": "added"}},
  {"name": "free", "op": "onto.item.free", "effect": "write", "description": "Takes anything.",
   "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}},
   "backend": {"type": "static", "content": "done"}},
  {"name": "own", "op": "onto.item.own", "effect": "read", "description": "Has a dry run of its own.",
   "parameters": {"type": "object", "properties": {"dry_run": {"type": "boolean"}}, "additionalProperties": false},
   "backend": {"type": "static", "content": "ran"}},
  {"name": "update_item", "op": "onto.item.update", "effect": "write", "description": "Update an item.",
   "parameters": {"type": "object", "properties": {"item_id": {"type": "string"}, "text": {"type": "string"}, "count": {"type": "integer"}}, "required": ["item_id"], "additionalProperties": false},
   "backend": {"type": "static", "content": "updated"}}
]"#;

fn bench() -> Bench {
    Bench::of(TOOLS, WRITES, None)
}

#[test]
fn the_corrected_call_of_a_dry_run_is_a_dry_run_under_the_same_key_in_the_same_session() {
    let bench = bench();
    let mut call = json!({"op": "onto.item.add", "args": {"item_id": "a", "count": "many"}, "dry_run": true,
        "idempotency_key": "k", "receipt": "r", "session": "s"});
    let answer = bench.exec(call.clone());
    let example = &answer["error"]["example"];
    for (field, value) in [("dry_run", json!(true)), ("idempotency_key", json!("k")), ("receipt", json!("r"))]
    {
        assert_eq!(example[field], value, "{answer}");
    }
    assert_eq!(example["session"], "s");
    let again = bench.exec(example.clone());
    assert!(again["result"]["would"].is_object(), "{again}");
    call["op"] = "onto.item.ad".into();
    assert_eq!(bench.exec(call.clone())["error"]["example"]["dry_run"], true);
    // A session that comes from the transport is not repeated in the example.
    call.as_object_mut().unwrap().remove("session");
    let answer = bench.in_session("s").exec(call);
    assert!(answer["error"]["example"].get("session").is_none(), "{answer}");
}

#[test]
fn whatever_looks_like_a_dry_run_is_one() {
    let bench = bench();
    for name in ["dry_run", "dryRun", "dry_rn", "DRY-RUN", "dryrun"] {
        for call in [
            json!({"op": "onto.item.free", "args": {"x": 1, name: true}}),
            json!({"op": "onto.item.free", "args": {"x": 1}, name: true}),
            json!({"op": "onto.item.free", "args": {"args": {"x": 1, name: true}}}),
            json!({"op": "onto.item.free", "args": json!({"x": 1, name: "true"}).to_string()}),
            json!({"op": "onto.item.wipe", "args": {"item_id": "a", name: true}}),
            json!({"op": "onto.item.wipe", "args": {"item_id": "a"}, name: true}),
        ] {
            let answer = bench.exec(call.clone());
            assert!(answer["result"]["would"].is_object(), "{call}: {answer}");
            assert!(!answer["result"].to_string().to_lowercase().contains("run\""), "{answer}");
        }
        let unfit = bench.exec(json!({"op": "onto.item.add", "args": {"item_id": [], name: true}}));
        assert_eq!(unfit["error"]["example"]["dry_run"], true, "{unfit}");
        let unknown = bench.exec(json!({"op": "onto.item.ad", "args": {"item_id": "a", name: true}}));
        assert_eq!(unknown["error"]["example"]["dry_run"], true, "{unknown}");
        assert_eq!(unknown["error"]["example"]["args"], json!({"item_id": "a"}));
    }
    let garbled = bench.run("onto.item.add", json!("{item_id: a, dry_run: true}"));
    assert_eq!(garbled["error"]["example"]["dry_run"], true, "{garbled}");
    // A tool's own property is the tool's.
    let own = bench.run("onto.item.own", json!({"dry_run": true}));
    assert_eq!((&own["result"], own["meta"].get("dry_run")), (&json!("ran"), None), "{own}");
}

#[test]
fn keys_and_receipts_among_the_arguments_are_the_calls() {
    let bench = bench();
    let call = || bench.run("onto.item.free", json!({"x": 1, "idempotency_key": "k", "receipt": "r"}));
    let first = call();
    assert_eq!(first["result"], "done");
    warned(&first, "`idempotency_key` stood among the arguments");
    assert_eq!(call()["meta"]["replayed"], true);
    let wrong = bench.run("onto.item.free", json!({"x": 1, "idempotency_key": 7}));
    assert_eq!(code(&wrong), "VALIDATION_ERROR");
}

#[test]
fn an_example_says_what_is_made_up_and_what_was_left_out() {
    let bench = bench();
    let of = |args: Value| bench.run("onto.item.add", args)["error"].clone();
    let made_up = of(json!({"count": 3}));
    assert_eq!((&made_up["fill_in"], made_up.get("dropped")), (&json!(["/item_id"]), None), "{made_up}");
    assert!(made_up["next_action"].as_str().unwrap().contains("replace the values listed"), "{made_up}");
    assert_eq!(made_up["example"]["args"]["count"], 3);
    let theirs = of(json!({"itemIds": 5, "idd": "x", "state": "doing", "colour": 1}));
    assert_eq!(theirs["example"]["args"], json!({"item_id": "5", "id": "x"}), "{theirs}");
    assert_eq!((theirs.get("fill_in"), theirs["dropped"].as_array().unwrap().len()), (None, 2), "{theirs}");
    let nearest = theirs["nearest"].as_array().unwrap();
    assert!(nearest.contains(&json!("TO_DO")) && nearest.contains(&json!("DONE")), "{theirs}");
    assert_eq!(of(json!({"itemIds": ["a"]}))["example"]["args"]["item_id"], "item_1");
    assert_eq!(bench.run("onto.item.add", json!({"item_id": "a", "state": "to do"}))["ok"], true);
}

#[test]
fn nothing_that_destroys_is_offered_on_a_guess() {
    let bench = bench();
    let of = |args: Value| bench.run("onto.item.wipe", args)["error"].clone();
    for args in
        [json!({}), json!({"item_id": "a", "mode": "har"}), json!({"mode": "HARD"}), json!({"item_id": []})]
    {
        let error = of(args);
        assert!(error.get("example").is_none() && error.get("fill_in").is_none(), "{error}");
    }
    let other = of(json!({"id": "a"}));
    assert!(other["nearest"].as_array().unwrap().contains(&json!("item_id")), "{other}");
    assert!(other.get("example").is_none(), "{other}");
    assert_eq!(of(json!({"itm_id": "a"}))["example"]["args"], json!({"item_id": "a"}));
    let near = bench.run("onto.item.wip", json!({"item_id": "a"}));
    assert_eq!(
        (near["error"]["nearest"][0].as_str(), near["error"].get("example")),
        (Some("onto.item.wipe"), None)
    );
    assert_eq!(bench.run("onto.item.wipe", json!({"item_id": "a", "mode": "hard"}))["result"], "wiped");
}

#[test]
fn no_arguments_are_said_to_what_destroys() {
    let bench = bench();
    for call in [
        json!({"op": "onto.item.reset"}),
        json!({"op": "onto.item.reset", "args": null}),
        json!({"op": "onto.item.reset", "args": ""}),
        json!({"op": "onto.item.reset", "args": " "}),
    ] {
        let answer = bench.exec(call);
        assert_eq!(code(&answer), "VALIDATION_ERROR");
        assert!(answer["error"]["next_action"].as_str().unwrap().contains("args: {}"), "{answer}");
    }
    assert_eq!(bench.run("onto.item.reset", json!({}))["result"], "reset");
}

#[test]
fn a_null_is_not_nothing_where_that_does_harm() {
    let bench = bench();
    let answer = bench.run("onto.item.wipe", json!({"item_id": "a", "note": null}));
    assert_eq!(
        (code(&answer), &answer["error"]["details"]["field_errors"][0]["pointer"]),
        ("VALIDATION_ERROR", &json!("/note"))
    );
    let empty = bench.run("onto.item.update", json!({"item_id": "a", "text": null}));
    assert_eq!(code(&empty), "VALIDATION_ERROR", "{empty}");
    let rest = bench.run("onto.item.update", json!({"item_id": "a", "text": null, "count": 3}));
    warned(&rest, "`text` was null");
}

#[test]
fn an_integer_that_cannot_be_held_is_refused() {
    let bench = bench();
    let input: Value = serde_json::from_str(
        r#"{"op": "onto.item.add", "args": {"item_id": "a", "count": 123456789012345678901234567890}}"#,
    )
    .unwrap();
    let answer = bench.exec(input);
    assert_eq!(code(&answer), "VALIDATION_ERROR", "{answer}");
    assert!(answer["error"]["next_action"].as_str().unwrap().contains("as text"), "{answer}");
    assert_eq!(bench.run("onto.item.add", json!({"item_id": "a", "count": u64::MAX}))["ok"], true);
}

#[test]
fn an_op_may_be_spelled_as_help_takes_it_but_not_to_destroy() {
    let bench = bench();
    for op in ["Onto.Item.Free", "onto/item/free"] {
        let answer = bench.run(op, json!({"x": 1}));
        assert_eq!(answer["result"], "done", "{answer}");
        warned(&answer, "was read as `onto.item.free`");
    }
    assert_eq!(bench.run("ONTO.item.wipe", json!({"item_id": "a"}))["result"], "wiped");
    assert_eq!(code(&bench.run("onto/item/wipe", json!({"item_id": "a"}))), "NOT_FOUND");
}

#[test]
fn an_unknown_argument_stays_in_a_corrected_call_only_where_the_schema_says_that_it_is_open() {
    let tools = |open: &str| {
        format!(
            r#"[{{"name": "note", "op": "onto.note.make", "effect": "write", "description": "Make a note.",
              "parameters": {{"type": "object", "properties": {{"x": {{"type": "integer"}}}}, "required": ["x"]{open}}},
              "backend": {{"type": "static", "content": "made"}}}}]"#
        )
    };
    let of = |open: &str| {
        let answer = Bench::of(&tools(open), WRITES, None).run("note", json!({"x": "many", "colour": "red"}));
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{answer}");
        answer["error"].clone()
    };
    for open in [r#", "additionalProperties": true"#, r#", "additionalProperties": {"type": "string"}"#] {
        let error = of(open);
        assert_eq!(error["example"]["args"]["colour"], "red", "{error}");
        assert_eq!(error["details"]["unnamed"], json!(["/colour"]), "{error}");
        assert!(error["next_action"].as_str().unwrap().contains("does not describe"), "{error}");
    }
    for closed in ["", r#", "additionalProperties": false"#] {
        let error = of(closed);
        assert_eq!(error["example"]["args"].get("colour"), None, "{error}");
        assert!(error["dropped"].as_array().unwrap().contains(&json!("/colour")), "{error}");
        assert_eq!(error["details"].get("unnamed"), None, "{error}");
    }
}

#[test]
fn no_id_is_invented_for_a_corrected_call() {
    let tool = |id: &str, examples: &str| {
        let tools = format!(
            r#"[{{"name": "move_task", "op": "onto.task.move", "effect": "write", "description": "Move a task.",
              "parameters": {{"type": "object", "properties": {{"task_id": {id}, "to": {{"type": "string"}}}},
                "required": ["task_id", "to"], "additionalProperties": false}}, {examples}
              "backend": {{"type": "static", "content": "moved"}}}}]"#
        );
        let answer = Bench::of(&tools, WRITES, None).run("move_task", json!({"to": "done"}));
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{answer}");
        answer["error"].clone()
    };
    let error = tool(r#"{"type": "string"}"#, "");
    assert_eq!(error["example"]["args"], json!({"task_id": "<task_id>", "to": "done"}), "{error}");
    assert_eq!(error["fill_in"], json!(["/task_id"]));
    let error = tool(r#"{"type": "string", "format": "uuid"}"#, "");
    assert_eq!(error["example"]["args"]["task_id"], "<task_id>", "{error}");
    // An id that takes no marker is left to the caller.
    for id in [r#"{"type": "string", "pattern": "^[0-9a-f]+$"}"#, r#"{"type": "integer"}"#] {
        let error = tool(id, "");
        assert_eq!(error.get("example"), None, "{error}");
        assert_eq!(error["details"]["field_errors"][0]["pointer"], "/task_id");
    }
    let authored = r#""examples": [{"arguments": {"task_id": "task_7", "to": "x"}}],"#;
    assert_eq!(tool(r#"{"type": "string"}"#, authored)["example"]["args"]["task_id"], "task_7");
}

#[test]
fn a_single_value_for_a_list_is_kept_as_its_only_item() {
    let list = |items: Value| json!({"type": "array", "items": items});
    let text = || json!({"type": "string"});
    let person = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    for (schema, given, expected) in [
        (list(text()), json!("bug"), json!(["bug"])),
        (list(text()), json!("bug, help wanted"), json!(["bug, help wanted"])),
        (list(text()), json!(7), json!(["7"])),
        (list(json!({"type": "integer"})), json!(7), json!([7])),
        (list(json!({"type": "integer"})), json!("7"), json!([7])),
        (list(json!({"enum": ["BUG", "CHORE"]})), json!("bug"), json!(["BUG"])),
        (list(person), json!({"name": "Ada"}), json!([{"name": "Ada"}])),
        (json!({"anyOf": [list(text()), {"type": "null"}]}), json!("bug"), json!(["bug"])),
        (json!({"anyOf": [list(json!({"type": "integer"})), {"type": "null"}]}), json!(7), json!([7])),
    ] {
        let tools = json!([{"name": "label", "op": "repo.issue.label", "effect": "destructive", "description": "Label an issue.",
            "parameters": {"type": "object", "properties": {"labels": schema, "issue": {"type": "integer"}}, "required": ["labels", "issue"], "additionalProperties": false},
            "examples": [{"arguments": {"labels": [], "issue": 1}}],
            "backend": {"type": "static", "content": "labelled"}}]);
        let bench = Bench::of(&tools.to_string(), WRITES, None);
        let answer = bench.run("label", json!({"labels": given, "issue": 4}));
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{answer}");
        let error = &answer["error"];
        assert_eq!(error["example"]["args"], json!({"labels": expected, "issue": 4}), "{given}: {error}");
        assert_eq!((error.get("fill_in"), error.get("dropped")), (None, None), "{error}");
        assert_eq!(bench.exec(error["example"].clone())["ok"], true);
    }
}
