//! Several calls at once: in order or not, one using another, none losing another.

use serde_json::{Value, json};

use super::{Bench, WRITES, code};

fn exec(op: &str, args: Value) -> Value {
    json!({"function": "tool_exec", "input": {"op": op, "args": args}})
}

fn batch(bench: &Bench, calls: Value) -> Value {
    bench.call("tool_batch", json!({"calls": calls}))
}

#[test]
fn one_failure_does_not_lose_the_others() {
    let bench = Bench::new(WRITES);
    let answer = batch(
        &bench,
        json!([
            exec("tasks", json!({})),
            exec("create_task", json!({})),
            {"function": "tool_search", "input": {"query": "list tasks"}, "id": "found"},
            {"function": "read_tool_doc", "input": {"name": "nothing"}},
            exec("create_task", json!({"project_id": "p", "title": "Buy nails"})),
        ]),
    );
    assert_eq!((&answer["ok"], &answer["failed"]), (&json!(true), &json!(2)), "{answer}");
    let results = answer["results"].as_array().unwrap();
    let ok: Vec<bool> = results.iter().map(|result| result["ok"].as_bool().unwrap()).collect();
    assert_eq!(ok, [true, false, true, false, true]);
    assert_eq!((&results[2]["index"], &results[2]["id"]), (&json!(2), &json!("found")));
    assert!(
        results[0]["meta"]["trace_id"].is_string() && results[0]["meta"].get("registry_version").is_none()
    );
    assert_eq!(results[1]["error"]["example"]["op"], "onto.task.create");
}

#[test]
fn a_call_uses_what_an_earlier_one_returned() {
    let bench = Bench::new(WRITES);
    let from = |from: &str| json!({"$from": from});
    let mut listed = exec("tasks", json!({}));
    listed["id"] = "list".into();
    let answer = batch(
        &bench,
        json!([
            listed,
            exec("delete_task", json!({"task_id": from("0.result.tasks[1].id")})),
            exec("create_task", json!({"project_id": from("list.result.tasks[0].id"), "title": "Buy nails"})),
            exec("delete_task", json!({"task_id": from("0.result.tasks[7].id")})),
            exec("delete_task", json!({"task_id": from("3.result")})),
            exec("delete_task", json!({"task_id": from("9.result")})),
            exec("delete_task", json!({"task_id": from("5.result")})),
        ]),
    );
    let results = answer["results"].as_array().unwrap();
    assert_eq!(
        (&results[1]["result"], &results[2]["result"]["id"]),
        (&json!("gone"), &json!("task_9")),
        "{answer}"
    );
    assert_eq!(code(&results[3]), "VALIDATION_ERROR");
    assert!(
        results[3]["error"]["message"].as_str().unwrap().contains("tasks: [2 of {id: text}]"),
        "{}",
        results[3]
    );
    assert_eq!(
        (code(&results[4]), code(&results[5]), code(&results[6])),
        ("NOT_RUN", "VALIDATION_ERROR", "NOT_RUN")
    );
}

#[cfg(unix)]
#[test]
fn calls_run_at_once_as_far_as_their_results_and_writes_allow() {
    // Each waits until the other one has begun.
    let script = "touch seen_$1; for i in $(seq 200); do [ -e seen_$2 ] && printf met && exit; sleep 0.1; done; printf alone";
    let tool = |name: &str, effect: &str| {
        json!({"name": name, "effect": effect, "description": "Wait for another.",
            "parameters": {"type": "object", "properties": {"own": {}, "other": {}}, "required": ["own", "other"]},
            "backend": {"type": "command", "argv": ["sh", "-c", script, "sh", "{own}", "{other}"]}})
    };
    let config = format!("[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n{WRITES}");
    let bench = Bench::of(&json!([tool("look", "read"), tool("set_it", "write")]).to_string(), &config, None);
    let call = |op: &str, own: Value, other: Value| json!({"op": op, "args": {"own": own, "other": other}});
    let answer = batch(
        &bench,
        json!([
            call("look", json!("a"), json!("b")),
            call("look", json!({"$from": "0.result"}), json!("b")),
            call("look", json!("b"), json!("a")),
            call("set_it", json!("d"), json!({"$from": "1.result"})),
            call("look", json!("e"), json!("d")),
        ]),
    );
    let results = answer["results"].as_array().unwrap();
    assert!(results.iter().all(|one| one["result"] == "met"), "{answer}");
}

#[test]
fn a_reference_sees_all_of_a_result_that_is_cut() {
    let tasks: Vec<Value> = (0..500).map(|id| json!({"id": format!("task_{id}")})).collect();
    let tools = json!([
        {"name": "list_all", "effect": "read", "description": "List.", "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": {"tasks": tasks}}},
        {"name": "get_one", "effect": "read", "description": "Get.", "parameters": {"type": "object", "properties": {"id": {"const": "task_499"}}, "required": ["id"]}, "backend": {"type": "static", "content": "got"}}]);
    let bench = Bench::of(&tools.to_string(), "[exec]\nresult_bytes = 600\n", None);
    let get = json!({"op": "get_one", "args": {"id": {"$from": "0.result.tasks[-1].id"}}});
    let answer = batch(&bench, json!([{"op": "list_all", "args": {}}, get]));
    assert!(answer["results"][0]["meta"]["more"]["cursor"].is_string(), "{answer}");
    assert_eq!(answer["results"][1]["result"], "got", "{answer}");
}

#[test]
fn only_reads_run_in_parallel() {
    let bench = Bench::new(WRITES);
    let parallel = |calls: Value| bench.call("tool_batch", json!({"calls": calls, "parallel": true}));
    let reads = json!([exec("tasks", json!({})), exec("open_note", json!({})), exec("nothing", json!({}))]);
    let answer = parallel(reads);
    assert_eq!(answer["results"][1]["result"], "a note", "{answer}");
    assert_eq!(code(&answer["results"][2]), "NOT_FOUND");
    let write = exec("create_task", json!({"project_id": "p", "title": "Buy nails"}));
    assert_eq!(code(&parallel(json!([exec("tasks", json!({})), write]))), "VALIDATION_ERROR");
    let uses = exec("tasks", json!({"project_id": {"$from": "0.result.tasks[0].id"}}));
    assert_eq!(parallel(json!([exec("tasks", json!({})), uses]))["failed"], 0);
}

#[test]
fn a_batch_has_its_limits() {
    let bench = Bench::new(WRITES);
    let many: Vec<Value> = (0..21).map(|_| exec("tasks", json!({}))).collect();
    assert_eq!(code(&batch(&bench, json!(many))), "VALIDATION_ERROR");
    assert_eq!(code(&batch(&bench, json!([]))), "VALIDATION_ERROR");
    let nested = json!([{"function": "tool_batch", "input": {"calls": []}}]);
    assert_eq!(code(&batch(&bench, nested)["results"][0]), "VALIDATION_ERROR");
}

#[test]
fn one_malformed_item_is_refused_alone_and_says_where_to_read() {
    let bench = Bench::new(WRITES);
    let calls = json!([
        exec("tasks", json!({})), 7, {"function": "nothing", "input": {}}, {"input": {}},
        {"function": "tool_exec", "input": 7}, {"function": "tool_exec", "input": {"op": "tasks", "args": {}}, "id": []},
        {"function": "read_tool_doc", "input": {"name": "tasks", "format": 7}},
        {"function": "read_result", "input": {"cursor": "x"}},
    ]);
    let answer = batch(&bench, calls);
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!((&results[0]["ok"], &answer["failed"]), (&json!(true), &json!(7)), "{answer}");
    for result in &results[1..] {
        assert_eq!(code(result), "VALIDATION_ERROR", "{result}");
        assert!(result["error"]["help_path"].is_string(), "{result}");
    }
    assert_eq!(results[6]["error"]["help_path"], "onto.task.list");
    let whole = bench.call("read_result", json!({"cursor": "x"}));
    assert_eq!(whole["error"]["help_path"], "read_result", "{whole}");
    let wrong = bench.call("call_tool", json!({"tool_id": "create_task", "arguments": {}, "dry_run": true}));
    assert_eq!(
        (&wrong["error"]["help_path"], &wrong["error"]["example"]["dry_run"]),
        (&json!("onto.task.create"), &json!(true)),
        "{wrong}"
    );
    assert_eq!(wrong["error"]["fill_in"], json!(["/arguments/project_id", "/arguments/title"]));
}

#[test]
fn items_may_be_written_as_models_write_them() {
    let bench = Bench::new(WRITES);
    for item in [
        json!({"op": "tasks", "args": {}}),
        json!({"tool": "tasks", "args": {}}),
        json!({"function": "tool.exec", "input": {"op": "tasks", "args": {}}}),
        json!({"function": "tool-exec", "args": {"op": "tasks", "args": {}}}),
        json!({"function": "tool_exec", "arguments": {"op": "tasks"}}),
        json!({"function": "tool_exec", "op": "tasks", "args": {}}),
        json!({"name": "tool_exec", "input": json!({"op": "tasks", "args": {}}).to_string()}),
    ] {
        for name in ["calls", "items", "requests"] {
            let answer = bench.call("tool_batch", json!({name: [item]}));
            assert_eq!(answer["results"][0]["result"]["tasks"][0]["id"], "task_1", "{item}: {answer}");
        }
    }
    let dry = json!({"function": "tool_exec", "input": {"op": "create_task", "args": {"project_id": "p", "title": "Buy nails"}}, "dry_run": true});
    assert!(batch(&bench, json!([dry]))["results"][0]["result"]["would"].is_object());
}
