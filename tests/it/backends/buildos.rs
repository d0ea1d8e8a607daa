//! `examples/buildos` against a server that records: every tool, called with its ready-made call, arrives as the
//! platform's own table of endpoints has it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Running;
use super::recorder::{Arrived, Recorder};
use crate::fixture::{folder, package, tree};

/// Tool, method and endpoint, from the platform's documentation of its tools.
const DOCUMENTED: [(&str, &str, &str); 40] = [
    ("create_onto_project", "POST", "/api/onto/projects/instantiate"),
    ("create_onto_task", "POST", "/api/onto/tasks/create"),
    ("create_onto_goal", "POST", "/api/onto/goals/create"),
    ("create_onto_plan", "POST", "/api/onto/plans/create"),
    ("create_onto_document", "POST", "/api/onto/documents/create"),
    ("create_onto_milestone", "POST", "/api/onto/milestones/create"),
    ("create_onto_risk", "POST", "/api/onto/risks/create"),
    ("move_document_in_tree", "POST", "/api/onto/projects/{project_id}/doc-tree/move"),
    ("create_task_document", "POST", "/api/onto/tasks/{task_id}/documents"),
    ("link_onto_entities", "POST", "/api/onto/edges"),
    ("unlink_onto_edge", "DELETE", "/api/onto/edges/{edge_id}"),
    ("reorganize_onto_project_graph", "POST", "/api/onto/projects/{project_id}/reorganize"),
    ("update_onto_project", "PATCH", "/api/onto/projects/{project_id}"),
    ("update_onto_task", "PATCH", "/api/onto/tasks/{task_id}"),
    ("update_onto_goal", "PATCH", "/api/onto/goals/{goal_id}"),
    ("update_onto_plan", "PATCH", "/api/onto/plans/{plan_id}"),
    ("update_onto_document", "PATCH", "/api/onto/documents/{document_id}"),
    ("update_onto_milestone", "PATCH", "/api/onto/milestones/{milestone_id}"),
    ("update_onto_risk", "PATCH", "/api/onto/risks/{risk_id}"),
    ("delete_onto_task", "DELETE", "/api/onto/tasks/{task_id}"),
    ("delete_onto_goal", "DELETE", "/api/onto/goals/{goal_id}"),
    ("delete_onto_plan", "DELETE", "/api/onto/plans/{plan_id}"),
    ("delete_onto_document", "DELETE", "/api/onto/documents/{document_id}"),
    ("delete_onto_milestone", "DELETE", "/api/onto/milestones/{milestone_id}"),
    ("delete_onto_risk", "DELETE", "/api/onto/risks/{risk_id}"),
    ("delete_onto_project", "DELETE", "/api/onto/projects/{project_id}"),
    ("ping_onto_mentions", "POST", "/api/onto/mentions/ping"),
    ("get_onto_entity_full", "GET", "/api/onto/{entity_kind}s/{entity_id}/full"),
    ("search_ontology", "POST", "/api/onto/search"),
    ("get_onto_project_details", "GET", "/api/onto/projects/{project_id}"),
    ("get_onto_task_details", "GET", "/api/onto/tasks/{task_id}"),
    ("get_onto_goal_details", "GET", "/api/onto/goals/{goal_id}"),
    ("get_onto_plan_details", "GET", "/api/onto/plans/{plan_id}"),
    ("get_onto_document_details", "GET", "/api/onto/documents/{document_id}"),
    ("get_onto_milestone_details", "GET", "/api/onto/milestones/{milestone_id}"),
    ("get_onto_risk_details", "GET", "/api/onto/risks/{risk_id}"),
    ("get_onto_requirement_details", "GET", "/api/onto/requirements/{requirement_id}"),
    ("get_onto_project_graph", "GET", "/api/onto/projects/{project_id}/graph/full"),
    ("list_task_documents", "GET", "/api/onto/tasks/{task_id}/documents"),
    ("get_document_tree", "GET", "/api/onto/projects/{project_id}/doc-tree"),
];

/// Plausible answers for tools of the example that the platform has no endpoint for.
const PLAUSIBLE: [(&str, &str, &str); 27] = [
    ("list_onto_projects", "GET", "/api/onto/projects"),
    ("list_onto_tasks", "GET", "/api/onto/tasks"),
    ("list_onto_goals", "GET", "/api/onto/goals"),
    ("list_onto_plans", "GET", "/api/onto/plans"),
    ("list_onto_documents", "GET", "/api/onto/documents"),
    ("list_onto_milestones", "GET", "/api/onto/milestones"),
    ("list_onto_risks", "GET", "/api/onto/risks"),
    ("list_onto_requirements", "GET", "/api/onto/requirements"),
    ("search_onto_projects", "GET", "/api/onto/projects/search"),
    ("search_onto_tasks", "GET", "/api/onto/tasks/search"),
    ("search_onto_goals", "GET", "/api/onto/goals/search"),
    ("search_onto_plans", "GET", "/api/onto/plans/search"),
    ("search_onto_documents", "GET", "/api/onto/documents/search"),
    ("search_onto_milestones", "GET", "/api/onto/milestones/search"),
    ("search_onto_risks", "GET", "/api/onto/risks/search"),
    ("update_onto_requirement", "PATCH", "/api/onto/requirements/{requirement_id}"),
    ("get_entity_relationships", "GET", "/api/onto/entities/{entity_id}/relationships"),
    ("get_linked_entities", "GET", "/api/onto/entities/{entity_kind}/{entity_id}/linked"),
    ("list_calendar_events", "GET", "/api/calendar/events"),
    ("get_calendar_event_details", "GET", "/api/calendar/events/{event_id}"),
    ("create_calendar_event", "POST", "/api/calendar/events"),
    ("update_calendar_event", "PATCH", "/api/calendar/events/{event_id}"),
    ("delete_calendar_event", "DELETE", "/api/calendar/events/{event_id}"),
    ("get_project_calendar", "GET", "/api/calendar/projects/{project_id}"),
    ("set_project_calendar", "PUT", "/api/calendar/projects/{project_id}"),
    ("web_search", "POST", "/api/tools/web-search"),
    ("web_visit", "POST", "/api/tools/web-visit"),
];

/// Tools that call others: `tests/it/exec/composites.rs`.
const STEPS: [&str; 2] = ["get_document_path", "tag_onto_entity"];

const STATIC: [&str; 3] = ["get_field_info", "get_buildos_overview", "get_buildos_usage_guide"];

/// The example, but for where the platform is.
fn example(recorder: &Recorder) -> (tempfile::TempDir, Running) {
    let root = folder(&[]);
    for (name, content) in tree(&package().join("examples/buildos")) {
        let text = String::from_utf8(content).unwrap().replace("http://127.0.0.1:3000", &recorder.url);
        crate::fixture::write(root.path(), &name, &text);
    }
    let running = Running::open(root.path()).with_headers(&[("x-session-token", "of-the-user")]);
    (root, running)
}

#[test]
fn every_tool_arrives_as_the_platform_has_it() {
    let recorder = Recorder::start();
    let (_root, running) = example(&recorder);
    for (tool, method, endpoint) in DOCUMENTED.iter().chain(&PLAUSIBLE) {
        let arguments = running.tool(tool).input.call.clone().unwrap_or_else(|| panic!("{tool} has no call"));
        let response = running
            .call(tool, Value::Object(arguments.clone()))
            .unwrap_or_else(|error| panic!("{tool}: {error:?}"));
        assert_eq!(response.content["ok"], true, "{tool}");
        check(&recorder.only(), tool, method, endpoint, arguments);
    }
    for tool in STATIC {
        let arguments = running.tool(tool).input.call.clone().unwrap_or_default();
        assert!(running.call(tool, Value::Object(arguments)).unwrap().content.is_object(), "{tool}");
    }
    assert!(recorder.arrived().is_empty());
    let tested: BTreeSet<&str> =
        DOCUMENTED.iter().chain(&PLAUSIBLE).map(|(tool, ..)| *tool).chain(STATIC).chain(STEPS).collect();
    let all: BTreeSet<&str> =
        running.checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    assert_eq!(tested, all);
}

#[track_caller]
fn check(arrived: &Arrived, tool: &str, method: &str, endpoint: &str, mut arguments: Map<String, Value>) {
    let mut path = endpoint.to_string();
    for name in endpoint.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name) {
        let value = arguments.remove(name).unwrap();
        path = path.replace(&format!("{{{name}}}"), value.as_str().unwrap());
    }
    assert_eq!((arrived.method.as_str(), arrived.path.as_str()), (method, path.as_str()), "{tool}");
    assert_eq!(arrived.header("authorization"), Some("Bearer of-the-user"), "{tool}");
    assert_eq!(arrived.header("x-change-source"), Some("chat"), "{tool}");
    assert_eq!(arrived.header("x-session-token"), None, "{tool}");
    if matches!(method, "GET" | "DELETE") {
        let mut query: Vec<(String, String)> = decoded(&arrived.query);
        let mut expect: Vec<(String, String)> = arguments
            .into_iter()
            .flat_map(|(name, value)| match value {
                Value::Array(items) => items.into_iter().map(|item| (name.clone(), plain(&item))).collect(),
                value => vec![(name, plain(&value))],
            })
            .collect();
        query.sort();
        expect.sort();
        assert_eq!((query, arrived.body.as_str()), (expect, ""), "{tool}");
    } else {
        assert_eq!((arrived.json(), arrived.query.as_str()), (Value::Object(arguments), ""), "{tool}");
        assert_eq!(arrived.header("content-type"), Some("application/json"), "{tool}");
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn decoded(query: &str) -> Vec<(String, String)> {
    reqwest::Url::parse(&format!("http://x/?{query}")).unwrap().query_pairs().into_owned().collect()
}

#[test]
fn without_the_callers_token_nothing_is_sent() {
    let recorder = Recorder::start();
    let (_root, running) = example(&recorder);
    let running = running.with_headers(&[]);
    let missing = toolcrib::exec::backend::BackendErrorKind::MissingCredential;
    running.fails("list_onto_projects", json!({}), missing, "X-Session-Token");
    assert!(recorder.arrived().is_empty());
}

#[test]
fn what_has_a_large_effect_is_a_dry_run_and_a_new_project_shifts_the_context() {
    let recorder = Recorder::start();
    let (_root, running) = example(&recorder);
    assert_eq!(running.tool("reorganize_onto_project_graph").rules.dry_run, Some(true));
    assert_eq!(running.tool("create_onto_project").rules.context_shift.as_deref(), Some("/context_shift"));
    let arguments = running.tool("reorganize_onto_project_graph").input.call.clone().unwrap();
    let shown = running.preview("reorganize_onto_project_graph", Value::Object(arguments)).unwrap();
    assert_eq!(
        (&shown["method"], &shown["path"]),
        (&json!("POST"), &json!("/api/onto/projects/proj_atlas/reorganize"))
    );
    assert_eq!(shown["headers"]["authorization"], "[redacted]");
}
