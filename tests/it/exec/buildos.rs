//! The example of the gateway's specification (section 9), with the tools of `examples/buildos` and a real HTTP server: a user
//! wants a document moved, and the agent searches, reads help, looks for the folder, and moves it.

use std::time::Duration;

use serde_json::{Value, json};

use super::idempotency::Slow;
use super::{check, code};
use crate::fixture;
use crate::transports::Transports;

/// The answers of the application.
fn application(first_line: &str, _: usize) -> String {
    let answer = match first_line {
        line if line.contains("doc-tree/move") => json!({"path": ["Engineering", "API Spec"]}),
        line if line.contains("doc-tree") => json!({
            "root": [{"id": "doc_engineering_folder", "order": 0}],
            "documents": {"doc_engineering_folder": {"title": "Engineering"}},
        }),
        _ => json!({"documents": [{"id": "doc_api_spec", "project_id": "proj_atlas", "title": "API Spec"}]}),
    };
    answer.to_string()
}

fn talk(ask: &dyn Fn(&str, Value) -> Value) {
    let exec = |op: &str, args: Value| {
        let answer = ask("tool_exec", json!({"op": op, "args": args}));
        check(&answer);
        answer
    };
    let found = exec("onto.document.search", json!({"search": "API Spec", "limit": 10}));
    let document = &found["result"]["documents"][0];
    assert_eq!(document["id"], "doc_api_spec", "{found}");

    // The agent guesses, and learns from the answer what it should have sent.
    let guessed = exec("onto.document.tree.move", json!({}));
    assert_eq!(code(&guessed), "VALIDATION_ERROR");
    let error = &guessed["error"];
    assert_eq!(error["help_path"], "onto.document.tree.move");
    assert!(error["example"]["args"]["document_id"].is_string(), "{error}");
    let help = ask("tool_help", json!({"path": error["help_path"], "format": "short"}));
    assert!(help["ok"] == true && help.to_string().contains("new_parent_id"), "{help}");

    let tree = exec(
        "onto.document.tree.get",
        json!({"project_id": document["project_id"], "include_documents": true}),
    );
    let folder = &tree["result"]["root"][0]["id"];
    let args =
        json!({"project_id": document["project_id"], "document_id": document["id"], "new_parent_id": folder});
    let moved = exec("onto.document.tree.move", args.clone());
    assert_eq!(moved["result"]["path"], json!(["Engineering", "API Spec"]), "{moved}");
    // By its bare name, as models call it, in one round trip with the search before it.
    let from = |field: &str| json!({"$from": format!("0.result.documents[0].{field}")});
    let by_name =
        json!({"project_id": from("project_id"), "document_id": from("id"), "new_parent_id": folder});
    let both = ask(
        "tool_batch",
        json!({"calls": [
            {"function": "tool_exec", "input": {"op": "onto.document.search", "args": {"search": "API Spec"}}},
            {"function": "tool_exec", "input": {"op": "move_document_in_tree", "args": by_name}},
        ]}),
    );
    assert_eq!(both["results"][1]["result"]["path"], json!(["Engineering", "API Spec"]), "{both}");
}

#[test]
fn a_document_is_moved_over_every_transport() {
    let slow = Slow::answering(Duration::ZERO, application);
    let config = format!(
        "presets = [\"buildos\"]\n[[source]]\npath = \"tools\"\n[exec]\nallow = \"write\"\n[server.buildos]\nurl = \"{}\"\n",
        slow.url
    );
    let folder = fixture::folder(&[("toolcrib.toml", &config)]);
    for file in
        std::fs::read_dir(fixture::package().join("examples/buildos/tools")).unwrap().map(Result::unwrap)
    {
        let text = std::fs::read_to_string(file.path()).unwrap();
        fixture::write(folder.path(), &format!("tools/{}", file.file_name().to_str().unwrap()), &text);
    }
    let transports = Transports::open(fixture::text(folder.path()).to_string());
    let times = transports.each(talk);
    transports.close();
    let asked = slow.asked.lock().unwrap();
    let moves: Vec<_> = asked
        .iter()
        .filter(|(line, _)| line.starts_with("POST /api/onto/projects/proj_atlas/doc-tree/move"))
        .collect();
    assert_eq!((moves.len(), asked.len()), (2 * times, 5 * times), "{asked:#?}");
    for (_, body) in moves {
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(
            (&body["document_id"], &body["new_parent_id"]),
            (&json!("doc_api_spec"), &json!("doc_engineering_folder"))
        );
    }
}
