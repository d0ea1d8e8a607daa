//! `toolcrib init --from`: a foreign catalog becomes native definitions that mean the same. `toolcrib init --templates`:
//! copies of the built-in templates, which render the same bytes.

use std::collections::BTreeMap;
use std::path::Path;

use toolcrib::catalog::{Checked, Tool};

use crate::fixture::{self, text};

fn import(file: &Path, out: &Path) -> Checked {
    let run = fixture::run(&["init", text(out), "--from", text(file)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    fixture::open(out)
}

/// Checks that each tool survives an import.
fn check(name: &str) {
    let (file, before) = fixture::catalog(name);
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("tools");
    let after = import(&file, &folder);
    assert_eq!(after.catalog.tools.len(), before.catalog.tools.len(), "{name}");
    assert!(!after.lost_input(), "{name}: {:?}", fixture::codes(&after).first());
    let after: BTreeMap<&str, &Tool> =
        after.catalog.tools.iter().map(|tool| (tool.names.canonical.as_str(), &**tool)).collect();
    let mut differ: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in &before.catalog.tools {
        let Some(again) = after.get(tool.names.canonical.as_str()) else {
            differ.entry("name").or_default().push(tool.names.canonical.clone());
            continue;
        };
        let schema = |tool: &Tool| tool.input.schema.as_ref().map(|schema| schema.value().clone());
        let bytes = |tool: &Tool| tool.input.schema.as_ref().map(|schema| schema.text().to_string());
        let same = [
            ("safe name", again.names.safe == tool.names.safe),
            ("parameters", schema(again) == schema(tool)),
            ("parameters, byte for byte", bytes(again) == bytes(tool)),
            ("description", again.texts.description == tool.texts.description),
            ("short description", again.texts.short == tool.texts.short),
            ("categories", again.labels.categories == tool.labels.categories),
            ("effect", again.rules.effect == tool.rules.effect),
            ("call", again.input.call == tool.input.call),
            ("op", again.names.op == tool.names.op),
            ("backend", again.backend == tool.backend),
        ];
        for (what, _) in same.iter().filter(|(_, same)| !same) {
            differ.entry(what).or_default().push(tool.names.canonical.clone());
        }
    }
    let summary: Vec<String> = differ
        .iter()
        .map(|(what, tools)| format!("{what} of {} tools, such as `{}`", tools.len(), tools[0]))
        .collect();
    assert!(summary.is_empty(), "{name} loses by an import: {summary:#?}");
}

#[test]
fn flat_list() {
    check("github-mcp-server.json");
}

#[test]
#[ignore = "slow"]
fn odd_types_and_dots() {
    check("bfcl-functions.json");
}

#[test]
fn functions_with_metadata() {
    check("universal-agent-openai.json");
}

#[test]
fn small_api() {
    check("notion-openapi.json");
}

#[test]
fn large_api() {
    check("box-openapi.json");
}

#[test]
fn api_without_descriptions() {
    check("discord-openapi.json");
}

#[test]
#[ignore = "slow"]
fn servers_below_keys() {
    check("livemcpbench-servers.json");
}

#[test]
fn map_of_servers() {
    check("docker-registry-tools.json");
}

#[test]
#[ignore = "slow"]
fn servers_with_metadata() {
    check("toucan-nasty-servers.json");
}

#[test]
fn importing_again_changes_nothing() {
    let file = fixture::package().join("examples/github/tools.json");
    let out = tempfile::tempdir().unwrap();
    let (first, again) = (out.path().join("first"), out.path().join("again"));
    let one = import(&file, &first);
    let tree = fixture::tree(&first);
    assert_eq!(import(&file, &first).catalog.version, one.catalog.version);
    fixture::assert_same_tree(&fixture::tree(&first), &tree);
    let two = import(&first, &again);
    assert_eq!(two.catalog.version, one.catalog.version);
    fixture::assert_same_tree(&fixture::tree(&again), &tree);
}

#[test]
fn imported_definitions_are_part_of_the_catalog_around_them() {
    let catalog = tempfile::tempdir().unwrap();
    import(&fixture::package().join("examples/github/tools.json"), &catalog.path().join("tools"));
    assert_eq!(fixture::open(catalog.path()).catalog.tools.len(), 117);
}

#[test]
fn a_hand_edited_definition_is_not_lost() {
    let source = fixture::folder(&[(
        "tools.json",
        r#"[{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}]"#,
    )]);
    let out = tempfile::tempdir().unwrap();
    let (file, folder) = (source.path().join("tools.json"), out.path().join("tools"));
    import(&file, &folder);
    let edited =
        std::fs::read_to_string(folder.join("echo.json")).unwrap().replace("Says it again.", "By hand.");
    fixture::write(&folder, "echo.json", &edited);
    fixture::run(&["init", text(&folder), "--from", text(&file)]);
    assert_eq!(std::fs::read_to_string(folder.join("echo.json")).unwrap(), edited);
}

#[test]
fn a_missing_file_is_a_wrong_command_line() {
    let out = tempfile::tempdir().unwrap();
    assert_eq!(fixture::run(&["init", text(out.path()), "--from", "no/such.json"]).code, 2);
}

#[test]
fn copied_templates_render_the_same_pages_and_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let copies = at("copies");
    let copy = ["init", text(&copies), "--templates"];
    assert_eq!(fixture::run(&copy).code, 0);
    let templates = copies.join("templates");
    let template = copies.join("workspace-template");
    let catalog = "examples/universal-agent";
    for command in [
        vec!["render", catalog, "--site", "--out", text(&at("site"))],
        vec!["render", catalog, "--site", "--out", text(&at("own-site")), "--templates", text(&templates)],
        vec!["seed", text(&at("workspace")), catalog],
        vec!["seed", text(&at("own-workspace")), catalog, "--template", text(&template)],
    ] {
        let run = fixture::run(&command);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    fixture::assert_same_tree(&fixture::tree(&at("own-site")), &fixture::tree(&at("site")));
    fixture::assert_same_tree(&fixture::tree(&at("own-workspace")), &fixture::tree(&at("workspace")));

    std::fs::write(templates.join("docs/tool.md"), "edited").unwrap();
    let again = fixture::run(&copy);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("nothing was written"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(templates.join("docs/tool.md")).unwrap(), "edited");
}
