//! Real catalogs: every tool of each has a page.

use std::fs;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

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
