//! Catalogs that could not be read, or only in part: no command takes this for a catalog without the tool.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, run, run_with};

/// A catalog whose only source is missing or broken.
fn unread() -> [TempDir; 3] {
    let source = "[[source]]\npath = \"tools.json\"\n";
    [
        fixture::folder(&[("toolcrib.toml", source)]),
        fixture::folder(&[("toolcrib.toml", source), ("tools.json", "{\"tools\": [")]),
        fixture::folder(&[("broken.json", "[{\"name\": ")]),
    ]
}

/// One source with a tool, and one that is broken.
fn half_read() -> TempDir {
    let tools =
        r#"[{"name": "delete_file", "description": "Deletes a file.", "inputSchema": {"type": "object"}}]"#;
    fixture::folder(&[("files.json", tools), ("broken.json", "[{\"name\": ")])
}

#[test]
fn a_catalog_that_could_not_be_read_has_no_answer() {
    for folder in unread() {
        let root = fixture::text(folder.path());
        let queries = folder.path().join("queries.jsonl");
        std::fs::write(&queries, "{\"query\": \"water the plants\", \"gold\": []}\n").unwrap();
        let commands = [
            vec!["search", "water the plants"],
            vec!["search", "water the plants", "--json"],
            vec!["tokens"],
            vec!["tokens", "--json"],
            vec!["payload", "--provider", "openai"],
            vec!["prompt"],
            vec!["eval", "--queries", fixture::text(&queries)],
        ];
        for mut command in commands {
            command.extend([root]);
            let ended = run(&command);
            assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{command:?}: {}", ended.stderr);
            assert!(ended.stderr.contains("no source could be read"), "{command:?}: {}", ended.stderr);
        }
        for command in [["parse", "--provider", "openai"], ["results", "--provider", "openai"]] {
            let ended = run_with(&[&command[..], &[root]].concat(), "{\"output\": []}", &[]);
            assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{command:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn no_match_in_a_part_of_the_catalog_says_that_it_is_a_part() {
    let folder = half_read();
    let root = fixture::text(folder.path());
    let told = run(&["search", "water the plants", root]);
    assert_eq!(told.code, 1);
    assert!(told.stdout.starts_with("no match: no tool of what could be read does that"), "{}", told.stdout);
    assert!(told.stdout.contains("Not all sources could be read"), "{}", told.stdout);
    let told = run(&["search", "water the plants", "--json", root]);
    let json: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&json["verdict"], &json["complete"]), (&json!("no_match"), &json!(false)), "{json}");
    assert!(json["next_action"].as_str().unwrap().contains("could be read"), "{json}");
    for function in ["search_nodes", "search_tool_by_category"] {
        let asked = json!({"query": "water the plants"}).to_string();
        let told = run(&["call", function, &asked, root]);
        assert!(told.stdout.contains("not all sources of the catalog could be read"), "{}", told.stdout);
    }
    let found = toolcrib::Catalog::open(folder.path()).unwrap().search("water the plants", 3, None).unwrap();
    assert!(found.verdict == toolcrib::search::Verdict::NoMatch && !found.is_complete);
    let hit = run(&["search", "delete a file", "--json", root]);
    let json: Value = serde_json::from_str(&hit.stdout).unwrap();
    assert_eq!((hit.code, &json["verdict"]), (0, &json!("match")), "{json}");
}

/// A call is answered in its envelope whatever could be read, and a search through it says that it has looked at nothing.
#[test]
fn a_call_over_an_unread_catalog_says_that_it_is_incomplete() {
    for folder in unread() {
        let asked = json!({"query": "water the plants"}).to_string();
        let told = run(&["call", "tool_search", &asked, fixture::text(folder.path())]);
        let json: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!((&json["verdict"], &json["complete"]), (&json!("no_match"), &json!(false)), "{json}");
    }
}
