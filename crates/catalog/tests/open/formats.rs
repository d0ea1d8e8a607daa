//! Every recognised shape, from the smallest document that has it.

use serde_json::{Value, json};
use toolcrib_definition::Effect;
use toolcrib_definition::finding::Severity;

use crate::fixture;

/// A document holds one tool `read_file` that is described as "Reads a file." and takes a `path`.
#[track_caller]
fn check(file: &str, text: &str) {
    check_of(file, text, None);
}

#[track_caller]
fn check_of(file: &str, text: &str, server: Option<&str>) {
    let checked = fixture::open_text(file, text);
    assert!(!checked.lost_input(), "{:#?}", checked.findings);
    let tool = fixture::only(&checked);
    assert_eq!(tool.names.canonical, "read_file");
    assert_eq!(tool.texts.description, "Reads a file.");
    assert_eq!(tool.origin.server.as_deref(), server);
    assert_eq!(tool.input.parameters.schema().pointer("/properties/path/type"), Some(&Value::from("string")));
    assert_eq!(tool.input.parameters.schema()["required"], serde_json::json!(["path"]));
    assert!(tool.input.parameters.violations(&serde_json::json!({ "path": "a.txt" })).is_empty());
    assert!(!tool.input.parameters.violations(&serde_json::json!({})).is_empty());
    assert_eq!(tool.rules.effect, Effect::Read);
}

/// A flat tool with its schema under `key`, and more fields.
fn flat(key: &str, more: &str) -> String {
    format!(
        r#"{{"name":"read_file","description":"Reads a file.","{key}":{{"type":"object","properties":{{"path":{{"type":"string"}}}},"required":["path"]}}{more}}}"#
    )
}

fn function() -> String {
    format!(r#"{{"type":"function","function":{}}}"#, flat("parameters", ""))
}

#[test]
fn mcp() {
    let tool = flat("inputSchema", r#","annotations":null"#);
    check("a.json", &format!(r#"{{"tools":[{tool}]}}"#));
    check(
        "a.json",
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tool}],"nextCursor":null}}}}"#),
    );
    check("a.json", &format!("[{tool}]"));
    check("a.json", &tool);
    check("a.json", &format!("[{}]", flat("input_schema", "")));
    let hinted = flat(
        "inputSchema",
        r#","annotations":{"readOnlyHint":true,"title":"Read"},"outputSchema":{"type":"object"}"#,
    );
    let checked = fixture::open_text("a.json", &hinted);
    assert_eq!(fixture::only(&checked).names.title.as_deref(), Some("Read"));
    assert!(fixture::only(&checked).output.is_some());
}

#[test]
fn openai() {
    check("a.json", &function());
    check("a.json", &format!("[{}]", function()));
    check(
        "a.json",
        &format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"x","name":"ann"}}],"tools":[{}]}}"#,
            function()
        ),
    );
    check(
        "a.json",
        &format!(r#"{{"tools":[{}]}}"#, flat("parameters", r#","type":"function","strict":true"#)),
    );
    check("a.json", &format!(r#"{{"functions":[{}]}}"#, flat("parameters", "")));
}

#[test]
fn anthropic() {
    check(
        "a.json",
        &format!(
            r#"{{"model":"m","max_tokens":1,"tools":[{}]}}"#,
            flat("input_schema", r#","cache_control":{"type":"ephemeral"}"#)
        ),
    );
    let tool =
        flat("input_schema", r#","type":"custom","defer_loading":true,"input_examples":[{"path":"a.txt"}]"#);
    check("a.json", &format!("[{tool}]"));
    let checked = fixture::open_text("a.json", &tool);
    assert_eq!(fixture::only(&checked).texts.examples.len(), 1);
}

#[test]
fn gemini() {
    let tool = flat("parameters", "").replace("\"object\"", "\"OBJECT\"").replace("\"string\"", "\"STRING\"");
    for key in ["functionDeclarations", "function_declarations"] {
        check("a.json", &format!(r#"{{"tools":[{{"{key}":[{tool}]}}]}}"#));
        check("a.json", &format!(r#"[{{"{key}":[{tool}]}}]"#));
        check("a.json", &format!(r#"{{"{key}":[{tool}]}}"#));
    }
    check("a.json", &format!(r#"{{"functionDeclarations":[{}]}}"#, flat("parametersJsonSchema", "")));
}

#[test]
fn ollama_and_bedrock() {
    check("a.json", &format!(r#"{{"model":"m","stream":false,"tools":[{}]}}"#, function()));
    let spec = flat("inputSchema", "").replace(r#""inputSchema":{"#, r#""inputSchema":{"json":{"#);
    let spec = format!("{spec}}}");
    check("a.json", &format!(r#"{{"toolConfig":{{"tools":[{{"toolSpec":{spec}}}]}}}}"#));
    check("a.json", &format!(r#"[{{"toolSpec":{spec}}}]"#));
}

#[test]
fn langchain() {
    let metadata = r#"{"category":"Files","short_description":"When you need a file","defer_to_workspace":true,"phases":["a"]}"#;
    let tool =
        format!(r#"{{"type":"function","function":{},"metadata":{metadata}}}"#, flat("parameters", ""));
    check("a.json", &format!("[{tool}]"));
    let checked = fixture::open_text("a.json", &tool);
    let tool = fixture::only(&checked);
    assert_eq!(
        (tool.texts.short.as_str(), tool.labels.categories[0].as_str()),
        ("When you need a file", "Files")
    );
    check("a.json", &flat("args_schema", ""));
}

#[test]
fn maps_of_servers() {
    let tool = flat("inputSchema", "");
    check_of("a.json", &format!(r#"{{"empty":[],"disk":[{tool}]}}"#), Some("disk"));
    check_of("a.json", &format!(r#"{{"disk":{{"tools":[{tool}]}}}}"#), Some("disk"));
    check_of(
        "a.json",
        &format!(
            r#"[{{"name":"Disk MCP","description":"A server.","category":"Files","config":{{"mcpServers":{{"disk":{{"command":"npx"}}}}}},
            "tools":{{"disk":{{"server_name":"disk","version":"1","tools":[{tool}]}}}}}}]"#
        ),
        Some("disk"),
    );
    let nasty = flat("input_schema", "");
    check_of(
        "a.json",
        &format!(
            r#"[{{"labels":{{"primary":"x"}},"metadata":{{"server_name":"disk","remote_server_response":{{"tools":[{nasty}]}}}}}}]"#
        ),
        Some("disk"),
    );
    check_of(
        "a.json",
        r#"{"disk":[{"name":"read_file","description":"Reads a file.","arguments":[{"name":"path","type":"string","desc":"Which"},{"name":"size","type":"integer","desc":"Bytes","optional":true}]}]}"#,
        Some("disk"),
    );
}

#[test]
fn native_json() {
    let tool = flat("parameters", "");
    check("a.json", &tool);
    check("a.json", &format!("[{tool}]"));
    check("a.json", &format!(r#"{{"tools":[{tool}]}}"#));
}

#[test]
fn native_yaml() {
    let tool = "name: read_file\ndescription: Reads a file.\nparameters:\n  type: object\n  properties:\n    path: {type: string}\n  required: [path]\n";
    check("a.yaml", tool);
    check("a.yml", &format!("---\n{tool}"));
    let item = format!("- {}", tool.trim_end().replace('\n', "\n  "));
    check("a.yaml", &item);
    check("a.yaml", &format!("tools:\n{item}"));
    let two = format!("{tool}---\nname: other\ndescription: Does something else entirely.\n");
    let checked = fixture::open_text("a.yaml", &two);
    let names: Vec<&str> = checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    assert_eq!(names, ["read_file", "other"], "{:#?}", checked.findings);
}

#[test]
fn native_toml() {
    let tool = "name = \"read_file\"\ndescription = \"Reads a file.\"\n";
    let schema = "type = \"object\"\nrequired = [\"path\"]\nproperties.path.type = \"string\"\n";
    check("a.toml", &format!("{tool}[parameters]\n{schema}"));
    check("a.toml", &format!("[[tools]]\n{tool}[tools.parameters]\n{schema}"));
    check("a.toml", &format!("[[tool]]\n{tool}[tool.parameters]\n{schema}"));
}

#[test]
fn openapi() {
    let operation = r#""operationId":"read_file","description":"Reads a file.""#;
    check_of(
        "a.json",
        &format!(
            r#"{{"swagger":"2.0","info":{{"title":"disk","version":"1"}},"paths":{{"/f":{{"get":{{{operation},"parameters":[{{"name":"path","in":"query","required":true,"type":"string"}}]}}}}}}}}"#
        ),
        Some("disk"),
    );
    for version in ["3.0.3", "3.1.0"] {
        check_of(
            "a.json",
            &format!(
                r##"{{"openapi":"{version}","info":{{"title":"disk","version":"1"}},"paths":{{"/f/{{path}}":{{"parameters":[{{"$ref":"#/components/parameters/P"}}],"get":{{{operation}}}}}}},"components":{{"parameters":{{"P":{{"name":"path","in":"path","required":true,"schema":{{"type":"string"}}}}}}}}}}"##
            ),
            Some("disk"),
        );
    }
    let yaml = "openapi: 3.1.0\ninfo: {title: disk, version: '1'}\npaths:\n  /f:\n    get:\n      operationId: read_file\n      description: Reads a file.\n      parameters:\n        - {name: path, in: query, required: true, schema: {type: string}}\n";
    check_of("a.yaml", yaml, Some("disk"));
}

#[test]
fn extensions_do_not_depend_on_case_or_byte_order_marks() {
    check("A.JSON", &format!("\u{feff}[{}]", flat("inputSchema", "")));
}

#[test]
fn a_tool_without_a_usable_schema_is_an_error_at_its_place() {
    for (key, value) in [
        ("parameters", json!(5)),
        ("inputSchema", json!("none")),
        ("parameters", json!(["a"])),
        ("parameter", json!({"a": "string"})),
    ] {
        let tool = json!({"name": "send_sms", "description": "Sends a text message.", key: value});
        for (text, place) in [(json!([tool]), "/0"), (tool.clone(), "")] {
            let folder = fixture::folder(&[("sms.json", &text.to_string())]);
            let findings = fixture::open(folder.path()).findings.clone();
            let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
            let places: Vec<_> =
                errors.filter_map(|finding| Some(&*finding.place.as_ref()?.pointer)).collect();
            let is_there = |found: &&str| found.starts_with(place);
            assert!(places.iter().any(is_there), "{text}: {findings:?}");
        }
    }
    let server = r#"[{"name": "files", "description": "A server.", "args": ["-y", "files"]}]"#;
    let folder = fixture::folder(&[("servers.json", server)]);
    assert!(fixture::open(folder.path()).findings.iter().all(|finding| finding.severity != Severity::Error));
}

#[test]
fn a_value_that_can_only_mean_one_thing_is_read_so_and_told() {
    let body = serde_json::json!({
        "required": "true",
        "content": {"application/json": {"schema": {
            "type": "object", "required": "name",
            "properties": {"name": {"type": "string", "maxLength": "10", "nullable": "true"}},
        }}},
    });
    let force = serde_json::json!({"name": "force", "in": "query", "required": "true", "schema": {"type": "boolean"}});
    let document = serde_json::json!({
        "openapi": "3.0.0", "info": {"title": "T", "version": "1"},
        "paths": {"/x": {"delete": {
            "operationId": "delete_x", "description": "Deletes the x of this name.", "parameters": [force],
            "requestBody": body, "responses": {},
        }}},
    });
    let checked = fixture::open_text("api.json", &document.to_string());
    let schema = fixture::only(&checked).input.parameters.schema().clone();
    assert_eq!(schema["required"], serde_json::json!(["force", "name"]));
    assert_eq!(schema["properties"]["name"]["maxLength"], 10);
    assert_eq!(schema["properties"]["name"]["type"], serde_json::json!(["string", "null"]));
    let repaired = checked.findings.iter().filter(|finding| finding.code.as_str() == "field-repaired");
    assert_eq!(repaired.count(), 2);
    assert!(fixture::codes(&checked).contains(&"schema-repaired"));
}

#[test]
fn a_field_of_a_definition_is_read_as_the_one_thing_that_it_can_mean() {
    let tool = serde_json::json!({
        "name": "a", "description": "D.", "approval": "true", "cost": "2.5", "tags": "x", "effect": "WRITE",
        "deprecated": "perhaps", "parameters": {"type": "object", "properties": {}},
    });
    let checked = fixture::open_text("tools.json", &serde_json::json!([tool]).to_string());
    let tool = fixture::only(&checked);
    assert_eq!((tool.rules.approval, tool.labels.cost), (Some(true), Some(2.5)));
    assert_eq!((tool.labels.tags.as_slice(), tool.labels.deprecated), (&["x".to_string()][..], None));
    let codes = fixture::codes(&checked);
    assert_eq!(codes.iter().filter(|code| **code == "field-repaired").count(), 4);
    assert_eq!(codes.iter().filter(|code| **code == "field-invalid").count(), 1);
}

#[test]
fn a_tool_is_closed_while_a_rule_for_its_calls_cannot_be_read() {
    let closed = |field: &str| {
        let tool =
            "- name: get_bonus\n  description: Reads the bonus of a person.\n  parameters: {type: object}\n";
        let checked = fixture::open_text("tools.yaml", &format!("{tool}  {field}\n"));
        checked.catalog.tools[0].not_callable().map(str::to_string)
    };
    for rule in [
        "allowed_role: [admin]", "roles: [admin]", "approval: yes", "aproval: true", "effect: delete",
        "efect: write", "dry_run: on", "when_forbiden: hidden",
    ] {
        assert_eq!(closed(rule).as_deref(), Some("a rule for its calls could not be read"), "{rule}");
    }
    for other in ["allowed_roles: [admin]", "titel: Bonus", "tags: 7", "x-owner: pay"] {
        assert_eq!(closed(other), None, "{other}");
    }
}
