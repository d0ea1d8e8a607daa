//! The ops of the BuildOS tools: every row of the gateway specification, and of the calendar and extra tools.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolcrib_catalog::{Resolved, registry};
use toolcrib_definition::Effect;

use crate::fixture;

/// Op, tool, kind, entity, action.
const OPS: &[(&str, &str, &str, Option<&str>, &str)] = &[
    // Gateway specification 3.1: list
    ("onto.task.list", "list_onto_tasks", "read", Some("task"), "list"),
    ("onto.goal.list", "list_onto_goals", "read", Some("goal"), "list"),
    ("onto.document.list", "list_onto_documents", "read", Some("document"), "list"),
    ("onto.milestone.list", "list_onto_milestones", "read", Some("milestone"), "list"),
    ("onto.risk.list", "list_onto_risks", "read", Some("risk"), "list"),
    ("onto.requirement.list", "list_onto_requirements", "read", Some("requirement"), "list"),
    ("onto.plan.list", "list_onto_plans", "read", Some("plan"), "list"),
    ("onto.project.list", "list_onto_projects", "read", Some("project"), "list"),
    ("onto.task.docs.list", "list_task_documents", "read", Some("task"), "list"),
    // 3.1: search
    ("onto.task.search", "search_onto_tasks", "read", Some("task"), "search"),
    ("onto.project.search", "search_onto_projects", "read", Some("project"), "search"),
    ("onto.document.search", "search_onto_documents", "read", Some("document"), "search"),
    ("onto.search", "search_ontology", "read", None, "search"),
    // 3.1: get
    ("onto.project.get", "get_onto_project_details", "read", Some("project"), "get"),
    ("onto.project.graph.get", "get_onto_project_graph", "read", Some("project"), "get"),
    ("onto.task.get", "get_onto_task_details", "read", Some("task"), "get"),
    ("onto.goal.get", "get_onto_goal_details", "read", Some("goal"), "get"),
    ("onto.plan.get", "get_onto_plan_details", "read", Some("plan"), "get"),
    ("onto.document.get", "get_onto_document_details", "read", Some("document"), "get"),
    ("onto.milestone.get", "get_onto_milestone_details", "read", Some("milestone"), "get"),
    ("onto.risk.get", "get_onto_risk_details", "read", Some("risk"), "get"),
    ("onto.requirement.get", "get_onto_requirement_details", "read", Some("requirement"), "get"),
    ("onto.document.tree.get", "get_document_tree", "read", Some("document"), "get"),
    ("onto.document.path.get", "get_document_path", "read", Some("document"), "get"),
    ("onto.entity.relationships.get", "get_entity_relationships", "read", Some("entity"), "get"),
    ("onto.entity.links.get", "get_linked_entities", "read", Some("entity"), "get"),
    // 3.2: create
    ("onto.task.create", "create_onto_task", "write", Some("task"), "create"),
    ("onto.goal.create", "create_onto_goal", "write", Some("goal"), "create"),
    ("onto.plan.create", "create_onto_plan", "write", Some("plan"), "create"),
    ("onto.document.create", "create_onto_document", "write", Some("document"), "create"),
    ("onto.project.create", "create_onto_project", "write", Some("project"), "create"),
    ("onto.task.doc.create_or_attach", "create_task_document", "write", Some("task"), "create_or_attach"),
    // 3.2: update
    ("onto.task.update", "update_onto_task", "write", Some("task"), "update"),
    ("onto.project.update", "update_onto_project", "write", Some("project"), "update"),
    ("onto.goal.update", "update_onto_goal", "write", Some("goal"), "update"),
    ("onto.plan.update", "update_onto_plan", "write", Some("plan"), "update"),
    ("onto.document.update", "update_onto_document", "write", Some("document"), "update"),
    ("onto.milestone.update", "update_onto_milestone", "write", Some("milestone"), "update"),
    ("onto.risk.update", "update_onto_risk", "write", Some("risk"), "update"),
    ("onto.requirement.update", "update_onto_requirement", "write", Some("requirement"), "update"),
    // 3.2: delete
    ("onto.task.delete", "delete_onto_task", "write", Some("task"), "delete"),
    ("onto.document.delete", "delete_onto_document", "write", Some("document"), "delete"),
    ("onto.goal.delete", "delete_onto_goal", "write", Some("goal"), "delete"),
    ("onto.plan.delete", "delete_onto_plan", "write", Some("plan"), "delete"),
    // 3.2: relationships and graph
    ("onto.edge.link", "link_onto_entities", "write", Some("edge"), "link"),
    ("onto.edge.unlink", "unlink_onto_edge", "write", Some("edge"), "unlink"),
    (
        "onto.project.graph.reorganize",
        "reorganize_onto_project_graph",
        "write",
        Some("project"),
        "reorganize",
    ),
    ("onto.document.tree.move", "move_document_in_tree", "write", Some("document"), "move"),
    // 3.3
    ("util.schema.field_info", "get_field_info", "read", Some("schema"), "field_info"),
    ("util.web.search", "web_search", "read", Some("web"), "search"),
    ("util.web.visit", "web_visit", "read", Some("web"), "visit"),
    ("util.buildos.overview", "get_buildos_overview", "read", Some("buildos"), "overview"),
    ("util.buildos.usage_guide", "get_buildos_usage_guide", "read", Some("buildos"), "usage_guide"),
    // Tool mapping 4.1 and 4.2: what the gateway specification does not list
    ("onto.milestone.create", "create_onto_milestone", "write", Some("milestone"), "create"),
    ("onto.risk.create", "create_onto_risk", "write", Some("risk"), "create"),
    ("onto.milestone.delete", "delete_onto_milestone", "write", Some("milestone"), "delete"),
    ("onto.risk.delete", "delete_onto_risk", "write", Some("risk"), "delete"),
    ("onto.project.delete", "delete_onto_project", "write", Some("project"), "delete"),
    ("onto.entity.tag", "tag_onto_entity", "write", Some("entity"), "tag"),
    // Ops that only `onto.entity.tag` needs
    ("onto.mention.ping", "ping_onto_mentions", "write", Some("mention"), "ping"),
    ("onto.entity.full.get", "get_onto_entity_full", "read", Some("entity"), "get"),
    ("onto.goal.search", "search_onto_goals", "read", Some("goal"), "search"),
    ("onto.plan.search", "search_onto_plans", "read", Some("plan"), "search"),
    ("onto.milestone.search", "search_onto_milestones", "read", Some("milestone"), "search"),
    ("onto.risk.search", "search_onto_risks", "read", Some("risk"), "search"),
    // Tool mapping 4.4: calendar
    ("cal.event.list", "list_calendar_events", "read", Some("event"), "list"),
    ("cal.event.get", "get_calendar_event_details", "read", Some("event"), "get"),
    ("cal.event.create", "create_calendar_event", "write", Some("event"), "create"),
    ("cal.event.update", "update_calendar_event", "write", Some("event"), "update"),
    ("cal.event.delete", "delete_calendar_event", "write", Some("event"), "delete"),
    ("cal.project.get", "get_project_calendar", "read", Some("project"), "get"),
    ("cal.project.set", "set_project_calendar", "write", Some("project"), "set"),
];

#[test]
fn every_row_of_the_specification_holds() {
    let checked = fixture::open(&fixture::package().join("examples/buildos"));
    for (op, name, kind, ..) in OPS {
        let tool = checked.catalog.named(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!(tool.names.op, *op, "{name}");
        assert_eq!(tool.rules.effect == Effect::Read, *kind == "read", "{name} is {:?}", tool.rules.effect);
        for known in [op, name].into_iter().copied().chain(tool.names.aliases.iter().map(String::as_str)) {
            match checked.catalog.resolve(known) {
                Resolved::Tool(found) => assert_eq!(found.names.canonical, *name, "{known}"),
                other => panic!("{known}: {other:?}"),
            }
        }
    }
}

#[test]
fn each_tool_has_one_op_and_each_op_one_tool() {
    let checked = fixture::open(&fixture::package().join("examples/buildos"));
    let expect: BTreeSet<&str> = OPS.iter().map(|(_, name, ..)| *name).collect();
    assert_eq!(expect.len(), OPS.len());
    let got: BTreeSet<&str> =
        checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    assert_eq!(got, expect);
    let ops: BTreeSet<&str> = checked.catalog.tools.iter().map(|tool| tool.names.op.as_str()).collect();
    assert_eq!(ops.len(), checked.catalog.tools.len());
}

#[test]
fn registry_records_say_the_same() {
    let checked = fixture::open(&fixture::package().join("examples/buildos"));
    let text = registry(&checked.catalog, &checked.catalog.profile(None).unwrap());
    let registry: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(registry["registry_version"], checked.catalog.version.as_str());
    let tools = registry["tools"].as_array().unwrap();
    let records: BTreeMap<&str, &Value> =
        tools.iter().map(|tool| (tool["op"].as_str().unwrap(), tool)).collect();
    for (op, name, kind, entity, action) in OPS {
        let record = records[op];
        assert_eq!(record["tool_name"], *name);
        assert_eq!(record["group"], op.split('.').next().unwrap());
        assert_eq!(record["kind"], *kind, "{op}");
        assert_eq!(record.get("entity").and_then(Value::as_str), *entity, "{op}");
        assert_eq!(record["action"], *action, "{op}");
        assert_eq!(record["callable"], true, "{op}");
        assert!(record["parameters_schema"]["type"] == "object", "{op}");
        assert!(!record["examples"].as_array().unwrap().is_empty(), "{op} has no example");
    }
    for op in ["onto.task.create", "onto.project.create"] {
        let policy = &records[op]["policy"];
        for part in ["do", "dont", "edge_cases"] {
            assert!(policy[part].as_array().is_some_and(|rules| !rules.is_empty()), "{op} has no `{part}`");
        }
    }
}
