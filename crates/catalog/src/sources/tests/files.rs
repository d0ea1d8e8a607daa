//! The files that are read, and their names.

use std::fs;
use std::path::Path;

use super::*;
use crate::config;

const TOOL: &str = r#"[{"name":"a","description":"Does a thing.","parameters":{"type":"object"}}]"#;

fn workspace(root: &Path, files: &[&str], sources: &[&str]) -> Workspace {
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, TOOL).unwrap();
    }
    let source = |path: &&str| format!("[[source]]\npath = '{path}'\n");
    fs::write(root.join("toolcrib.toml"), sources.iter().map(source).collect::<String>()).unwrap();
    config::read(root)
}

#[track_caller]
fn check(files: &[&str], sources: &[&str], expect: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    let workspace = workspace(root.path(), files, sources);
    let mut findings = Vec::new();
    let listed = list(&workspace, &mut findings);
    assert!(findings.is_empty(), "{findings:#?}");
    let names: Vec<&str> = listed.iter().map(|file| file.shown.as_str()).collect();
    assert_eq!(names, expect);
}

#[test]
fn a_file_is_read_once_however_it_is_reached() {
    check(&["d/a.json"], &["d/a.json", "d/../d/a.json", "./d/*.json", "d", "d/./*.json"], &["d/a.json"]);
    check(&["d/a.json", "d/b.json"], &["./d/*.json", "d"], &["d/a.json", "d/b.json"]);
    check(&["d/a.json"], &["./d/a.json"], &["d/a.json"]);
    let root = tempfile::tempdir().unwrap();
    workspace(root.path(), &["d/a.json"], &[]);
    let name = root.path().file_name().unwrap().to_str().unwrap();
    let whole = root.path().join("d/a.json");
    let glob = root.path().join("d/*.json");
    let sources =
        ["d/a.json", &format!("../{name}/d/a.json"), whole.to_str().unwrap(), glob.to_str().unwrap()];
    let workspace = workspace(root.path(), &[], &sources);
    let mut findings = Vec::new();
    assert_eq!(list(&workspace, &mut findings).len(), 1);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn what_is_built_is_skipped_only_below_the_folder_asked_for() {
    check(&["target/a.json", "b.json"], &["target"], &["target/a.json"]);
    check(&["node_modules/a.json", "target/a.json", "b.json"], &["."], &["b.json"]);
    check(&["target/a.json"], &["target/*.json"], &["target/a.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_stay_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let root = tempfile::tempdir().unwrap();
    for name in [b"a\xFE.json", b"a\xFF.json"] {
        fs::write(root.path().join(OsStr::from_bytes(name)), TOOL).unwrap();
    }
    let workspace = config::read(root.path());
    let listed = list(&workspace, &mut Vec::new());
    let names: Vec<&str> = listed.iter().map(|file| file.shown.as_str()).collect();
    assert_eq!(names, [r"a\xFE.json", r"a\xFF.json"]);
}
