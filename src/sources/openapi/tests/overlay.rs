//! Overlays as their authors see them: the document that comes out, or the finding.

use serde_json::{Value, json};

use super::super::overlay::{Allowance, apply, mistake};

/// Applies actions to a document: the document after them, and code and pointer of each finding.
fn check(document: Value, actions: Value, expect: Value, findings: &[(&str, &str)]) {
    let overlay = json!({"overlay": "1.1.0", "info": {"title": "t", "version": "1"}, "actions": actions});
    let mut changed = document;
    let mut left = Allowance::of(&changed);
    let found = apply(&overlay, "overlay.yaml", &mut changed, &mut left);
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
        std::iter::once(nest).chain(std::iter::repeat_n(deepen, 256)).chain(std::iter::repeat_n(grow, 64)))});
    let mut document = json!({"list": ["x".repeat(1000)], "object": {}});
    let mut left = Allowance::of(&document);
    let findings = apply(&overlay, "overlay.yaml", &mut document, &mut left);
    assert!(findings.iter().any(|finding| finding.message.contains("too large")));
    assert!(findings.iter().any(|finding| finding.message.contains("too deeply")));
}

#[test]
fn a_value_that_is_no_overlay_of_a_known_version_is_a_mistake() {
    let of = |version: &str| json!({"overlay": version, "actions": []});
    for known in ["1.0.0", "1.1.0", "1.0", "1.1.7"] {
        assert_eq!(mistake(&of(known)), None);
    }
    for unknown in ["9.9.9", "1.2.0", "1.10.0", "2.0", "", "x"] {
        assert_eq!(mistake(&of(unknown)).unwrap().0, "/overlay");
    }
    assert_eq!(mistake(&json!({"openapi": "3.1.0"})).unwrap().0, "");
    let extends = json!({"overlay": "1.0.0", "actions": [], "extends": 1});
    assert_eq!(mistake(&extends).unwrap().0, "/extends");
}

#[test]
fn paths_that_visit_too_much_are_refused_before_they_are_followed() {
    let row = || Value::from_iter(vec![json!({"a": {"b": 1}}); 300]);
    let mut document = Value::from_iter(std::iter::repeat_with(row).take(100));
    for target in
        ["$..*..*..*", "$..[?@..x && $..y]", "$[*,*,*][*,*,*][*,*,*]['a','a','a','a']", "$..['a','a','a']"]
    {
        let action = json!({"target": target, "update": {}});
        let overlay = json!({"overlay": "1.0.0", "actions": vec![action; 40]});
        let began = std::time::Instant::now();
        let mut left = Allowance::of(&document);
        let findings = apply(&overlay, "overlay.yaml", &mut document, &mut left);
        assert!(began.elapsed().as_secs() < 60, "{target}");
        assert!(
            findings.iter().any(|finding| finding.message.contains("too much")),
            "{target}: {findings:?}"
        );
    }
}
