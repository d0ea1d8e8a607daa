//! A configuration that was found and not named: its paths stay in its folder.

use std::collections::BTreeSet;

use serde_json::Value;
use tempfile::TempDir;

use std::path::PathBuf;

use super::*;
use crate::config::schemas_for_editors;

/// Every setting that is a path, with the same path.
fn with_paths(path: &str) -> String {
    let toml = r#"
        env_file = "PATH"
        [render]
        templates = "PATH"
        [eval]
        queries = ["PATH"]
        [state]
        url = "PATH"
        [search.semantic]
        url = "https://a.example/v1"
        model = "m"
        cache = "PATH"
        [[source]]
        path = "PATH"
        [[source]]
        mcp = { command = ["x"], cwd = "PATH" }
        [server.a]
        command = ["x"]
        cwd = "PATH"
        env_file = "PATH"
        [[serve.issuer]]
        issuer = "https://a.example"
        jwks = "PATH"
    "#;
    toml.replace("PATH", path)
}

/// A folder with this configuration, within another folder that holds a file.
fn catalog(toml: &str) -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("catalog");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join(FILE_NAME), toml).unwrap();
    std::fs::write(outer.path().join("secret.json"), "[]").unwrap();
    (outer, folder)
}

/// The names of the fields that have this text.
fn fields_with(value: &Value, text: &str, name: &str, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(name, value)| fields_with(value, text, name, fields))
        }
        Value::Array(items) => items.iter().for_each(|item| fields_with(item, text, name, fields)),
        value if value == text => drop(fields.insert(name.to_string())),
        _ => {}
    }
}

fn paths_in(workspace: &Workspace, path: &str) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    fields_with(&serde_json::to_value(&workspace.config).unwrap(), path, "", &mut fields);
    fields
}

/// The settings that are a file or a folder, by their descriptions.
fn path_settings(schema: &Value, settings: &mut BTreeSet<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let about = field["description"].as_str().unwrap_or_default();
        let is_path = about
            .split(|c: char| !c.is_alphabetic())
            .any(|word| ["file", "files", "folder", "folders"].contains(&&*word.to_lowercase()));
        let has_texts =
            [&field["type"], &field["items"]["type"]].iter().any(|kind| kind.to_string().contains("string"));
        if is_path && has_texts {
            assert!(about.contains("relative to the configuration"), "{name}: {about}");
            settings.insert(name.clone());
        }
    }
    let below = schema.as_object().into_iter().flat_map(|object| object.values());
    below.for_each(|schema| path_settings(schema, settings));
}

#[test]
fn every_path_of_a_found_configuration_stays_in_its_folder() {
    let mut settings = BTreeSet::new();
    path_settings(&schemas_for_editors().1, &mut settings);
    let (_outer, folder) = catalog(&with_paths("inner"));
    assert_eq!(paths_in(&read(&folder), "inner"), settings, "with_paths lacks a setting");
    let outside = ["..", "../secret.json", "../new", "inner/../../secret.json", "new/../../new"];
    let absolute = std::env::temp_dir();
    for path in outside.into_iter().chain([absolute.to_str().unwrap()]) {
        let (_outer, folder) = catalog(&with_paths(path));
        let found = read_found(&folder);
        assert_eq!(paths_in(&found, path), BTreeSet::new(), "{path}");
        let told: Vec<_> = found.findings.iter().filter(|finding| finding.message.contains(path)).collect();
        assert_eq!(told.len(), 2, "the source and the labels: {:?}", found.findings);
        assert!(told.iter().all(|finding| finding.help.as_deref() == Some(NAME_IT)));
        let left = found.found.unwrap();
        assert!(left.templates && left.backends && left.sources && left.models);
        assert_eq!(paths_in(&read(&folder), path), settings, "{path} is the word of the operator if named");
    }
    let (_outer, folder) = catalog(&with_paths("inner"));
    let kept = ["jwks", "path", "queries", "url"].map(String::from);
    assert_eq!(paths_in(&read_found(&folder), "inner"), BTreeSet::from(kept), "paths within are used");
}

#[cfg(unix)]
#[test]
fn no_link_leads_a_found_configuration_out_of_its_folder() {
    use std::os::unix::fs::symlink;
    for end in ["", "-journal", "-shm", "-wal"] {
        let (_outer, folder) = catalog("[state]\nurl = \"state.db\"\n");
        assert!(read_found(&folder).config.state.url.is_some());
        symlink("../unmade", folder.join(format!("state.db{end}"))).unwrap();
        assert_eq!(read_found(&folder).config.state.url, None, "state.db{end}");
    }
    let (outer, folder) = catalog("");
    std::fs::write(outer.path().join("other.toml"), "title = SECRET").unwrap();
    std::fs::remove_file(folder.join(FILE_NAME)).unwrap();
    symlink("../other.toml", folder.join(FILE_NAME)).unwrap();
    let found = read_found(&folder);
    assert_eq!(found.findings.len(), 1);
    assert!(found.findings[0].message.contains("`toolcrib.toml` leads out of the folder"));
    assert!(crate::open(found).catalog.tools.is_empty());
}

#[cfg(unix)]
#[test]
fn links_of_a_folder_that_nobody_named_are_read_within_it_alone() {
    use std::os::unix::fs::symlink;
    let tool = |name: &str| format!(r#"[{{"name": "{name}", "inputSchema": {{"type": "object"}}}}]"#);
    let (outer, folder) = catalog("");
    std::fs::remove_file(folder.join(FILE_NAME)).unwrap();
    let shared = outer.path().join("shared");
    let deep = folder.join("inner");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("outer.json"), tool("outer")).unwrap();
    std::fs::write(deep.join("..data.json"), tool("inner")).unwrap();
    symlink("inner/..data.json", folder.join("a.json")).unwrap();
    symlink(shared.join("outer.json"), folder.join("b.json")).unwrap();
    symlink(&shared, folder.join("c")).unwrap();
    let tools = |workspace: Workspace| {
        let checked = crate::open(workspace);
        let names = checked.catalog.tools.iter().map(|tool| tool.names.canonical.clone()).collect::<Vec<_>>();
        (names, checked.findings.iter().filter(|finding| finding.message.contains("leads out")).count())
    };
    assert_eq!(tools(read_found(&folder)), (vec!["inner".to_string()], 1));
    assert_eq!(tools(read(&folder)).0, ["inner", "outer"]);
    for path in ["b.json", "c", "c/outer.json", "c/*.json", "*.json"] {
        std::fs::write(folder.join(FILE_NAME), format!("[[source]]\npath = {path:?}\n")).unwrap();
        let (found, told) = tools(read_found(&folder));
        assert!(!found.contains(&"outer".to_string()) && told == 1, "{path}: {found:?} {told}");
        assert!(tools(read(&folder)).0.contains(&"outer".to_string()), "{path}");
    }
}
