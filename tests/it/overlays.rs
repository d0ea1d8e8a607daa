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
fn an_overlay_that_extends_another_document_of_the_source_is_for_that_alone() {
    let overlay = OVERLAY.replace("../api.yaml", "../other.yaml");
    let other = API.replace("/orders", "/others").replace("listOrders", "listOthers");
    let other = other.replace("operationId: debug", "operationId: debugOthers");
    let files = [("overlays/public.yaml", overlay.as_str()), ("other.yaml", other.as_str())];
    let tools = [("listOrders", "List"), ("debug", "Debug"), ("listOthers", "List")];
    let unused = ["openapi-overlay-unused overlays/public.yaml"];
    check("['overlays/public.yaml']", &files, &tools, &unused);
}

/// An overlay may remove what must not be served: without it, its documents are not served either.
#[test]
fn a_document_whose_overlay_cannot_be_applied_is_not_served() {
    let invalid = ["openapi-overlay-invalid overlays/public.yaml"];
    let away = OVERLAY.replace("../api.yaml", "../away.yaml");
    let unknown = OVERLAY.replace("overlay: 1.0.0", "overlay: 9.9.9");
    let no_path = OVERLAY.replace("target: $.paths[?", "target: $.paths[[");
    let no_actions = OVERLAY.replace("actions:", "action:");
    for overlay in [&away, &unknown, &no_path, &no_actions, "overlay: [", "- 1"] {
        check("['overlays/public.yaml']", &[("overlays/public.yaml", overlay)], &[], &invalid);
    }
}

#[test]
fn a_message_about_an_overlay_names_the_overlay() {
    let config =
        "[[source]]\npath = 'api.yaml'\nopenapi_overlays = ['a.yaml', 'b.yaml', 'c.yaml', '../d.yaml']\n";
    let away = OVERLAY.replace("../api.yaml", "away.yaml");
    let files = [("toolcrib.toml", config), ("api.yaml", API), ("a.yaml", &away), ("b.yaml", "overlay: [")];
    let catalog = folder(&files);
    let checked = open(catalog.path());
    for (file, words) in [
        ("a.yaml", "extends `away.yaml`, which is no document of the source"),
        ("b.yaml", "the OpenAPI Overlay `b.yaml` cannot be read: not valid YAML"),
        ("c.yaml", "the OpenAPI Overlay `c.yaml` cannot be read"),
        ("../d.yaml", "the OpenAPI Overlay `../d.yaml` lies outside"),
    ] {
        let is_it =
            |finding: &&toolcrib::Finding| finding.place.as_ref().is_some_and(|place| place.file == file);
        let finding = checked.findings.iter().find(is_it).unwrap();
        let help = finding.help.as_deref().unwrap();
        assert!(finding.message.contains(words), "{}", finding.message);
        assert!(help.contains("`openapi_overlays`") && !help.contains("$ref"), "{help}");
    }
    let program = crate::fixture::run(&["serve", "--stdio", crate::fixture::text(catalog.path())]);
    assert!(program.code == 1 && program.stderr.contains("there is no tool to serve"), "{}", program.stderr);
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
fn each_overlay_that_cannot_be_read_is_an_error() {
    let files = [("overlays/torn.yaml", "overlay: ["), ("overlays/public.yaml", OVERLAY)];
    check(
        "['../away.yaml', 'overlays/none.yaml', 'overlays/torn.yaml', 'overlays/public.yaml']",
        &files,
        &[],
        &[
            "openapi-overlay-invalid ../away.yaml",
            "openapi-overlay-invalid overlays/none.yaml",
            "openapi-overlay-invalid overlays/torn.yaml",
        ],
    );
}
