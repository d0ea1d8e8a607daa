//! Files next to definitions that define no tools: other catalogs, folders of other programs, and toolcrib's output.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use toolcrib::catalog::Checked;

use crate::check::GOOD;
use crate::fixture::{folder, open, render, run, write};

const REGISTRY: &str = "registry.json";

fn named(name: &str) -> String {
    GOOD.replace("read_file", name)
}

fn names(checked: &Checked) -> Vec<&str> {
    checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect()
}

/// Messages of the findings of this code.
fn messages(checked: &Checked, code: &str) -> Vec<String> {
    let found = checked.findings.iter().filter(|finding| finding.code.as_str() == code);
    found.map(|finding| finding.message.clone()).collect()
}

#[track_caller]
fn is_refused_as_own_output(path: &Path) {
    let checked = open(path);
    assert_eq!(names(&checked), [""; 0]);
    assert_eq!(messages(&checked, "own-output").len(), 1, "{:#?}", checked.findings);
    assert!(checked.lost_input());
}

/// A catalog of two tools and the folder of its docs.
fn rendered() -> (TempDir, std::path::PathBuf) {
    let root = folder(&[("a.yaml", &named("read_a")), ("b.yaml", &named("read_b"))]);
    let out = root.path().join("tools");
    render(&open(root.path()), None, &out);
    (root, out)
}

#[test]
fn a_parent_folder_leaves_nested_catalogs_and_other_programs_alone() {
    let root = folder(&[
        ("own.yaml", &named("read_own")),
        ("package.json", r#"{"name":"x","version":"1.0.0"}"#),
        ("projects/shop/toolcrib.toml", ""),
        ("projects/shop/a.yaml", &named("read_shop")),
        ("projects/bank/toolcrib.toml", ""),
        ("projects/bank/deep/a.yaml", &named("read_bank")),
        ("node_modules/x/a.yaml", &named("read_module")),
        ("py/pyvenv.cfg", ""),
        ("py/lib/a.yaml", &named("read_venv")),
        ("cache/CACHEDIR.TAG", ""),
        ("cache/a.yaml", &named("read_cache")),
        (".git/a.yaml", &named("read_git")),
    ]);
    let checked = open(root.path());
    assert_eq!(names(&checked), ["read_own"]);
    let check = run(&["check", root.path().to_str().unwrap()]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    let bank = root.path().join("projects/bank");
    for part in [
        "no toolcrib.toml configures this folder; 1 tool in 1 of the 2 files that were read",
        "left alone: projects/bank, projects/shop;",
        &format!("toolcrib check {}", bank.display()),
    ] {
        assert!(check.stderr.contains(part), "{part}: {}", check.stderr);
    }
    assert_eq!(names(&open(&bank)), ["read_bank"]);
}

#[test]
fn a_folder_of_catalogs_alone_says_how_to_check_one() {
    let root = folder(&[("shop/toolcrib.toml", ""), ("shop/a.yaml", GOOD)]);
    let check = run(&["check", root.path().to_str().unwrap()]);
    assert_eq!(check.code, 1);
    assert!(check.stdout.contains("holds no definition files"), "{}", check.stdout);
    assert!(
        check.stdout.contains(&format!("toolcrib check {}", root.path().join("shop").display())),
        "{}",
        check.stdout
    );
}

#[test]
fn a_source_that_is_named_may_have_a_catalog_in_it() {
    let root = folder(&[
        ("toolcrib.toml", "[[source]]\npath = \"services\"\n\n[[source]]\npath = \"apps/*/tools.yaml\"\n"),
        ("services/shop/toolcrib.toml", ""),
        ("services/shop/a.yaml", &named("read_shop")),
        ("apps/bank/toolcrib.toml", ""),
        ("apps/bank/tools.yaml", &named("read_bank")),
    ]);
    assert_eq!(names(&open(root.path())), ["read_shop", "read_bank"]);
    let check = run(&["check", root.path().to_str().unwrap()]);
    assert!(!check.stderr.contains("configures"), "{}", check.stderr);
}

#[test]
fn a_rendered_folder_is_no_catalog() {
    let (root, out) = rendered();
    is_refused_as_own_output(&out);
    assert_eq!(names(&open(root.path())), ["read_a", "read_b"]);
    write(root.path(), "toolcrib.toml", "[[source]]\npath = \"tools\"\n");
    is_refused_as_own_output(root.path());
    // A definition that its author has put there is one.
    write(&out, "own.yaml", &named("read_own"));
    assert_eq!(names(&open(&out)), ["read_own"]);
}

#[test]
fn a_site_and_a_workspace_are_no_catalogs() {
    let root = folder(&[("a.yaml", &named("read_a"))]);
    let at = |name: &str| root.path().join(name).display().to_string();
    let catalog = at("a.yaml");
    let site = run(&["render", &catalog, "--out", &at("site"), "--site"]);
    assert_eq!(site.code, 0, "{}", site.stderr);
    is_refused_as_own_output(&root.path().join("site"));
    let seed = run(&["seed", &at("work"), &catalog]);
    assert_eq!(seed.code, 0, "{}", seed.stderr);
    is_refused_as_own_output(&root.path().join("work"));
    // A page's payloads without the rest of the site.
    fs::rename(root.path().join("site/payloads"), root.path().join("pages")).unwrap();
    is_refused_as_own_output(&root.path().join("pages"));
}

#[test]
fn state_is_no_catalog() {
    let root = folder(&[("a.yaml", GOOD)]);
    fs::write(root.path().join("state.db"), b"SQLite format 3\0rest").unwrap();
    is_refused_as_own_output(&root.path().join("state.db"));
}

#[test]
fn a_registry_says_that_it_is_one_and_is_never_read_beside_its_sources() {
    let (root, out) = rendered();
    let registry = fs::read_to_string(out.join(REGISTRY)).unwrap();
    let alone = folder(&[(REGISTRY, &registry)]);
    let checked = open(alone.path());
    assert_eq!(names(&checked), ["read_a", "read_b"]);
    assert!(messages(&checked, "registry-read")[0].contains("its tools are read (2)"));
    // Beside its sources.
    write(root.path(), REGISTRY, &registry);
    let checked = open(root.path());
    assert_eq!(names(&checked), ["read_a", "read_b"]);
    assert!(messages(&checked, "registry-read")[0].contains("left out"));
    assert!(!checked.lost_input());
    // Beside other tools it is a source.
    write(alone.path(), "c.yaml", &named("read_c"));
    assert_eq!(names(&open(alone.path())), ["read_c", "read_a", "read_b"]);
}
