//! OpenAPI Overlay documents of a source, from the configuration to the tools.

use toolcrib::finding::Severity;

use crate::fixture::{codes, folder, open};

const API: &str = "openapi: 3.1.0
info: { title: Shop, version: '1' }
paths:
  /orders:
    get: { operationId: listOrders, summary: List, x-internal: false }
  /debug:
    get: { operationId: debug, summary: Debug, x-internal: true }
";
const OVERLAY: &str = "overlay: 1.0.0
info: { title: Public, version: '1' }
extends: ../api.yaml
actions:
  - target: $.paths[?@.get['x-internal'] == true]
    remove: true
  - target: $.paths['/orders'].get
    update: { description: Lists the open orders of a customer. }
";

/// Opens a catalog with these overlays of `*.yaml`: names and descriptions of its tools, and the findings.
fn check(overlays: &str, files: &[(&str, &str)], tools: &[(&str, &str)], findings: &[&str]) {
    let config = format!("[[source]]\npath = \"*.yaml\"\nopenapi_overlays = {overlays}\n");
    let catalog = folder(&[&[("toolcrib.toml", config.as_str()), ("api.yaml", API)], files].concat());
    let checked = open(catalog.path());
    let found: Vec<_> =
        checked.catalog.tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
    assert_eq!(found, tools);
    let expect: Vec<_> = findings.iter().map(|code| (*code).to_string()).collect();
    let found: Vec<_> = checked
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Info)
        .map(|finding| {
            format!("{} {}", finding.code.as_str(), finding.place.as_ref().map_or("", |at| &at.file))
        })
        .filter(|finding| finding.starts_with("openapi-overlay") || finding.starts_with("format-unknown"))
        .collect();
    assert_eq!(found, expect, "{:?}", codes(&checked));
}

#[test]
fn an_overlay_changes_the_tools_of_its_document() {
    let tools = [("listOrders", "Lists the open orders of a customer.")];
    check("['overlays/public.yaml']", &[("overlays/public.yaml", OVERLAY)], &tools, &[]);
}

#[test]
fn an_overlay_that_extends_another_file_is_not_applied() {
    let overlay = OVERLAY.replace("../api.yaml", "../other.yaml");
    let tools = [("listOrders", "List"), ("debug", "Debug")];
    check("['overlays/public.yaml']", &[("overlays/public.yaml", &overlay)], &tools, &[]);
}

#[test]
fn an_overlay_beside_its_document_is_named_to_be_applied() {
    let overlay = OVERLAY.replace("../api.yaml", "api.yaml");
    let files = [("public.yaml", overlay.as_str())];
    check("['public.yaml']", &files, &[("listOrders", "Lists the open orders of a customer.")], &[]);
    check(
        "[]",
        &files,
        &[("listOrders", "List"), ("debug", "Debug")],
        &["openapi-overlay-unused public.yaml"],
    );
}

#[test]
fn an_overlay_that_cannot_be_read_is_an_error_and_the_others_are_applied() {
    let files = [("overlays/torn.yaml", "overlay: ["), ("overlays/public.yaml", OVERLAY)];
    check(
        "['../away.yaml', 'overlays/none.yaml', 'overlays/torn.yaml', 'overlays/public.yaml']",
        &files,
        &[("listOrders", "Lists the open orders of a customer.")],
        &[
            "openapi-overlay-invalid ../away.yaml",
            "openapi-overlay-invalid overlays/none.yaml",
            "openapi-overlay-invalid overlays/torn.yaml",
        ],
    );
}
