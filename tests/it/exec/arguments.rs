//! Arguments that are not where or what they should be: read where that is unambiguous, and said.

use serde_json::{Value, json};

use super::{Bench, WRITES, code, warned};

/// Inputs that all mean the same call, and a word of what is said about each.
fn meant() -> Vec<(Value, &'static str)> {
    let args = json!({"project_id": "p", "title": "Buy nails"});
    vec![
        (json!({"op": "create_task", "args": args.to_string()}), "JSON text"),
        (json!({"op": "create_task", "args": json!(args.to_string()).to_string()}), "JSON text"),
        (json!({"op": "create_task", "args": format!("{{}}{args}{args}\n\nDone.")}), "among other text"),
        (
            json!({"op": "create_task", "args": "{'project_id': 'p', 'title': \"Buy nails\", 'state_key': None,}"}),
            "not quite JSON",
        ),
        (json!({"op": "create_task", "args": format!("```json\n{args:#}\n```")}), "JSON text"),
        (json!(format!("```json\n{}\n```", json!({"op": "create_task", "args": args}))), "JSON text"),
        (json!({"op": "functions.Create_Task", "args": args}), "was read as `onto.task.create`"),
        (json!({"op": "mcp__toolcrib__create_task", "args": args}), "was read as `onto.task.create`"),
        (json!({"op": "create_task<|channel|>commentary", "args": args}), "was read as `onto.task.create`"),
        (json!({"op": "functions.create_task:3", "args": args}), "was read as `onto.task.create`"),
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
fn a_call_that_is_cut_off_or_holds_several_is_refused_by_every_function() {
    let bench = Bench::new(WRITES);
    let one = r#"{"project_id":"p","title":"Buy nails"}"#;
    for (text, said) in [
        (&one[..20], "cut off after 20 characters"),
        (&format!("{one}{{\"title\":\"x\"}}"), "several JSON objects"),
    ] {
        for (function, input) in [
            ("tool_exec", json!({"op": "create_task", "args": text})),
            ("tool_batch", json!({"calls": [{"op": "create_task", "args": text}]})),
        ] {
            let answer = bench.call(function, input);
            let answer = if function == "tool_batch" { &answer["results"][0] } else { &answer };
            assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
            assert_eq!(answer["error"]["example"]["op"], "onto.task.create", "{answer}");
        }
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
    let one = r#"{"task_id":"t"}"#;
    assert_eq!(bench.run("delete_task", json!(format!("{one}{one}")))["result"], "gone");
    for text in [format!("{one}{}", r#"{"task_id":"u"}"#), format!("{one} or not")] {
        let answer = bench.run("delete_task", json!(text));
        assert_eq!(code(&answer), "VALIDATION_ERROR");
        assert!(answer["error"]["message"].as_str().unwrap().contains("several JSON objects"), "{answer}");
    }
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

/// Tools with one argument of this schema, `id`.
fn with_id(effect: &str, id: Value) -> Bench {
    let tools = json!([{"name": "get_order", "op": "shop.order.get", "effect": effect, "description": "Get an order.",
        "parameters": {"type": "object", "properties": {"id": id, "note": {"type": "string"}}, "required": ["id"], "additionalProperties": false},
        "backend": {"type": "static", "content": "done"}}]);
    Bench::of(&tools.to_string(), WRITES, None)
}

#[test]
fn a_number_for_a_text_becomes_its_digits_and_is_told() {
    for (schema, given, digits) in [
        (json!({"type": "string"}), json!(12345), "12345"),
        (json!({"type": "string"}), json!(u64::MAX), "18446744073709551615"),
        (json!({"type": "string"}), json!(-7), "-7"),
        (json!({"type": ["string", "null"]}), json!(12345), "12345"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!(12345), "12345"),
        (json!({"type": "string", "pattern": "^[0-9]{5}$"}), json!(12345), "12345"),
        (json!({"type": "string", "enum": ["1", "2"]}), json!(2), "2"),
        (json!({"enum": ["1", "2"]}), json!(2), "2"),
    ] {
        for effect in ["read", "destructive"] {
            let bench = with_id(effect, schema.clone());
            let call = json!({"op": "shop.order.get", "args": {"id": given}, "dry_run": true});
            let answer = bench.exec(call);
            assert_eq!(answer["result"]["would"]["backend"], "static", "{schema}: {answer}");
            warned(&answer, "`id` was not text, and was read as text with the same characters");
            let told = bench.call("call_tool", json!({"tool_id": "get_order", "arguments": {"id": given}}));
            assert_eq!(told["repaired"], json!([{"pointer": "/id", "repair": "as-text"}]), "{told}");
            let arguments = bench.call("tool_exec", json!({"op": "shop.order.get", "args": {"id": digits}}));
            assert_eq!(arguments["meta"]["warnings"], json!([]), "{arguments}");
        }
    }
    let listed = with_id("read", json!({"type": "array", "items": {"type": "string"}}));
    warned(&listed.run("get_order", json!({"id": [1, "b", 3]})), "`id/2` was not text");
}

#[test]
fn a_format_is_a_hint_and_other_limits_are_checked() {
    let schema = json!({"type": "string", "format": "uuid", "minLength": 24, "maxLength": 24});
    let bench = with_id("read", schema);
    let sent = bench.run("get_order", json!({"id": "536e564f316c83104c000020"}));
    assert_eq!(sent["ok"], true, "{sent}");
    assert_eq!(code(&bench.run("get_order", json!({"id": "short"}))), "VALIDATION_ERROR");
    let draft = "http://json-schema.org/draft-07/schema#";
    for format in ["time", "date-time", "uri", "email", "ipv4", "regex"] {
        let schema =
            json!({"$schema": draft, "type": "string", "format": format, "contentEncoding": "base64"});
        let sent = with_id("read", schema).run("get_order", json!({"id": "09:00 (:"}));
        assert_eq!(sent["ok"], true, "{format}: {sent}");
    }
    let forms = ["uuid", "email"].map(|format| json!({"type": "string", "format": format}));
    let sent = with_id("read", json!({"oneOf": forms})).run("get_order", json!({"id": "a@b.c"}));
    assert_eq!(sent["ok"], true, "{sent}");
}

#[test]
fn a_number_stays_one_where_numbers_fit_too_or_its_digits_do_not() {
    for (schema, given) in [
        (json!({"type": ["string", "integer"], "minimum": 5}), json!(3)),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 5}]}), json!(3)),
        (json!({"enum": ["1", 2]}), json!(1)),
        (json!({"type": "string", "pattern": "^#"}), json!(3)),
        (json!({"type": "string", "enum": ["a", "b"]}), json!(3)),
        (json!({"type": "string", "minLength": 5}), json!(3)),
        // 1.10 and 1.1 are the same number, and not the same text.
        (json!({"type": "string"}), json!(1.1)),
        (json!({"type": "string"}), json!(true)),
        (json!({"type": "string"}), json!({"a": 1})),
    ] {
        let answer = with_id("read", schema.clone()).run("get_order", json!({"id": given}));
        assert_eq!(code(&answer), "VALIDATION_ERROR", "{schema}: {answer}");
    }
    let flag = with_id("read", json!({"type": "string", "enum": ["true", "false", "auto"]}));
    warned(&flag.run("get_order", json!({"id": true})), "`id` was not text");
}
