//! Targets of paths, and errors for wrong ones.

use serde_json::{Value, json};
use toolcrib::functions::{Function, FunctionContext};

use super::{example, help, view, view_for};
use crate::fixture;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn the_way_leads_from_the_root_to_a_call() {
    let view = view(&example("buildos").catalog);
    for root in [json!({}), json!("root"), json!(""), json!({"path": " root "})] {
        let told = help(&view, root);
        assert_eq!(told["path"], "root");
        assert_eq!(keys(&told["groups"]), ["cal", "onto", "util"], "{told}");
    }
    let group = help(&view, "onto.task");
    assert!(group["read"]["onto.task.list"].as_str().is_some_and(|line| !line.is_empty()), "{group}");
    assert!(group["destructive"]["onto.task.delete"].is_string(), "{group}");
    let writes = help(&view, "onto.task.write");
    assert!(writes.get("read").is_none() && writes["write"]["onto.task.create"].is_string(), "{writes}");
    let reads = help(&view, "onto.task.read");
    assert!(reads.get("write").is_none() && reads["read"]["onto.task.list"].is_string(), "{reads}");
    let op = help(&view, "onto.task.update");
    assert!(op["usage"].as_str().unwrap().starts_with("onto.task.update task_id=<string> ["), "{op}");
    assert_eq!((&op["args"][0]["name"], &op["args"][0]["required"]), (&json!("task_id"), &json!(true)));
    assert_eq!(op["call"]["op"], "onto.task.update");
    assert!(op["call"]["args"]["task_id"].is_string());
}

#[test]
fn an_op_goes_by_all_of_its_names() {
    let view = view(&example("buildos").catalog);
    let told = help(&view, "onto.document.tree.move");
    for name in ["move_document_in_tree", "onto/document/tree/move", "Onto.Document.Tree.Move"] {
        assert_eq!(help(&view, name), told, "{name}");
    }
}

#[test]
fn categories_are_groups_where_ops_have_no_entities() {
    let view = view(&example("github").catalog);
    let root = help(&view, "root");
    assert_eq!(root["path"], "github", "the only group is opened at once");
    assert!(keys(&root["groups"]).contains(&"Issues"), "{root}");
    let issues = help(&view, "issues");
    assert!(issues.to_string().contains("github.create_issue"), "{issues}");
}

#[test]
fn full_tells_all_and_leaves_out_what_is_not_wanted() {
    let view = view(&example("buildos").catalog);
    let ask = |examples: bool, schemas: bool| {
        help(
            &view,
            json!({"path": "onto.project.create", "format": "full", "include_examples": examples, "include_schemas": schemas}),
        )
    };
    let all = ask(true, true);
    for field in ["description", "usage", "args", "policy", "examples", "schema", "call", "effect"] {
        assert!(all.get(field).is_some(), "{field}: {all}");
    }
    assert!(all["args"].to_string().contains("\"fields\""), "{all}");
    let bare = ask(false, false);
    assert!(bare.get("examples").is_none() && bare.get("schema").is_none() && bare.get("call").is_some());
    assert!(ask(true, false).get("examples").is_some());
}

#[test]
fn a_wrong_path_gets_the_nearest_and_does_not_lose_the_others() {
    let view = view(&example("buildos").catalog);
    let refused = help(&view, "onto.task.updat");
    assert_eq!(refused["error"]["code"], "NOT_FOUND");
    assert_eq!(refused["error"]["nearest"][0], "onto.task.update", "{refused}");
    let refused = help(&view, "onto.task.obliterate");
    assert!(refused["error"]["nearest"].as_array().unwrap().contains(&json!("onto.task")), "{refused}");
    let several = help(&view, json!({"paths": ["onto.task.list", "onto.tsk", "util", "list_onto_tasks"]}));
    let results = several["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{several}");
    assert_eq!((&results[0]["op"], &results[2]["path"]), (&json!("onto.task.list"), &json!("util")));
    assert_eq!(
        (&results[1]["asked"], &results[1]["error"]["code"]),
        (&json!("onto.tsk"), &json!("NOT_FOUND"))
    );
    let none = help(&view, json!({"paths": ["nowhere.at.all", "qzx"]}));
    assert_eq!(none["error"]["code"], "NOT_FOUND", "{none}");
}

#[test]
fn what_a_caller_may_not_see_is_not_there() {
    let tools = json!([
        {"name": "open", "op": "a.open", "parameters": {"type": "object"}, "description": "Opens."},
        {"name": "secret", "op": "vault.secret", "parameters": {"type": "object"}, "description": "Hidden.", "allowed_roles": ["admin"]},
        {"name": "seen", "op": "b.seen", "parameters": {"type": "object", "properties": {"key": {"type": "string"}}}, "description": "Seen.",
         "allowed_roles": ["admin"], "when_forbidden": "visible"},
    ]);
    let checked = fixture::open_text("tools.json", &tools.to_string());
    let view = view_for(&checked.catalog, Some(&[]));
    let missing = help(&view, "vault.secret");
    assert_eq!(missing["error"]["code"], "NOT_FOUND");
    assert!(!missing["error"]["nearest"].to_string().contains("vault"), "{missing}");
    assert_eq!(help(&view, "vault")["error"]["code"], "NOT_FOUND");
    let forbidden = help(&view, "b.seen");
    assert_eq!(forbidden["error"]["code"], "NOT_AUTHORIZED");
    assert!(!forbidden.to_string().contains("key"));
    let root = help(&view, "root").to_string();
    assert!(root.contains("b.seen") && !root.contains("secret"), "{root}");
}

#[test]
fn a_session_is_asked_for_where_there_is_none() {
    let view = view(&example("buildos").catalog);
    let refused = help(&view, "session");
    assert_eq!(refused["error"]["code"], "VALIDATION_ERROR");
    assert!(refused["error"]["next_action"].as_str().unwrap().contains("session"));
}

#[test]
fn ops_that_begin_alike_are_a_group() {
    let view = view(&example("github").catalog);
    let told = help(&view, "github.create_*");
    assert!(told["write"]["github.create_branch"].is_string(), "{told}");
    assert_eq!(help(&view, "github.qq*")["error"]["code"], "NOT_FOUND");
}

#[test]
fn a_session_knows_what_it_was_told() {
    let context = FunctionContext::of(view(&example("buildos").catalog));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ask = |path: &str, session: &str| {
        let function = Function::named("tool_help").unwrap();
        let answer = runtime.block_on(function.call(&context, json!({"path": path, "session": session})));
        serde_json::from_slice::<Value>(&answer.json()).unwrap()
    };
    ask("onto.task.get", "one");
    ask("onto.task", "one");
    ask("list_onto_tasks", "one");
    ask("onto.task.get", "one");
    ask("onto.task.delete", "two");
    runtime.block_on(context.services.state.flush()).unwrap();
    let known = ask("session", "one");
    let ops: Vec<&str> =
        known["known"].as_array().unwrap().iter().map(|one| one["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["onto.task.get", "onto.task.list"], "{known}");
    assert_eq!(known["known"][0]["usage"], "onto.task.get task_id=<string>");
}

#[test]
fn examples_in_refusals_are_of_this_catalog() {
    let context = FunctionContext::of(view(&example("github").catalog));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for function in Function::all() {
        let ask = |arguments: &Value| runtime.block_on(function.call(&context, arguments.clone()));
        let refused = ask(&json!({"surely": "wrong"})).body();
        let example = &refused["error"]["example"];
        let text = example.to_string();
        assert!(!text.contains("onto.") && !text.contains("refactor."), "{}: {text}", function.name());
        // The example of `tool_exec` is the call as it is sent; nothing is run here.
        if ["read_tool_doc", "tool_help", "expand_tool"].contains(&function.name()) {
            assert!(ask(example).is_ok(), "{}: {text}", function.name());
        }
    }
}
