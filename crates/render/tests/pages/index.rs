//! The index that leads through the categories to each page.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use toolcrib_definition::tokens::token_count;

use crate::fixture::{self, catalog, folder, open, open_text};

/// Tokens to read, and pages to open, from the README to the page that lists a tool; and how often each is listed.
fn ways(root: &Path) -> BTreeMap<String, Vec<(usize, usize)>> {
    fn walk(
        root: &Path,
        page: &str,
        tokens: usize,
        pages: usize,
        ways: &mut BTreeMap<String, Vec<(usize, usize)>>,
    ) {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let tokens = tokens + token_count(&text);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let is_up = link.starts_with("../");
            match (page.starts_with("categories/"), is_up) {
                (true, true) => ways.entry(link[3..].into()).or_default().push((tokens, pages + 1)),
                (true, false) => walk(root, &format!("categories/{link}"), tokens, pages + 1, ways),
                (false, _) if link.starts_with("categories/") => walk(root, link, tokens, pages + 1, ways),
                (false, _) => ways.entry(link.into()).or_default().push((tokens, pages + 1)),
            }
        }
    }
    let mut ways_found = BTreeMap::new();
    walk(root, "README.md", 0, 0, &mut ways_found);
    ways_found
}

#[test]
fn the_way_from_the_index_to_a_page_is_short() {
    let (_, pool) = catalog("bfcl-functions.json");
    for (count, most_pages, most_tokens) in [(1000, 2, 3000), (1853, 3, 5000)] {
        let tools: Vec<Value> = pool.catalog.tools[..count]
            .iter()
            .map(|tool| json!({"name": tool.names.canonical, "description": tool.texts.description, "inputSchema": {"type": "object"}}))
            .collect();
        let checked = open_text("tools.json", &json!({ "tools": tools }).to_string());
        let out = tempfile::tempdir().unwrap();
        fixture::render(&checked, &out.path().join("tools"));
        let ways = ways(&out.path().join("tools"));
        assert_eq!(ways.len(), count);
        assert!(ways.values().all(|found| found.len() == 1), "each tool is listed exactly once");
        let longest = ways.values().flatten().max().unwrap();
        let pages = ways.values().flatten().map(|way| way.1).max().unwrap();
        let readme = std::fs::read_to_string(out.path().join("tools/README.md")).unwrap();
        let behind = |line: &str| line.split_once(")** - ")?.1.split_once(" tools")?.0.parse().ok();
        let most: usize = readme.lines().filter_map(behind).max().unwrap();
        assert!(most * 5 <= count, "a line of the README hides {most} of {count} tools");
        assert!(longest.0 <= most_tokens && pages <= most_pages, "{count} tools: {longest:?}, {pages} pages");
    }
}

#[test]
fn names_of_any_length_end_in_an_index() {
    let long = "zqxjvkwp ".repeat(4000);
    let words = "a_word_and_".repeat(20_000);
    let mut tools: Vec<Value> = (0..40)
        .map(|index| {
            let name = format!("tool_{index}");
            json!({"name": name, "category": format!("{long}{index}"), "description": name, "parameters": {}})
        })
        .collect();
    tools.push(json!({"name": words, "category": words, "description": "Long.", "parameters": {}}));
    tools.push(json!({"name": format!("{words}b"), "description": "Long.", "parameters": {}}));
    let root = folder(&[
        ("toolcrib.toml", "[render]\nindex_tools = 1\npage_tokens = 200\n"),
        ("tools.json", &json!(tools).to_string()),
    ]);
    let checked = open(root.path());
    let out = tempfile::tempdir().unwrap();
    fixture::render(&checked, &out.path().join("tools"));
    assert_eq!(ways(&out.path().join("tools")).len(), checked.catalog.tools.len());
}
