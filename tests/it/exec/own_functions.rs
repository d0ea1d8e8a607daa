//! Functions of ours as ops, in the spellings of documents, and the help path of every error.

use serde_json::{Value, json};

use super::{Bench, TOOLS, WRITES, check, code, warned};

/// A call of each function that reads.
fn reads() -> Vec<(&'static str, Value)> {
    vec![
        ("read_tool_doc", json!({"name": "create_task"})),
        ("tool_search", json!({"query": "create a task", "format": "json"})),
        ("tool_help", json!({"path": "onto.task.create"})),
        ("list", json!({})),
        ("search_nodes", json!({"query": "tasks"})),
        ("search_tool_by_category", json!({"query": "create a task"})),
        ("expand_tool", json!({"tool_id": "create_task"})),
        ("pick", json!({"input": "create a task"})),
    ]
}

/// The answer of a function without `ok` and `meta`.
fn fields(mut answer: Value) -> Value {
    let fields = answer.as_object_mut().unwrap();
    fields.remove("ok");
    fields.remove("meta");
    answer
}

#[test]
fn a_function_that_reads_is_an_op_of_tool_exec_and_of_a_batch() {
    let bench = Bench::new("");
    for (function, args) in reads() {
        let direct = fields(bench.call(function, args.clone()));
        for op in [function.to_string(), function.replace('_', "."), function.to_uppercase()] {
            let answer = bench.run(&op, args.clone());
            assert_eq!((&answer["op"], &answer["result"]), (&json!(function), &direct), "{answer}");
        }
        let batch = bench.call(
            "tool_batch",
            json!({"calls": [{"exec": function, "args": args}, {"function": function, "input": args}]}),
        );
        assert_eq!(batch["results"][0]["result"], direct, "{batch}");
        for (name, value) in direct.as_object().unwrap() {
            assert_eq!(&batch["results"][1][name], value, "{batch}");
        }
    }
    // Arguments as models write them.
    for input in [
        json!({"op": "read_tool_doc", "args": "{\"name\": \"create_task\"}"}),
        json!({"op": "read_tool_doc", "arguments": {"name": "create_task"}}),
        json!({"op": "read_tool_doc", "name": "create_task"}),
    ] {
        assert_eq!(bench.exec(input)["result"]["docs"][0]["name"], "create_task");
    }
    for function in ["tool_exec_read", "tool_exec_write"] {
        let call = json!({"op": "read_tool_doc", "args": {"name": "create_task"}});
        assert_eq!(bench.call(function, call)["ok"], true);
    }
    let dry = bench.exec(json!({"op": "tool_help", "args": {}, "dry_run": true}));
    warned(&dry, "changes nothing");
}

#[test]
fn a_function_as_an_op_earns_the_receipt_and_leaves_a_trace() {
    let bench = Bench::new("[exec]\nallow = \"write\"\nrequire_doc = \"write\"\n").in_session("s");
    let create = json!({"project_id": "p", "title": "Buy nails"});
    assert_eq!(bench.run("read_tool_doc", json!({"name": "create_task"}))["ok"], true);
    assert_eq!(bench.run("create_task", create)["ok"], true);
    let wanted = toolcrib::state::EventQuery { session: Some("s".into()), ..Default::default() };
    let events = bench.wait(toolcrib::state::StateStore::events(&bench.state, &wanted)).unwrap();
    assert_eq!(events[0].function, "read_tool_doc");
    assert_eq!(events[0].op.as_deref(), Some("onto.task.create"));
}

#[test]
fn an_error_of_a_function_as_an_op_has_the_envelope_with_a_valid_call() {
    let bench = Bench::new("");
    let wrong = bench.run("read_tool_doc", json!({"nam": "create_task"}));
    assert_eq!((code(&wrong), &wrong["error"]["help_path"]), ("VALIDATION_ERROR", &json!("read_tool_doc")));
    let example = wrong["error"]["example"].clone();
    assert_eq!(example["op"], "read_tool_doc");
    assert_eq!(bench.exec(example)["ok"], true);
    let near = bench.run("read_tool_doc", json!({"name": "creat_task"}));
    assert_eq!((code(&near), &near["error"]["nearest"][0]), ("NOT_FOUND", &json!("create_task")));
}

#[test]
fn a_tool_with_the_name_of_a_function_is_the_one_that_runs() {
    let tools = TOOLS.replacen("list_tasks", "read_tool_doc", 1);
    let bench = Bench::of(&tools, "", None);
    let answer = bench.run("read_tool_doc", json!({}));
    assert_eq!(answer["result"]["tasks"][0]["id"], "task_1", "{answer}");
}

#[test]
fn functions_that_run_tools_are_no_ops() {
    let bench = Bench::new(WRITES);
    for op in ["tool_exec", "tool.batch", "call_tool", "tool_exec_write"] {
        let answer = bench.run(op, json!({"op": "tasks", "args": {}}));
        assert_eq!(code(&answer), "NOT_FOUND", "{answer}");
    }
}

#[test]
fn a_batch_takes_items_as_the_document_writes_them() {
    let bench = Bench::new("");
    let calls = json!([
        {"help": "onto.task.create", "format": "short"},
        {"help": {"path": "onto.task"}},
        {"exec": "onto.task.list", "args": {"limit": 1}},
        {"exec": {"op": "onto.task.list", "args": {}}},
        {"exec": "open_note", "args": {"note_id": {"$from": "2.result.tasks[0].id"}}},
        {"function": "tool.help", "input": {"path": "root"}},
        {"function": "tool.exec", "input": {"op": "tasks", "args": {}}},
    ]);
    let answer = bench.call("tool_batch", json!({ "calls": calls }));
    assert_eq!(answer["failed"], 0, "{answer}");
    let ops: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|result| &result["op"]).collect();
    let expect = [json!("onto.task.create"), Value::Null, json!("onto.task.list"), json!("onto.task.list")];
    assert_eq!(ops[..4], expect.iter().collect::<Vec<_>>());
    // With something to read or to call, and not both.
    let wrong = bench.call("tool_batch", json!({"calls": [{"help": 7}, {"exec": "nothing"}]}));
    assert_eq!(code(&wrong["results"][0]), "VALIDATION_ERROR", "{wrong}");
    assert_eq!(code(&wrong["results"][1]), "NOT_FOUND", "{wrong}");
}

#[test]
fn an_op_may_be_written_with_underscores_unless_it_deletes() {
    let bench = Bench::new(WRITES);
    let answer = bench.run("onto_task_list", json!({}));
    assert_eq!(answer["op"], "onto.task.list", "{answer}");
    warned(&answer, "was read as");
    let deleting = bench.run("onto_task_delete", json!({"task_id": "7"}));
    assert_eq!(code(&deleting), "NOT_FOUND", "{deleting}");
}

#[test]
fn every_error_of_every_function_has_a_help_path_that_is_answered() {
    let bench = Bench::new("");
    let roles = Bench::of(TOOLS, "", Some(&[]));
    let mut calls: Vec<(&str, Value)> = reads().iter().map(|(name, _)| (*name, json!({"x": 1}))).collect();
    calls.extend([
        ("read_tool_doc", json!({"name": "nothing"})),
        ("read_tool_doc", json!({"name": "create_task", "format": 7})),
        ("tool_help", json!({"path": "nothing"})),
        ("list", json!({"path": ["nothing"]})),
        ("list", json!({"session": 7})),
        ("search_tool_by_category", json!({"query": "qzxv jjkw"})),
        ("expand_tool", json!({"tool_id": "nothing"})),
        ("expand_tool", json!({"tool_id": "admins_only"})),
        ("read_result", json!({"cursor": "x"})),
        ("tool_search", json!({"query": "x", "category": "nothing"})),
        ("call_tool", json!({"tool_id": "nothing"})),
        ("call_tool", json!({"tool_id": "create_task"})),
        ("tool_exec", json!({})),
        ("tool_exec", json!("{\"op\": 1, \"op\": 2}")),
        ("tool_exec", json!({"op": "nothing", "args": {}})),
        ("tool_exec", json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails"}})),
        ("tool_batch", json!({"calls": []})),
    ]);
    for (function, input) in calls {
        let answer = roles.call(function, input.clone());
        let path =
            answer["error"]["help_path"].as_str().unwrap_or_else(|| panic!("{function} {input}: {answer}"));
        let help = bench.call("tool_help", json!({"path": path}));
        assert_eq!(help["ok"], true, "{function} {input}: {help}");
    }
    // Errors of a part of an answer too.
    let docs = bench.call("read_tool_doc", json!({"names": ["create_task", "nothing"]}));
    assert_eq!(docs["errors"][0]["help_path"], "root");
    let help = bench.call("tool_help", json!({"paths": ["onto.task.create", "nothing"]}));
    assert_eq!(help["results"][1]["error"]["help_path"], "root");
    check(&roles.run("nothing", json!({})));
}
