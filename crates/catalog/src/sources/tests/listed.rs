//! Definitions of live servers: repaired, left out, or kept to the byte.

use super::*;

/// The definitions that are kept of a list, and the messages of the findings.
fn judge(tools: &[Value]) -> (Vec<Value>, Vec<String>) {
    let (text, findings) = judged(&json!({ "tools": tools }).to_string(), "mcp:x", None);
    let list: Value = serde_json::from_str(&text).unwrap();
    (list["tools"].as_array().unwrap().clone(), findings.into_iter().map(|finding| finding.message).collect())
}

/// Checks the schema that is made of a schema of arguments, and whether a finding says so.
#[track_caller]
fn check_input(written: Value, expect: Value, is_told: bool) {
    let (kept, findings) = judge(&[json!({"name": "x", "inputSchema": written})]);
    assert_eq!(kept[0]["inputSchema"], expect, "{findings:?}");
    assert_eq!(!findings.is_empty(), is_told, "{findings:?}");
}

/// Checks the output schema that is kept of one.
#[track_caller]
fn check_output(written: Value, expect: Option<Value>) {
    let schema = json!({"type": "object"});
    let (kept, findings) = judge(&[json!({"name": "x", "inputSchema": schema, "outputSchema": written})]);
    assert_eq!(kept[0].get("outputSchema"), expect.as_ref(), "{findings:?}");
    assert!(expect.is_some() || findings[0].contains("outputSchema"), "{findings:?}");
}

#[test]
fn a_definition_without_a_mistake_keeps_its_bytes() {
    let text = r#"{"tools":[{"name": "a", "inputSchema" : {"type":"object", "properties":{"b":{}}}}]}"#;
    let (judged, findings) = judged(text, "mcp:x", None);
    assert_eq!((judged.as_str(), findings.len()), (text, 0));
}

#[test]
fn schemas_of_arguments_become_those_of_objects() {
    check_input(
        json!({"type": "object", "properties": []}),
        json!({"type": "object", "properties": {}}),
        true,
    );
    check_input(
        json!({"type": "object", "properties": {"a": {"items": [], "properties": []}}, "additionalProperties": []}),
        json!({"type": "object", "properties": {"a": {"items": {}, "properties": {}}}, "additionalProperties": {}}),
        true,
    );
    check_input(json!({"properties": {"a": {}}}), json!({"type": "object", "properties": {"a": {}}}), true);
    for root in [json!("OBJECT"), json!(["object", "null"]), json!("string"), json!("dict"), json!(7)] {
        check_input(json!({"type": root}), json!({"type": "object"}), true);
    }
    for none in [json!(null), json!([]), json!(true), json!("text"), json!({})] {
        check_input(none, json!({"type": "object"}), true);
    }
    check_input(json!("{\"type\":\"object\"}"), json!({"type": "object"}), true);
    let properties = json!({"type": "object", "properties": {"a": true, "b": false}});
    check_input(properties, json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}}}), false);
    let null = json!({"type": "object", "properties": {"a": null}, "required": true});
    check_input(null, json!({"type": "object", "properties": {"a": {}}, "required": []}), true);
}

#[test]
fn output_schemas_that_clients_cannot_compile_are_left_out() {
    let of = |property: Value| json!({"type": "object", "properties": {"a": property}});
    for fine in [
        of(json!({"type": "string", "pattern": "^[\\w.-]{1,3}(?:a|b)?$"})),
        json!({"type": "array"}),
        json!({}),
    ] {
        check_output(fine.clone(), Some(fine));
    }
    check_output(of(json!({"nullable": true})), Some(of(json!({}))));
    check_output(of(json!({"minLength": "2", "enum": [], "format": []})), Some(of(json!({"minLength": 2}))));
    check_output(json!({"type": "object", "$id": "x"}), Some(json!({"type": "object"})));
    check_output(of(json!({"$ref": "#/$defs/gone"})), Some(of(json!({}))));
    check_output(of(json!({"$ref": "https://example.com/a"})), None);
    check_output(json!([]), None);
    for pattern in ["(?i)a", "(?P<n>a)", r"\@", r"\A", "a++", "{", "[\\w-x]", "[[:alpha:]]", "(", "]"] {
        check_output(of(json!({"pattern": pattern})), None);
    }
}

#[test]
fn nameless_doubled_and_oversized_definitions_are_left_out() {
    let schema = json!({"type": "object"});
    let tool = |name: Value| json!({"name": name, "inputSchema": schema});
    let large = json!({"name": "large", "description": "x".repeat(MAX_DEFINITION), "inputSchema": schema});
    let all = [
        tool(json!("a")),
        tool(json!(null)),
        tool(json!(7)),
        tool(json!(" ")),
        tool(json!("a")),
        large,
        json!("x"),
    ];
    let (kept, findings) = judge(&all);
    assert_eq!(kept, [tool(json!("a"))]);
    assert_eq!(findings.len(), 6, "{findings:?}");
    for (finding, why) in
        findings.iter().zip(["no name", "no name", "no name", "same name", "over the limit", "no object"])
    {
        assert!(finding.contains(why), "{finding}");
    }
}

#[test]
fn fields_of_the_wrong_kind_are_left_out() {
    let schema = json!({"type": "object"});
    let (kept, findings) = judge(&[json!({
        "name": "a", "inputSchema": schema, "title": 3, "description": null, "annotations": {"readOnlyHint": "yes", "title": "A"},
        "icons": [{"url": "x"}], "execution": {"taskSupport": "sometimes"}, "_meta": [],
    })]);
    assert_eq!(kept, [json!({"name": "a", "inputSchema": schema, "annotations": {"title": "A"}})]);
    assert_eq!(findings.len(), 1);
    for key in ["title", "readOnlyHint", "icons", "execution", "_meta"] {
        assert!(findings[0].contains(&format!("`{key}`")), "{findings:?}");
    }
}

#[test]
fn a_definition_is_read_in_no_other_format() {
    let schema = json!({"type": "object"});
    let tool = json!({"name": "a", "inputSchema": schema, "function": {"name": "b"}, "toolSpec": {}, "op": "b.c", "aliases": ["b"]});
    let more = json!({"function": {"name": "b"}, "toolSpec": {}, "op": "b.c", "aliases": ["b"]});
    assert_eq!(judge(&[tool]).0, [json!({"name": "a", "inputSchema": schema, "toolcrib/more": more})]);
    let other = json!({"name": "a", "input_schema": {"type": "object", "properties": {"b": {}}}});
    assert_eq!(judge(&[other]).0[0]["inputSchema"]["properties"], json!({"b": {}}));
}

#[test]
fn a_filter_hides_no_tool_whose_entry_is_wrong() {
    let filter = ToolFilter { denied: vec!["b*".into()], ..ToolFilter::default() };
    let tools =
        r#"{"tools":[{"name": "a","inputSchema":{"type":"object"}},{"name":"bee"},{"title":"no name"}]}"#;
    let (kept, findings) = judged(tools, "mcp:x", Some(&filter));
    assert_eq!(kept, r#"{"tools":[{"name": "a","inputSchema":{"type":"object"}}]}"#);
    assert_eq!(findings.len(), 1);
    assert_eq!(judged(r#"{"tools":{}}"#, "mcp:x", Some(&filter)).0, r#"{"tools":{}}"#);
}

#[test]
fn schemas_that_take_too_much_work_cost_their_server_alone() {
    let slow = |index: usize| {
        let property = |at: usize| {
            (format!("p{at}"), json!({"type": "string", "pattern": format!("\\p{{L}}{{1,500}}{at}")}))
        };
        let properties: Map<String, Value> = (0..50).map(property).collect();
        json!({"name": format!("slow{index}"), "inputSchema": {"type": "object", "properties": properties}})
    };
    let (kept, findings) = judge(&(0..30).map(slow).collect::<Vec<_>>());
    assert!(!kept.is_empty() && kept.len() < 10, "{}", kept.len());
    assert!(findings[0].contains("too much work"), "{findings:?}");
    let quick = |index: usize| json!({"name": format!("t{index}"), "inputSchema": {"type": "object", "properties": {"a": {"pattern": "^\\w{1,64}-\\d{4}$"}}}});
    let (kept, findings) = judge(&(0..300).map(quick).collect::<Vec<_>>());
    assert_eq!((kept.len(), findings.len()), (300, 0));
}

#[test]
fn a_text_in_place_of_a_schema_is_a_type_or_accepts_anything() {
    let schema = json!({"type": "object", "properties": {"word": "string", "more": "of it"}});
    let (tools, told) = judge(&[json!({"name": "a", "inputSchema": schema})]);
    assert_eq!(tools[0]["inputSchema"]["properties"], json!({"word": {"type": "string"}, "more": {}}));
    assert!(told[0].contains("expected a schema"), "{told:?}");
}

#[test]
fn what_a_repair_loses_is_a_warning() {
    let check = |definition: Value, expect: &[Severity]| {
        let (_, findings) = judged(&json!({ "tools": [definition] }).to_string(), "mcp:x", None);
        let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, expect, "{findings:?}");
    };
    let of = |schema: Value| json!({ "name": "a", "inputSchema": schema });
    check(of(json!({ "type": "OBJECT" })), &[Severity::Info]);
    check(of(json!([])), &[Severity::Info]);
    check(of(json!("text")), &[Severity::Warning]);
    check(of(json!({ "type": "object", "properties": { "a": { "type": "strnig" } } })), &[Severity::Warning]);
    check(of(json!({ "type": "object", "properties": { "a": 5 } })), &[Severity::Warning]);
    let named =
        |key: &str, value: Value| json!({ "name": "a", "inputSchema": { "type": "object" }, key: value });
    check(named("description", json!(5)), &[Severity::Warning]);
    check(named("outputSchema", json!({ "pattern": "(?P<a>b)" })), &[Severity::Warning]);
    check(named("title", json!(null)), &[]);
}
