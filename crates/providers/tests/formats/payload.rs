//! Every provider's body in every mode for one small catalog, byte for byte, and what no body says.
//! `SNAPSHOTS=overwrite cargo test` writes the golden files anew.

use std::fs;

use serde_json::{Map, Value, json};
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use toolcrib_catalog::Checked;
use toolcrib_catalog::config::{self, Deferred, Mode};
use toolcrib_definition::finding::Code;
use toolcrib_providers::{PayloadRequest, Provider, payload};

use crate::fixture;

#[test]
fn every_provider_on_every_mode() {
    let folder = fixture::package().join("tests/golden/payload");
    let checked = fixture::open(&folder);
    assert!(checked.findings.iter().all(|finding| finding.code != Code::SchemaInvalid));
    let profile = checked.catalog.profile(Some("agent")).unwrap();
    for &provider in Provider::ALL {
        let body = |mode, deferred| {
            let options = config::Payload { deferred, ..checked.catalog.config.payload };
            let request =
                PayloadRequest { catalog: &checked.catalog, profile: &profile, provider, mode, options };
            payload(request).unwrap().body
        };
        let mut bodies = Map::new();
        for &mode in Mode::ALL {
            bodies.insert(mode.as_str().into(), body(mode, Deferred::Stub));
        }
        bodies.insert("hybrid, compact".into(), body(Mode::Hybrid, Deferred::Compact));
        check(&format!("{}.json", provider.as_str()), &Value::Object(bodies));
    }
}

fn check(name: &str, bodies: &Value) {
    let golden = fixture::package().join("tests/golden/payload").join(name);
    let got = format!("{bodies:#}\n");
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        fs::write(&golden, &got).unwrap();
    }
    let expect = fs::read_to_string(&golden).unwrap_or_default();
    assert!(got == expect, "{name} differs; `just bless` writes it anew, and `git diff` shows what");
}

/// The names that a payload binds, in order.
fn bound(checked: &Checked, profile: Option<&str>, provider: Provider, mode: Mode) -> Vec<String> {
    let profile = checked.catalog.profile(profile).unwrap();
    let options = checked.catalog.config.payload;
    let request = PayloadRequest { catalog: &checked.catalog, profile: &profile, provider, mode, options };
    payload(request).unwrap().functions.into_iter().map(|function| function.name).collect()
}

#[test]
fn the_gateway_has_the_full_tools_of_a_profile_beside_its_functions() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    for &provider in Provider::ALL {
        let gateway = bound(&checked, None, provider, Mode::Gateway);
        assert_eq!(gateway.len(), 4, "no tool is full");
        let core = bound(&checked, Some("core"), provider, Mode::Gateway);
        assert_eq!((&core[..4], core.len()), (&gateway[..], 14), "{}", provider.as_str());
        assert!(core.iter().any(|name| name == "create_branch"), "{core:?}");
    }
}

#[test]
fn a_tool_named_like_the_search_of_its_provider_is_a_clash() {
    let tools =
        r#"[{"name": "tool_search_tool_bm25", "description": "Get it.", "parameters": {"type": "object"}}]"#;
    let checked = fixture::open_text("a.json", tools);
    let profile = checked.catalog.profile(None).unwrap();
    let on = |mode| {
        let request = PayloadRequest {
            catalog: &checked.catalog,
            profile: &profile,
            provider: Provider::Anthropic,
            mode,
            options: Default::default(),
        };
        payload(request).map(|payload| payload.body)
    };
    assert!(on(Mode::Hybrid).is_ok());
    assert!(on(Mode::Native).unwrap_err().to_string().contains("its own search"));
}

#[test]
fn nothing_hidden_in_a_text_reaches_a_model() {
    let hidden = "\u{202e}x\u{200b}";
    let property = |more: &str| {
        format!(r#"{{"type": "string", "description": "a{hidden}", "title": "b{hidden}", {more}}}"#)
    };
    let tools = format!(
        r#"[{{"name": "t", "title": "T{hidden}", "description": "Do it{hidden} now.", "parameters": {{
          "type": "object", "$comment": "c{hidden}", "properties": {{"a": {}, "b": {}}},
          "oneOf": [{{"properties": {{"p{hidden}": {{}}}}, "required": ["p{hidden}"]}}, {{"required": ["a"]}}]}},
          "result_schema": {{"type": "object", "properties": {{"r": {{"description": "r{hidden}"}}}}}}}}]"#,
        property(&format!(r#""default": "d{hidden}""#)),
        property(&format!(r#""pattern": "e{hidden}", "format": "f{hidden}""#)),
    );
    let checked = fixture::open_text("a.json", &tools);
    let profile = checked.catalog.profile(None).unwrap();
    for &provider in Provider::ALL {
        let options = Default::default();
        let request = PayloadRequest {
            catalog: &checked.catalog,
            profile: &profile,
            provider,
            mode: Mode::Full,
            options,
        };
        let body = payload(request).unwrap().body;
        texts(&body, &mut |text| {
            assert!(!text.contains(['\u{202e}', '\u{200b}']), "{}: {text:?}", provider.as_str());
        });
    }
}

/// Shows what models read as text: descriptions and titles at any depth.
fn texts(value: &Value, show: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            Value::String(text) if matches!(key.as_str(), "description" | "title" | "$comment") => show(text),
            value => texts(value, show),
        }),
        Value::Array(items) => items.iter().for_each(|item| texts(item, show)),
        _ => {}
    }
}

/// The bodies of a catalog of one file in this mode, by provider.
fn bodies(tools: &str, mode: Mode) -> Vec<(Provider, Value)> {
    let checked = fixture::open_text("tools.json", tools);
    let catalog = &checked.catalog;
    let profile = &catalog.profile(None).unwrap();
    let body = |&provider: &Provider| {
        let request = PayloadRequest { catalog, profile, provider, mode, options: catalog.config.payload };
        (provider, payload(request).unwrap().body)
    };
    Provider::ALL.iter().map(body).collect()
}

fn body_of(bodies: &[(Provider, Value)], provider: Provider) -> &Value {
    &bodies.iter().find(|(of, _)| *of == provider).unwrap().1
}

#[test]
fn examples_callers_and_result_schemas_are_written_where_a_wire_has_them() {
    let tools = r#"[{"name": "a", "description": "Adds.", "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "input_examples": [{"n": 1}, {"n": "no"}], "allowed_callers": ["direct", "code_execution_20260120", "programmatic"],
        "output_schema": {"type": "object", "properties": {"sum": true}}}]"#;
    let full = bodies(tools, Mode::Full);
    let anthropic = &body_of(&full, Provider::Anthropic)["tools"][0];
    assert_eq!(anthropic["input_examples"], json!([{"n": 1}]));
    assert_eq!(anthropic["allowed_callers"], json!(["direct", "code_execution_20260120"]));
    let result = json!({"type": "object", "properties": {"sum": {}}});
    let responses = &body_of(&full, Provider::OpenAiResponses)["tools"][0];
    assert_eq!(responses["allowed_callers"], json!(["direct", "programmatic"]));
    assert_eq!(responses["output_schema"], result);
    assert_eq!(body_of(&full, Provider::Mcp)["tools"][0]["outputSchema"], result);
    for (provider, body) in &full {
        let says = |word: &str| body.to_string().contains(word);
        assert_eq!(says("input_examples"), *provider == Provider::Anthropic, "{}", provider.as_str());
        let has_callers = matches!(provider, Provider::Anthropic | Provider::OpenAiResponses);
        assert_eq!(says("allowed_callers"), has_callers, "{}", provider.as_str());
    }
    // Examples and a search for tools exclude each other.
    let native = bodies(tools, Mode::Native);
    assert!(!body_of(&native, Provider::Anthropic).to_string().contains("input_examples"));
}

#[test]
fn a_bare_true_or_false_is_an_object_on_every_wire() {
    let tools = r#"[{"name": "a", "description": "Adds.", "parameters": {"type": "object", "additionalProperties": false,
        "properties": {"any": true, "no": false, "list": {"type": "array", "items": true}, "one": {"anyOf": [true, {"type": "null"}]},
        "map": {"type": "object", "additionalProperties": true}}}}]"#;
    fn flags(schema: &Value, at: &str, found: &mut Vec<String>) {
        match schema {
            Value::Bool(_) if at != "additionalProperties" && at != "strict" => found.push(at.into()),
            Value::Array(items) => items.iter().for_each(|item| flags(item, at, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| flags(value, key, found)),
            _ => {}
        }
    }
    for (provider, body) in bodies(tools, Mode::Full) {
        let mut found = Vec::new();
        flags(&body["tools"], "", &mut found);
        flags(&body["toolConfig"], "", &mut found);
        found.retain(|at| at != "destructiveHint" && at != "readOnlyHint");
        assert!(found.is_empty(), "{}: {found:?}", provider.as_str());
        if provider == Provider::Mcp {
            let schema = &body["tools"][0]["inputSchema"];
            assert_eq!(schema["properties"]["no"], json!({"not": {}}));
            assert_eq!(schema["additionalProperties"], false);
        }
    }
}
