//! Real catalogs: every tool of each has a page.

use std::fs;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::Value;
use toolcrib_catalog::Checked;
use toolcrib_render::Around;

use crate::fixture;

#[test]
fn github() {
    check("github-mcp-server.json");
}

#[test]
fn livemcpbench() {
    check("livemcpbench-servers.json");
}

#[test]
fn bfcl() {
    check("bfcl-functions.json");
}

#[test]
fn universal_agent() {
    check("universal-agent-openai.json");
}

#[test]
fn notion() {
    check("notion-openapi.json");
}

#[test]
fn box_api() {
    check("box-openapi.json");
}

#[test]
fn discord() {
    check("discord-openapi.json");
}

#[test]
fn docker() {
    check("docker-registry-tools.json");
}

#[test]
fn toucan() {
    check("toucan-nasty-servers.json");
}

fn check(file: &str) {
    let (_, checked) = fixture::catalog(file);
    let out = tempfile::tempdir().unwrap();
    fixture::render(checked, out.path());
    for tool in &checked.catalog.tools {
        let path = out.path().join(format!("{}.md", tool.names.safe));
        let doc = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(first_heading(&doc).as_deref(), Some(tool.names.canonical.as_str()));
        // A page changes when its tool changes, and only then.
        assert!(!doc.contains(&checked.catalog.version), "{}", tool.names.canonical);
    }
    check_alone(checked);
}

/// In a folder without `registry.json`, the file that a page names has whatever the page leaves out, which is never required.
fn check_alone(checked: &Checked) {
    let out = tempfile::tempdir().unwrap();
    fixture::render_around(checked, Around::default(), out.path());
    for tool in &checked.catalog.tools {
        let name = &tool.names.safe;
        let doc = fs::read_to_string(out.path().join(format!("{name}.md"))).unwrap();
        let file = format!("schemas/{name}.json");
        assert_eq!(
            doc.contains("\nShortened"),
            doc.contains(&format!("whole schema is [{file}]({file}).")),
            "{doc}"
        );
        let schema = fs::read(out.path().join(&file)).ok();
        assert_eq!(schema.is_some(), doc.contains("\nShortened"), "{name}");
        if let Some(schema) = schema {
            let schema: Value = serde_json::from_slice(&schema).unwrap();
            assert_eq!(schema, *tool.input.schema.as_ref().unwrap().value());
            let mut required = Vec::new();
            required_names(&schema, &schema, 12, &mut required);
            let is_missing = |name: &&String| !doc.contains(&format!("- `{name}` ("));
            let missing: Vec<&String> = required.iter().filter(is_missing).collect();
            assert!(missing.is_empty(), "{name} lacks {missing:?}");
        }
    }
}

/// The names of the properties without which no call is valid, at every level.
fn required_names(root: &Value, schema: &Value, fuel: usize, names: &mut Vec<String>) {
    if fuel == 0 {
        return;
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|to| root.pointer(to.strip_prefix('#')?)) {
        required_names(root, target, fuel - 1, names);
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(property) = schema["properties"].get(name) {
            names.push(name.to_string());
            required_names(root, property, fuel - 1, names);
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten().chain(schema.get("items")) {
        required_names(root, part, fuel - 1, names);
    }
}

/// The words of the first heading as a reader sees them.
fn first_heading(doc: &str) -> Option<String> {
    let mut events = Parser::new(doc).skip_while(|event| !matches!(event, Event::Start(Tag::Heading { .. })));
    events.next()?;
    let inside = events.take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    Some(
        inside
            .map(|event| match event {
                Event::Text(text) | Event::Code(text) => text.into_string(),
                other => panic!("{other:?} in a heading"),
            })
            .collect(),
    )
}
