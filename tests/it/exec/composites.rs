//! The two tools of the platform that make several requests, as `examples/buildos` configures them, against a real HTTP
//! server and over every transport: `get_document_path` and `tag_onto_entity`.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::idempotency::Slow;
use super::{check, code};
use crate::fixture;
use crate::transports::Transports;

/// The answers of the platform.
fn platform(first_line: &str, _: usize) -> String {
    let answer = match first_line {
        line if line.contains("/doc-tree") => json!({
            "root": [{"id": "doc_engineering", "order": 0, "children": [{"id": "doc_api_spec", "order": 0}]}],
            "documents": {"doc_engineering": {"title": "Engineering"}, "doc_api_spec": {"title": "API Spec"}},
        }),
        line if line.starts_with("GET /api/onto/tasks/task_dns/full") => {
            json!({"task": {"id": "task_dns", "description": "Move the zone."}, "edges": []})
        }
        line if line.starts_with("GET /api/onto/goals/goal_live/full") => {
            json!({"goal": {"id": "goal_live", "description": null}})
        }
        line if line.starts_with("GET /api/onto/documents/doc_api_spec/full") => {
            json!({"document": {"id": "doc_api_spec", "content": "# API"}})
        }
        line if line.contains("/mentions/ping") => json!({"notified": ["user_mira"]}),
        line if line.starts_with("PATCH") => json!({"changed": true}),
        _ => json!({"document": {"id": "doc_api_spec", "project_id": "proj_atlas", "content": "# API"}}),
    };
    answer.to_string()
}

/// The example, but for the address of the platform and the token of the caller.
fn example(platform: &Slow, more: &str) -> TempDir {
    let config = format!(
        "presets = [\"buildos\"]\n[[source]]\npath = \"tools\"\ntrust = \"run\"\n[exec]\nallow = \"write\"\n\
         [server.buildos]\nurl = \"{}\"\n{more}",
        platform.url
    );
    let folder = fixture::folder(&[("toolcrib.toml", &config)]);
    for (name, content) in fixture::tree(&fixture::package().join("examples/buildos/tools")) {
        fixture::write(folder.path(), &format!("tools/{name}"), &String::from_utf8(content).unwrap());
    }
    folder
}

fn mention(kind: &str, id: &str, mode: Option<&str>) -> Value {
    let mut args = json!({
        "project_id": "proj_atlas", "entity_kind": kind, "entity_id": id,
        "mentioned_user_ids": ["user_mira"], "message": "[[user:user_mira|Mira]] please look",
    });
    if let Some(mode) = mode {
        args["mode"] = mode.into();
    }
    args
}

/// An op, its arguments and its result, and the requests that it makes: method and path, body.
type Row = (&'static str, Value, Value, Vec<(&'static str, Value)>);

fn table() -> Vec<Row> {
    let ping = |kind: &str, id: &str| {
        let mut body = mention(kind, id, Some("ping"));
        body["mode"] = "ping".into();
        body
    };
    let text = "\n\n[[user:user_mira|Mira]] please look";
    let changed = || json!({"changed": true});
    vec![
        (
            "onto.document.path.get",
            json!({"document_id": "doc_api_spec"}),
            json!({
                "document_id": "doc_api_spec", "project_id": "proj_atlas",
                "root": [{"id": "doc_engineering", "order": 0, "children": [{"id": "doc_api_spec", "order": 0}]}],
                "documents": {"doc_engineering": {"title": "Engineering"}, "doc_api_spec": {"title": "API Spec"}},
            }),
            vec![
                ("GET /api/onto/documents/doc_api_spec ", Value::Null),
                ("GET /api/onto/projects/proj_atlas/doc-tree?include_documents=true ", Value::Null),
            ],
        ),
        (
            "onto.entity.tag",
            mention("document", "doc_api_spec", None),
            json!({"notified": ["user_mira"]}),
            vec![("POST /api/onto/mentions/ping ", ping("document", "doc_api_spec"))],
        ),
        (
            "tag_onto_entity",
            mention("task", "task_dns", Some("content")),
            changed(),
            vec![
                ("GET /api/onto/tasks/task_dns/full ", Value::Null),
                ("PATCH /api/onto/tasks/task_dns ", json!({"description": format!("Move the zone.{text}")})),
            ],
        ),
        (
            "onto.entity.tag",
            mention("goal", "goal_live", Some("content")),
            changed(),
            vec![
                ("GET /api/onto/goals/goal_live/full ", Value::Null),
                ("PATCH /api/onto/goals/goal_live ", json!({"description": text})),
            ],
        ),
        (
            "onto.entity.tag",
            mention("document", "doc_api_spec", Some("content")),
            changed(),
            vec![
                ("GET /api/onto/documents/doc_api_spec/full ", Value::Null),
                ("PATCH /api/onto/documents/doc_api_spec ", json!({"content": format!("# API{text}")})),
            ],
        ),
    ]
}

#[test]
fn tools_of_several_requests_run_over_every_transport() {
    let platform = Slow::answering(Duration::ZERO, platform);
    let folder = example(&platform, "");
    let transports = Transports::open(fixture::text(folder.path()).to_string());
    let ask = |say: &dyn Fn(&str, Value) -> Value| {
        for (op, args, result, requests) in table() {
            let answer = say("tool_exec", json!({"op": op, "args": args}));
            check(&answer);
            assert_eq!(answer["result"], result, "{answer}");
            let arrived = std::mem::take(&mut *platform.asked.lock().unwrap());
            assert_eq!(arrived.len(), requests.len(), "{op}: {arrived:#?}");
            for ((line, body), (expected, content)) in arrived.iter().zip(requests) {
                assert!(line.starts_with(expected), "{line} is not {expected}");
                assert_eq!(serde_json::from_str::<Value>(body).unwrap_or_default(), content, "{line}");
            }
        }
        let planned = say(
            "tool_exec",
            json!({"op": "onto.entity.tag", "args": mention("task", "task_dns", Some("content")), "dry_run": true}),
        );
        let steps = planned["result"]["would"]["steps"].as_array().unwrap();
        let told: Vec<&str> = steps.iter().map(|step| step["id"].as_str().unwrap()).collect();
        assert_eq!(told, ["ping", "entity", "task", "goal", "document"], "{planned}");
        assert_eq!((&steps[0]["skipped"], &steps[1]["ok"]), (&json!(true), &json!(true)), "{planned}");
        assert_eq!(steps[2]["would"]["method"], "PATCH", "{planned}");
        let text = "Move the zone.\n\n[[user:user_mira|Mira]] please look";
        assert_eq!(steps[2]["args"], json!({"task_id": "task_dns", "description": text}));
        let arrived = std::mem::take(&mut *platform.asked.lock().unwrap());
        assert!(arrived.iter().all(|(line, _)| line.starts_with("GET")) && arrived.len() == 1, "{arrived:?}");
        let wrong = say("tool_exec", json!({"op": "onto.document.path.get", "args": {}}));
        assert_eq!(
            (code(&wrong), &wrong["error"]["help_path"]),
            ("VALIDATION_ERROR", &json!("onto.document.path.get"))
        );
    };
    transports.each(ask);
    transports.close();
}

#[test]
fn docs_and_help_tell_the_effect_of_steps_and_not_the_steps() {
    let checked = fixture::open(&fixture::package().join("examples/buildos"));
    let catalog = &checked.catalog;
    assert_eq!(catalog.named("get_document_path").unwrap().rules.effect.as_str(), "read");
    assert_eq!(catalog.named("tag_onto_entity").unwrap().rules.effect.as_str(), "write");
    let out = tempfile::tempdir().unwrap();
    fixture::render(&checked, None, out.path());
    for name in ["get_document_path", "tag_onto_entity"] {
        let doc = std::fs::read_to_string(out.path().join(format!("{name}.md"))).unwrap();
        assert!(
            !doc.contains("onto.mention.ping") && !doc.contains("$arg") && !doc.contains("steps"),
            "{doc}"
        );
    }
    let registry = std::fs::read_to_string(out.path().join("registry.json")).unwrap();
    assert!(!registry.contains("$arg") && !registry.contains("\"steps\""));
}
