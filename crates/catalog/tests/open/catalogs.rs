//! Real catalogs: every tool of each is loaded, and callable as far as its source allows.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};
use toolcrib_catalog::config::ShortDescription;
use toolcrib_catalog::{Callable, Catalog, Checked, Tool, registry};
use toolcrib_definition::tokens::token_count;

use crate::{fixture, nodes};

#[test]
fn github() {
    check("github-mcp-server.json", 117);
}

#[test]
fn livemcpbench() {
    check("livemcpbench-servers.json", 527);
}

#[test]
#[ignore = "slow"]
fn bfcl() {
    check("bfcl-functions.json", 1853);
}

#[test]
fn universal_agent() {
    check("universal-agent-openai.json", 58);
}

#[test]
fn notion() {
    check("notion-openapi.json", 24);
}

#[test]
fn box_api() {
    check("box-openapi.json", 294);
}

#[test]
fn discord() {
    check("discord-openapi.json", 242);
}

#[test]
fn docker() {
    check("docker-registry-tools.json", 755);
}

#[test]
#[ignore = "slow"]
fn toucan() {
    check("toucan-nasty-servers.json", 851);
}

/// A required argument that is an array and at the same time one of ten strings: no call fits.
const IMPOSSIBLE: [&str; 1] = ["extract_parameters_v1"];

fn check(file: &str, tools: usize) {
    let (path, checked) = fixture::catalog(file);
    assert_eq!(checked.catalog.tools.len(), tools, "{file}");
    assert!(!checked.lost_input(), "{file} has lost input");
    let text = fs::read_to_string(&path).unwrap();
    check_names(checked);
    check_calls(file, checked);
    nodes::check(file, checked);
    check_shorts(checked);
    check_bytes(file, &text, checked);
    check_registry(checked);
    let elsewhere = fixture::folder(&[(&format!("deep/er/{file}"), text.as_str())]);
    let moved = fixture::open(&elsewhere.path().join("deep/er").join(file));
    assert_eq!(
        moved.catalog.version, checked.catalog.version,
        "{file} loads differently again, or elsewhere"
    );
}

fn check_names(checked: &Checked) {
    let tools = &checked.catalog.tools;
    let unique =
        |of: &dyn Fn(&Tool) -> String| tools.iter().map(|tool| of(tool)).collect::<HashSet<_>>().len();
    assert_eq!(unique(&|tool| tool.names.canonical.clone()), tools.len(), "names are unique");
    assert_eq!(unique(&|tool| tool.names.safe.to_lowercase()), tools.len(), "safe names are unique");
    assert_eq!(unique(&|tool| tool.names.op.clone()), tools.len(), "ops are unique");
}

/// Every tool that can be called has a ready-made call, and it fits.
fn check_calls(file: &str, checked: &Checked) {
    let mut without = Vec::new();
    for tool in &checked.catalog.tools {
        match (&tool.input.call, tool.input.parameters.callable()) {
            (Some(call), Callable::Checked) => {
                let validator = tool.input.parameters.validator().unwrap();
                let call = Value::Object(call.clone());
                assert!(validator.is_valid(&call), "{file}: {}: {call}", tool.names.canonical);
            }
            (None, Callable::Checked) if !IMPOSSIBLE.contains(&tool.names.canonical.as_str()) => {
                without.push(&tool.names.canonical)
            }
            _ => {}
        }
    }
    assert!(without.is_empty(), "{file}: {} tools have no ready-made call: {without:?}", without.len());
}

/// The registry, read back as a source, is the same catalog.
fn check_registry(checked: &Checked) {
    let lines = |catalog: &Catalog| -> Vec<String> {
        let text = registry(catalog, &catalog.profile(None).unwrap());
        text.lines().skip(1).map(str::to_string).collect()
    };
    let text = registry(&checked.catalog, &checked.catalog.profile(None).unwrap());
    let again = fixture::open_text("registry.json", &text);
    assert!(!again.lost_input());
    for (written, read) in lines(&checked.catalog).iter().zip(lines(&again.catalog)) {
        assert_eq!(*written, read);
    }
    assert_eq!(again.catalog.tools.len(), checked.catalog.tools.len());
}

#[test]
fn the_registry_of_an_example_is_read_back_whole() {
    for name in ["buildos", "github", "universal-agent"] {
        check_registry(&fixture::open(&fixture::package().join("examples").join(name)));
    }
    let whole = json!({
        "name": "burn", "description": "Burns it.", "parameters": {"type": "object"}, "safe": false, "cost": 2.5,
        "capabilities": ["streaming"], "allowed_roles": ["fire"], "when_forbidden": "visible", "approval": true,
        "dry_run": true, "notes": ["Hot."], "returns": "Ash.", "strict": true, "context_shift": "/context",
        "provider_schema": {"type": "object", "properties": {}}, "title": "Burn", "aliases": ["ignite"],
    });
    let none =
        json!({"name": "guess", "description": "D.", "allow_no_schema": true, "no_schema_mode": "read-only"});
    let checked = fixture::open_text("tools.json", &json!([whole, none]).to_string());
    check_registry(&checked);
    let text = registry(&checked.catalog, &checked.catalog.profile(None).unwrap());
    for field in
        ["safe", "cost", "capabilities", "allowed_roles", "no_schema_mode", "provider_schema", "notes"]
    {
        assert!(text.contains(&format!("\"{field}\":")), "{field}");
    }
}

fn check_shorts(checked: &Checked) {
    let cap = ShortDescription::default();
    for tool in &checked.catalog.tools {
        let short = &tool.texts.short;
        assert!(!short.trim().is_empty(), "{} has no short description", tool.names.canonical);
        assert!(!short.contains('\n'), "{}: {short}", tool.names.canonical);
        assert!(short.chars().count() <= cap.max_chars, "{}: {short}", tool.names.canonical);
        assert!(
            token_count(short) <= cap.max_tokens,
            "{}: {} tokens: {short}",
            tool.names.canonical,
            token_count(short)
        );
    }
}

/// The schema is the very slice of the file, wherever the file has one.
fn check_bytes(file: &str, text: &str, checked: &Checked) {
    let document: Value = serde_json::from_str(text).unwrap();
    let mut seen = 0;
    for tool in &checked.catalog.tools {
        let written = document.pointer(&tool.origin.place.pointer).expect("the tool's place");
        let function = written.get("function").unwrap_or(written);
        let keys = ["inputSchema", "input_schema", "parameters"];
        let Some(schema) = keys.iter().find_map(|key| function.get(*key).filter(|schema| schema.is_object()))
        else {
            continue;
        };
        if document.get("paths").is_some() {
            continue;
        }
        let kept = tool.input.schema.as_ref().expect("parameters");
        assert_eq!(kept.value(), schema, "{file}: {}", tool.names.canonical);
        assert!(text.contains(kept.text()), "{file}: {}: not a slice of the file", tool.names.canonical);
        let parsed: Value = serde_json::from_str(kept.text()).unwrap();
        assert_eq!(&parsed, schema, "{file}: {}", tool.names.canonical);
        seen += 1;
    }
    assert!(seen > 0 || document.get("paths").is_some(), "{file} has no schema at all");
}
