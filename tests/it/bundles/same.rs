//! Every command gives the same from a bundle as from the catalog that it was built from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcrib::functions::CatalogView;
use toolcrib::render::Templates;

use super::Bundled;
use crate::fixture::{assert_same_tree, open, package, run, run_with, text, tree};

const PROVIDERS: [&str; 11] = [
    "openai", "openai-responses", "anthropic", "gemini", "gemini-interactions", "bedrock", "ollama",
    "mistral", "cohere", "mcp", "langchain",
];

/// The examples with profiles of theirs, and an OpenAPI document.
fn catalogs() -> [(PathBuf, Option<&'static str>); 4] {
    let example = |name: &str| package().join("examples").join(name);
    [
        (example("github"), Some("core")),
        (example("universal-agent"), Some("creator")),
        (example("buildos"), None),
        (package().join("tests/data/catalogs/notion-openapi.json"), None),
    ]
}

/// The output of a command on a catalog.
fn output(arguments: &[&str], catalog: &Path) -> (i32, String) {
    let ran = run(&[arguments, &[text(catalog)]].concat());
    assert!(ran.code < 2, "{arguments:?}: {}", ran.stderr);
    (ran.code, ran.stdout)
}

#[test]
fn docs_pages_and_seeded_workspaces_are_the_same() {
    for (catalog, profile) in catalogs() {
        let bundled = Bundled::of(&catalog);
        let profile = profile.map_or(vec![], |profile| vec!["--profile", profile]);
        let written = |name: &str, catalog: &Path| {
            let out = bundled.beside(name);
            let (docs, seed) = (out.join("docs"), out.join("seed"));
            let site = [&["render", "--site", "--out", text(&docs)], &profile[..]].concat();
            output(&site, catalog);
            output(&[&["seed", text(&seed)], &profile[..]].concat(), catalog);
            tree(&out)
        };
        let from_folder = written("folder", &catalog);
        assert!(from_folder.len() > 20);
        assert_same_tree(&written("bundle", &bundled.file), &from_folder);
    }
}

#[test]
fn payloads_prompts_and_counts_are_the_same() {
    for (catalog, profile) in catalogs() {
        let bundled = Bundled::of(&catalog);
        let profile = profile.map_or(vec![], |profile| vec!["--profile", profile]);
        let same = |arguments: &[&str]| {
            let arguments = [arguments, &profile[..]].concat();
            assert_eq!(output(&arguments, &bundled.file), output(&arguments, &catalog), "{arguments:?}");
        };
        for provider in PROVIDERS {
            same(&["payload", "--provider", provider]);
            same(&["payload", "--provider", provider, "--surface", "full"]);
        }
        same(&["prompt", "--provider", "anthropic"]);
        same(&["tokens"]);
        same(&["search", "create a page", "--json"]);
    }
}

#[test]
fn functions_searches_and_measures_are_the_same() {
    let github = package().join("examples/github");
    let bundled = Bundled::of(&github);
    let queries = github.join("queries.jsonl");
    for arguments in [
        &["call", "tool_help", r#"{"op": "github.create_issue"}"#][..],
        &["call", "list", "{}"],
        &["call", "read_tool_doc", r#"{"name": "create_issue", "format": "schema"}"#],
        &["call", "search_nodes", r#"{"query": "issues"}"#],
        &["check", "--suggest"],
    ] {
        assert_eq!(output(arguments, &bundled.file), output(arguments, &github), "{arguments:?}");
    }
    // Files are shown relative to the folder of the catalog.
    let measured = |catalog: &Path| {
        output(&["eval", "--queries", text(&queries), "--json"], catalog)
            .1
            .replace(&format!("{}/", text(&github)), "")
    };
    assert!(measured(&bundled.file) == measured(&github));
    let response = std::fs::read_to_string(github.join("response.json")).unwrap();
    let parsed = |catalog: &Path| {
        run_with(&["parse", text(catalog), "--provider", "anthropic"], &response, &[]).stdout
    };
    assert_eq!(parsed(&bundled.file), parsed(&github));
}

#[test]
fn stored_findings_are_shown_without_excerpts() {
    let catalog = package().join("tests/data/catalogs/notion-openapi.json");
    let bundled = Bundled::of(&catalog);
    let findings = |catalog: &Path| {
        let (code, json) = output(&["check", "--json", "--verbose"], catalog);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (code, json["findings"].clone(), json["registry_version"].clone())
    };
    assert_eq!(findings(&bundled.file), findings(&catalog));
    let told = output(&["check"], &bundled.file).1;
    assert!(told.contains("warning["), "{told}");
}

#[test]
fn the_library_opens_a_bundle_like_a_folder() {
    let github = package().join("examples/github");
    let bundled = Bundled::of(&github);
    let (of_bundle, of_folder) =
        (toolcrib::Catalog::open(&bundled.file).unwrap(), toolcrib::Catalog::open(&github).unwrap());
    assert_eq!(of_bundle.version(), of_folder.version());
    assert!(of_bundle.is_complete());
    assert_eq!(of_bundle.doc("create_issue").unwrap(), of_folder.doc("create_issue").unwrap());
}

#[test]
fn a_bundle_has_the_search_indexes_of_a_caller_who_sees_everything() {
    let bundle = Bundled::of(&catalogs()[0].0);
    let view = |catalog: &Path| {
        let checked = open(catalog);
        let templates = Arc::new(Templates::load(None).unwrap());
        CatalogView::new(&checked.catalog, None, None, templates).unwrap()
    };
    let (read, built) = (view(&bundle.file), view(&catalogs()[0].0));
    assert!(read.is_search_ready() && !built.is_search_ready());
    assert!(read.search().to_bytes() == built.search().to_bytes());
    assert!(read.is_indexed(), "nothing had to be built");
}
