//! Overlays as their authors see them: the document that comes out, or the finding.

use serde_json::{Value, json};

use super::super::overlay::apply;

/// Applies actions to a document: the document after them, and code and pointer of each finding.
fn check(document: Value, actions: Value, expect: Value, findings: &[(&str, &str)]) {
    let overlay = json!({"overlay": "1.1.0", "info": {"title": "t", "version": "1"}, "actions": actions});
    let mut changed = document;
    let found = apply(&overlay, "overlay.yaml", &mut changed);
    assert_eq!(changed, expect);
    let found: Vec<_> = found
        .iter()
        .map(|finding| (finding.code.as_str(), finding.place.as_ref().unwrap().pointer.as_str()))
        .collect();
    assert_eq!(found, findings);
}

#[test]
fn an_update_is_merged_into_objects_and_appended_to_lists() {
    check(
        json!({"info": {"title": "a", "tags": [1]}, "servers": [{"url": "x"}]}),
        json!([
            {"target": "$.info", "update": {"title": "b", "tags": [2], "contact": {"name": "c"}}},
            {"target": "$.servers", "update": {"url": "y"}},
            {"target": "$.info.tags", "update": [3, 4]},
            {"target": "$.info.contact.name", "update": "d"},
        ]),
        json!({"info": {"title": "b", "tags": [1, 2, 3, 4], "contact": {"name": "d"}},
            "servers": [{"url": "x"}, {"url": "y"}]}),
        &[],
    );
}

#[test]
fn a_removal_takes_all_selected_nodes_whatever_their_order() {
    check(
        json!({"servers": [1, 2, 3, 4], "paths": {"/a": {"get": {"x-internal": true}}, "/b": {"get": {}}}}),
        json!([
            {"target": "$.servers[2, 0]", "remove": true},
            {"target": "$.paths[?@.get['x-internal'] == true]", "remove": true},
        ]),
        json!({"servers": [2, 4], "paths": {"/b": {"get": {}}}}),
        &[],
    );
}

#[test]
fn a_copy_takes_one_node() {
    check(
        json!({"paths": {"/a": {"get": {"summary": "A"}}, "/b": {}}}),
        json!([
            {"target": "$.paths['/b']", "copy": "$.paths['/a']"},
            {"target": "$.paths['/b']", "copy": "$.paths.*"},
        ]),
        json!({"paths": {"/a": {"get": {"summary": "A"}}, "/b": {"get": {"summary": "A"}}}}),
        &[("openapi-overlay-invalid", "/actions/1/copy")],
    );
}

#[test]
fn an_action_that_fits_not_all_of_its_nodes_changes_none() {
    let document = json!({"a": {"x": {"y": 1}}, "b": {"x": 2}});
    check(
        document.clone(),
        json!([{"target": "$.*", "update": {"x": 3}}, {"target": "$.nowhere", "remove": true}]),
        document,
        &[("openapi-overlay-invalid", "/actions/0/update"), ("openapi-overlay-unused", "/actions/1/target")],
    );
}

#[test]
fn an_action_that_cannot_be_read_is_left_out_and_the_others_are_applied() {
    check(
        json!({}),
        json!([
            1,
            {"target": 1, "remove": true},
            {"target": "$.[", "remove": true},
            {"target": "$"},
            {"target": "$", "update": "text"},
            {"target": "$", "update": {"a": 1}},
        ]),
        json!({"a": 1}),
        &[
            ("openapi-overlay-invalid", "/actions/0/target"),
            ("openapi-overlay-invalid", "/actions/1/target"),
            ("openapi-overlay-invalid", "/actions/2/target"),
            ("openapi-overlay-invalid", "/actions/3/target"),
            ("openapi-overlay-invalid", "/actions/4/update"),
        ],
    );
}

#[test]
fn copies_of_copies_end_at_a_limit() {
    let grow = json!({"target": "$.list", "copy": "$.list"});
    let nest = json!({"target": "$.object", "update": {"inner": {}}});
    let deepen = json!({"target": "$..inner", "copy": "$.object"});
    let overlay = json!({"overlay": "1.1.0", "actions": Vec::from_iter(
        std::iter::repeat_n(grow, 64).chain([nest]).chain(std::iter::repeat_n(deepen, 256)))});
    let mut document = json!({"list": ["x".repeat(1000)], "object": {}});
    let findings = apply(&overlay, "overlay.yaml", &mut document);
    assert!(findings.iter().any(|finding| finding.message.contains("too large")));
    assert!(findings.iter().any(|finding| finding.message.contains("too deeply")));
}

#[test]
fn a_value_that_is_no_overlay_is_reported() {
    let mut document = json!({});
    let findings = apply(&json!({"openapi": "3.1.0"}), "overlay.yaml", &mut document);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code.as_str(), "openapi-overlay-invalid");
}
