//! Tools, and objects that only look like one.

use serde_json::{Value, json};

use crate::sources::RawTool;
use crate::sources::collect::collect;
use crate::sources::formats::nearest_format;
use toolcrib_definition::{Definition, Schema};

#[track_caller]
fn check(document: Value, expect: &[&str]) {
    let (tools, _) = collect("f", &document);
    let names: Vec<&str> = tools.iter().map(|tool| tool.definition.name.as_str()).collect();
    assert_eq!(names, expect, "{document}");
}

#[test]
fn other_files_of_a_project_hold_no_tools() {
    let schema = json!({"type": "string"});
    for document in [
        json!({"name": "my-app", "version": "1.0.0", "description": "An app", "type": "module", "scripts": {}}),
        json!({"name": "my-app", "description": "An app", "type": "module"}),
        json!({"name": "a/b", "description": "d", "type": "library", "require": {"php": ">=8"}}),
        json!({"name": "act", "description": "d", "inputs": {}, "runs": {}}),
        json!([{"name": "Bob", "description": "a person"}, {"name": "Al", "description": "another"}]),
        json!([{"name": "Bob", "description": "a person", "age": 40}]),
        json!({"people": [{"name": "Bob", "description": "a person"}]}),
        json!({"type": "record", "name": "User", "description": "d", "fields": [{"name": "x", "type": "string", "description": "e"}]}),
        json!({"metadata": {"tools": [{"vendor": "x", "name": "cdxgen", "version": "8"}]},
               "components": [{"type": "library", "name": "lodash", "version": "1", "description": "d"}]}),
        json!({"templating": {"list": [{"name": "ds", "type": "datasource", "description": "d", "query": "x"}]}}),
        json!({"item": [{"request": {"header": [{"type": "text", "name": "x", "description": "d"}]}}],
               "variable": [{"type": "string", "name": "v", "description": "d"}]}),
        json!({"resources": [{"type": "t", "name": "st", "metadata": {"description": "x"}, "parameters": {"a": 1}}]}),
        json!({"channels": {"c": {"message": {"name": "M", "description": "d", "payload": {}, "tags": [{"name": "a", "description": "b"}]}}}}),
        json!({"spec": {"containers": [{"name": "a", "image": "b", "args": {"x": 1}}]}}),
        json!({"tool": {"poetry": {"name": "x", "description": "d", "type": "lib"}, "mypy": {"overrides": [{"name": "f", "description": "z"}]}}}),
        json!({"nodes": [{"name": "Start", "type": "n8n.start", "parameters": {}, "position": [1, 2]}]}),
        json!({"prompts": [{"name": "p", "description": "d", "arguments": [{"name": "a", "description": "b", "required": true}]}]}),
        json!([{"type": "function", "name": "transfer", "inputs": [], "outputs": []}]),
        json!({"openrpc": "1", "methods": [{"name": "f", "description": "d", "params": [{"name": "a", "schema": schema}]}]}),
    ] {
        check(document, &[]);
    }
}

#[test]
fn calls_and_choices_of_functions_are_no_definitions() {
    check(json!({"tool_choice": {"type": "function", "function": {"name": "f"}}}), &[]);
    check(json!({"tool_choice": {"type": "function", "name": "f"}}), &[]);
    let call = json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    check(json!({"choices": [{"message": {"tool_calls": [call]}}]}), &[]);
    check(
        json!({"output": [{"type": "function_call", "name": "f", "arguments": "{}", "call_id": "x"}]}),
        &[],
    );
    check(json!({"tool_calls": [{"type": "tool_call", "name": "f", "args": {"x": 1}, "id": "1"}]}), &[]);
    check(json!({"tool_calls": [{"type": "tool_call", "name": "f", "args": {}, "id": "1"}]}), &[]);
}

#[test]
fn tools_without_a_schema_are_tools_among_tools() {
    let bare = json!({"name": "a", "description": "d"});
    check(json!({"tools": [bare]}), &["a"]);
    check(json!({"tools": [{"name": "a"}]}), &["a"]);
    check(json!({"tools": [{"type": "custom", "name": "a", "description": "d"}]}), &["a"]);
    check(json!({"tools": [{"name": "a", "version": "1", "inputSchema": {}}]}), &["a"]);
    check(json!({"tools": [{"type": "function", "function": {"name": "a"}}]}), &["a"]);
    let typed = json!({"name": "b", "arguments": [{"name": "x", "type": "string", "desc": "y"}]});
    check(json!({"one": [bare], "two": [typed]}), &["a", "b"]);
    check(json!({"one": [bare], "two": [{"name": "b", "description": "d", "arguments": null}]}), &["a", "b"]);
    check(json!({"one": [bare], "two": [{"name": "b", "age": 1}]}), &[]);
    check(json!({"tools": {"a": {"x": 1}}}), &[]);
}

#[test]
fn a_native_definition_may_lack_its_parameters() {
    check(json!({"name": "a", "description": "d"}), &["a"]);
    check(json!({"name": "a", "description": "d", "categry": "x"}), &["a"]);
    check(json!({"name": "a", "description": "d", "efect": "read"}), &["a"]);
    check(json!({"name": "a", "description": "d", "category": "x", "colour": "red"}), &["a"]);
    check(json!({"name": "a", "description": "d", "colour": "red"}), &[]);
    check(json!({"name": "a", "description": "d", "parameters": {"path": {"type": "string"}}}), &["a"]);
    check(json!([{"name": "a", "description": "d", "effect": "read"}]), &["a"]);
    let real = json!({"name": "b", "parameters": {"type": "object"}});
    check(json!([{"name": "a", "description": "d"}, real]), &["a", "b"]);
}

#[test]
fn a_function_of_another_format_that_names_no_arguments_has_no_arguments() {
    let function = |rest: Value| {
        let mut function = json!({"name": "a", "description": "d"});
        function.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        function
    };
    let parameters = |document: Value| {
        let (tools, codes) = read(document);
        assert_eq!((tools.len(), codes), (1, Vec::new()));
        tools[0].parameters.as_ref().map(|schema| schema.value().clone())
    };
    for document in [
        json!([{"type": "function", "function": function(json!({}))}]),
        json!([{"type": "function", "function": function(json!({"parameters": null}))}]),
        json!([{"type": "function", "function": function(json!({"parameters": []}))}]),
        json!({"tools": [{"functionDeclarations": [function(json!({}))]}]}),
        json!({"functions": [function(json!({}))]}),
        json!({"tools": [{"toolSpec": function(json!({}))}]}),
        json!({"contributes": {"languageModelTools": [function(json!({"displayName": "A"}))]}}),
        json!({"tools": [function(json!({"annotations": {"readOnlyHint": true}}))]}),
        json!([function(json!({"inputSchema": []}))]),
        json!([function(json!({"parameters": []}))]),
        json!([function(json!({"parameters": true}))]),
        json!([function(json!({"inputSchema": true}))]),
        json!([{"type": "function", "function": function(json!({"parameters": true}))}]),
    ] {
        let expect = json!({"type": "object", "properties": {}});
        assert_eq!(parameters(document.clone()), Some(expect), "{document}");
    }
    let schema = json!({"type": "object"});
    for document in [
        json!({"tools": [function(json!({}))]}),
        json!([{"type": "function", "function": function(json!({"parameters": "{}"}))}]),
    ] {
        assert_eq!(parameters(document.clone()), None, "{document}");
    }
    let (_, codes) = read(json!([{"type": "function", "function": function(json!({"paramters": schema}))}]));
    assert_eq!(codes, ["field-unknown"]);
}

#[test]
fn a_schema_makes_a_tool_anywhere() {
    for tool in [
        json!({"name": "a", "inputSchema": {}}),
        json!({"name": "a", "input_schema": {"$ref": "#/x"}}),
        json!({"name": "a", "parameters": {"type": "dict"}}),
        json!({"name": "a", "parameters": {}}),
        json!({"name": "a", "parameters": {}, "descripton": "d"}),
        json!({"name": "a", "id": 1, "parameters": {"properties": {}}}),
        json!({"name": "a", "args": {"x": {"type": "string"}}}),
        json!({"type": "function", "name": "a", "description": "d"}),
        json!({"type": "function", "function": {"name": "a", "description": "d"}}),
    ] {
        check(json!({"x": {"y": [tool]}}), &["a"]);
        check(tool, &["a"]);
    }
}

#[test]
fn tools_that_the_provider_runs_are_reported_and_skipped() {
    let document = json!({"tools": [
        {"type": "computer_20250124", "name": "computer", "display_width_px": 1},
        {"type": "web_search"},
        {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        {"type": "mcp", "server_label": "x", "server_url": "y"},
        {"google_search": {}},
        {"name": "a", "input_schema": {"type": "object"}},
    ]});
    let (tools, findings) = collect("f", &document);
    assert_eq!(tools.len(), 1);
    let got: Vec<(&str, &str)> = findings
        .iter()
        .map(|finding| (finding.code.as_str(), finding.place.as_ref().unwrap().pointer.as_str()))
        .collect();
    let at = ["/tools/0", "/tools/1", "/tools/2", "/tools/3", "/tools/4"];
    assert_eq!(got, at.map(|pointer| ("provider-tool", pointer)));
}

/// The tools of a document, and the codes of its findings.
fn read(document: Value) -> (Vec<Definition>, Vec<&'static str>) {
    let (tools, findings) = collect("f", &document);
    let parameters = |tool: &RawTool| document.pointer(tool.parameters.as_ref()?).cloned();
    let with_parameters = |tool: RawTool| Definition {
        parameters: parameters(&tool).map(Schema::from_value).or(tool.definition.parameters),
        ..tool.definition
    };
    let codes = findings.iter().map(|finding| finding.code.as_str()).collect();
    (tools.into_iter().map(with_parameters).collect(), codes)
}

#[test]
fn tools_that_an_editor_extension_contributes_are_read_with_their_sets() {
    let schema = json!({"type": "object", "properties": {"boat": {"type": "string"}}});
    let (tools, codes) = read(json!({"name": "boats", "version": "1", "contributes": {
        "languageModelTools": [
            {"name": "boats_rent", "displayName": "Rent", "toolReferenceName": "rent", "userDescription": "Rents.", "modelDescription": "Rents a boat.", "inputSchema": schema},
            {"name": "boats_list", "displayName": "List", "userDescription": "Lists boats."}
        ],
        "languageModelToolSets": [{"name": "sailing", "description": "d", "tools": ["rent", "boats_list"]}]
    }}));
    assert_eq!(codes, [""; 0]);
    let [rent, list] = &tools[..] else { panic!("{tools:?}") };
    assert_eq!((rent.description.as_str(), rent.title.as_deref()), ("Rents a boat.", Some("Rent")));
    assert_eq!(list.description, "Lists boats.");
    assert!(tools.iter().all(|tool| tool.category[0].as_str() == "sailing"));
    assert_eq!(rent.aliases, ["rent"]);
    assert_eq!(rent.parameters.as_ref().unwrap().value(), &schema);
}

#[test]
fn a_list_of_names_holds_references_and_no_tools() {
    assert_eq!(read(json!({"agent": {"name": "a", "tools": ["Read", "Write"]}})), (vec![], vec![]));
    assert_eq!(read(json!({"tools": [{"name": "a", "description": "d"}, "b"]})).1, ["definition-invalid"]);
}

#[test]
fn tools_by_name_are_read_as_the_ai_sdk_has_them() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = json!({
        "weather": {"description": "Weather.", "inputSchema": {"jsonSchema": schema}},
        "old": {"description": "Old.", "parameters": schema},
        "search": {"type": "provider-defined", "id": "openai.web_search"}
    });
    for document in [tools.clone(), json!({"model": "m", "tools": tools})] {
        let (tools, codes) = read(document);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((names, codes), (vec!["weather", "old"], vec!["provider-tool"]));
        assert!(tools.iter().all(|tool| tool.parameters.as_ref().unwrap().value() == &schema));
    }
}

#[test]
fn functions_of_bedrock_agents_and_vertex_are_read() {
    let (tools, codes) = read(json!({"functionSchema": {"functions": [
        {"name": "book", "description": "Books.", "requireConfirmation": "ENABLED", "parameters": {"id": {"type": "string", "required": true}}},
        {"name": "read", "description": "Reads.", "requireConfirmation": "DISABLED"}
    ]}}));
    assert_eq!(codes, [""; 0]);
    assert_eq!(tools.iter().map(|tool| tool.approval).collect::<Vec<_>>(), [Some(true), Some(false)]);
    assert!(tools[0].parameters.is_some());
    let declared =
        json!({"name": "f", "description": "d", "parameters": {"type_": "OBJECT", "properties": {}}});
    check(json!({"tools": [{"function_declarations": [declared]}]}), &["f"]);
    check(json!({"declared": declared}), &["f"]);
    check(json!([{"name": "f", "description": "d", "input_schema": {"city": {"type": "string"}}}]), &["f"]);
}

#[test]
fn lines_that_repeat_a_tool_give_it_once() {
    let tool = json!({"name": "f", "description": "d", "parameters": {"city": {"type": "str"}}});
    let other = json!({"name": "f", "description": "d", "parameters": {"town": {"type": "str"}}});
    let line = |tool: &Value| json!({"query": "q", "tools": [tool], "answers": [{"name": "f", "arguments": {"city": "x"}}]});
    check(json!([line(&tool), line(&tool), line(&other)]), &["f", "f"]);
    check(json!([tool, tool]), &["f", "f"]);
}

#[test]
fn a_document_without_tools_has_a_nearest_format() {
    let near = |document: Value| nearest_format(&document).map(|(name, keys)| (name, keys.join(" ")));
    let expect = |name: &'static str, keys: &str| Some((name, keys.to_string()));
    assert_eq!(
        near(json!({"tolls": [{"inputSchemas": {}}]})),
        expect("MCP tools/list", "tolls inputSchemas")
    );
    assert_eq!(near(json!({"openapi": "3.1.0", "webhooks": {}})), expect("OpenAPI", "openapi"));
    assert_eq!(near(json!({"colour": "red", "name": "n"})), None);
}

#[test]
fn a_definition_that_cannot_be_read_beside_others_is_reported() {
    let fine =
        serde_json::json!({"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}});
    for (other, help) in [
        (
            serde_json::json!({"name": "order", "description": "O.", "schema": {"type": "object"}}),
            "write `inputSchema` for `schema`",
        ),
        (
            serde_json::json!({"name": "order", "description": "O.", "inputschema": {"type": "object"}}),
            "write `inputSchema` for `inputschema`",
        ),
        (
            serde_json::json!({"name": "order", "description": "O.", "inputSchema": "{}"}),
            "`inputSchema` must be an object, a JSON Schema",
        ),
        (
            serde_json::json!({"name": 5, "description": "O.", "inputSchema": {"type": "object"}}),
            "its `name` is empty, or no text: name it by what it does",
        ),
        (serde_json::json!("order"), "remove it, or write an object with a `name`"),
        (
            serde_json::json!({"type": "function", "function": {"description": "O.", "parameters": {"type": "object"}}}),
            "give it a `name`",
        ),
    ] {
        let (tools, findings) =
            crate::sources::collect::collect("tools.json", &serde_json::json!([fine, other]));
        let told: Vec<&str> = findings.iter().filter_map(|finding| finding.help.as_deref()).collect();
        assert_eq!((tools.len(), told), (1, vec![help]), "{other}");
    }
}
