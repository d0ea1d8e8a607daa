//! What a path means, and what a wrong one gets.

use serde_json::{Value, json};
use toolcrib::functions::{Context, Function};

use super::{edition, edition_for, example, help};
use crate::fixture;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn the_way_leads_from_the_root_to_a_call() {
    let edition = edition(&example("buildos").catalog);
    for root in [json!({}), json!("root"), json!(""), json!({"path": " root "})] {
        let told = help(&edition, root);
        assert_eq!(told["path"], "root");
        assert_eq!(keys(&told["groups"]), ["cal", "onto", "util"], "{told}");
    }
    let group = help(&edition, "onto.task");
    assert!(group["read"]["onto.task.list"].as_str().is_some_and(|line| !line.is_empty()), "{group}");
    assert!(group["destructive"]["onto.task.delete"].is_string(), "{group}");
    let writes = help(&edition, "onto.task.write");
    assert!(writes.get("read").is_none() && writes["write"]["onto.task.create"].is_string(), "{writes}");
    let reads = help(&edition, "onto.task.read");
    assert!(reads.get("write").is_none() && reads["read"]["onto.task.list"].is_string(), "{reads}");
    let op = help(&edition, "onto.task.update");
    assert!(op["usage"].as_str().unwrap().starts_with("onto.task.update task_id=<string> ["), "{op}");
    assert_eq!((&op["args"][0]["name"], &op["args"][0]["required"]), (&json!("task_id"), &json!(true)));
    assert_eq!(op["call"]["op"], "onto.task.update");
    assert!(op["call"]["args"]["task_id"].is_string());
}

#[test]
fn an_op_goes_by_all_of_its_names() {
    let edition = edition(&example("buildos").catalog);
    let told = help(&edition, "onto.document.tree.move");
    for name in ["move_document_in_tree", "onto/document/tree/move", "Onto.Document.Tree.Move"] {
        assert_eq!(help(&edition, name), told, "{name}");
    }
}

#[test]
fn categories_are_groups_where_ops_have_no_entities() {
    let edition = edition(&example("github").catalog);
    let root = help(&edition, "root");
    assert_eq!(root["path"], "github", "the only group is told of at once");
    assert!(keys(&root["groups"]).contains(&"Issues"), "{root}");
    let issues = help(&edition, "issues");
    assert!(issues.to_string().contains("github.create_issue"), "{issues}");
}

#[test]
fn full_tells_all_and_leaves_out_what_is_not_wanted() {
    let edition = edition(&example("buildos").catalog);
    let ask = |examples: bool, schemas: bool| {
        help(
            &edition,
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
    let edition = edition(&example("buildos").catalog);
    let refused = help(&edition, "onto.task.updat");
    assert_eq!(refused["error"]["code"], "NOT_FOUND");
    assert_eq!(refused["error"]["nearest"][0], "onto.task.update", "{refused}");
    let refused = help(&edition, "onto.task.obliterate");
    assert!(refused["error"]["nearest"].as_array().unwrap().contains(&json!("onto.task")), "{refused}");
    let several = help(&edition, json!({"paths": ["onto.task.list", "onto.tsk", "util", "list_onto_tasks"]}));
    let results = several["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{several}");
    assert_eq!((&results[0]["op"], &results[2]["path"]), (&json!("onto.task.list"), &json!("util")));
    assert_eq!(
        (&results[1]["asked"], &results[1]["error"]["code"]),
        (&json!("onto.tsk"), &json!("NOT_FOUND"))
    );
    let none = help(&edition, json!({"paths": ["nowhere.at.all", "qzx"]}));
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
    let edition = edition_for(&checked.catalog, Some(&[]));
    let missing = help(&edition, "vault.secret");
    assert_eq!(missing["error"]["code"], "NOT_FOUND");
    assert!(!missing["error"]["nearest"].to_string().contains("vault"), "{missing}");
    assert_eq!(help(&edition, "vault")["error"]["code"], "NOT_FOUND");
    let forbidden = help(&edition, "b.seen");
    assert_eq!(forbidden["error"]["code"], "NOT_AUTHORIZED");
    assert!(!forbidden.to_string().contains("key"));
    let root = help(&edition, "root").to_string();
    assert!(root.contains("b.seen") && !root.contains("secret"), "{root}");
}

#[test]
fn a_session_is_asked_for_where_there_is_none() {
    let edition = edition(&example("buildos").catalog);
    let refused = help(&edition, "session");
    assert_eq!(refused["error"]["code"], "VALIDATION_ERROR");
    assert!(refused["error"]["next_action"].as_str().unwrap().contains("session"));
}

#[test]
fn ops_that_begin_alike_are_a_group() {
    let edition = edition(&example("github").catalog);
    let told = help(&edition, "github.create_*");
    assert!(told["write"]["github.create_branch"].is_string(), "{told}");
    assert_eq!(help(&edition, "github.qq*")["error"]["code"], "NOT_FOUND");
}

#[test]
fn a_session_knows_what_it_was_told() {
    let context = Context::of(edition(&example("buildos").catalog));
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
fn the_same_wrong_path_is_not_answered_the_same_three_times() {
    let context = Context::of(edition(&example("buildos").catalog));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ask = |arguments: Value| {
        let function = Function::named("tool_help").unwrap();
        serde_json::from_slice::<Value>(&runtime.block_on(function.call(&context, arguments)).json()).unwrap()
    };
    for wrong in
        [json!({"path": "onto.tsak", "session": "s"}), json!({"paths": ["no", "such"], "session": "s"})]
    {
        let told: Vec<Value> = (0..4).map(|_| ask(wrong.clone())).collect();
        let codes: Vec<&str> = told.iter().map(|told| told["error"]["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["NOT_FOUND", "NOT_FOUND", "LOOP_STOPPED", "LOOP_STOPPED"]);
        let different: std::collections::HashSet<String> = told.iter().map(Value::to_string).collect();
        assert_eq!(different.len(), 4, "{told:?}");
    }
    assert_eq!(ask(json!({"path": "onto.tsak", "session": "t"}))["error"]["code"], "NOT_FOUND");
    let unnamed = json!({"path": "onto.tsak"});
    assert_eq!(ask(unnamed.clone()), ask(unnamed), "without a session nothing is counted");
}

#[test]
fn examples_in_refusals_are_of_this_catalog() {
    let context = Context::of(edition(&example("github").catalog));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for function in Function::all() {
        let ask = |arguments: &Value| runtime.block_on(function.call(&context, arguments.clone()));
        let refused = ask(&json!({"surely": "wrong"})).body().clone();
        let example = &refused["error"]["example"];
        let text = example.to_string();
        assert!(!text.contains("onto.") && !text.contains("refactor."), "{}: {text}", function.name());
        // What tool_exec shows is the call as it is sent; nothing of it is done here.
        if ["read_tool_doc", "tool_help", "expand_tool"].contains(&function.name()) {
            assert!(ask(example).is_ok(), "{}: {text}", function.name());
        }
    }
}
