//! Agent Skills: a folder of them that the reference implementation accepts, and the same bytes over MCP.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::fixture;
use crate::serve::Server;
use crate::skipped::skipped;

/// Tools whose categories and descriptions make names and descriptions that are hard to write.
const ODD: &str = r#"[
  {"name": "one", "category": "Pull Requests & \"Reviews\"", "description": "Line one.\n---\nname: other", "parameters": {"type": "object", "properties": {}}},
  {"name": "two", "category": "pull requests reviews", "description": "- a: [b](javascript:x) <b>", "parameters": {"type": "object", "properties": {}}},
  {"name": "three", "category": "长", "description": "Three: of 'em # all", "parameters": {"type": "object", "properties": {}}}
]"#;

fn github() -> PathBuf {
    fixture::package().join("examples/github")
}

fn written(catalog: &Path, to: &Path) {
    let out = fixture::run(&["render", fixture::text(catalog), "--skills", fixture::text(to)]);
    assert_eq!(out.code, 0, "{}", out.stderr);
}

#[test]
fn each_category_is_a_skill_within_the_bounds_of_the_specification() {
    let odd = fixture::folder(&[("tools.json", ODD)]);
    for (catalog, count) in [(github(), 10), (odd.path().to_path_buf(), 3)] {
        let out = tempfile::tempdir().unwrap();
        let skills = out.path().join("skills");
        written(&catalog, &skills);
        let tree = fixture::tree(&skills);
        let texts: Vec<(&String, &Vec<u8>)> =
            tree.iter().filter(|(path, _)| path.ends_with("/SKILL.md")).collect();
        assert_eq!(texts.len(), count);
        for (path, text) in texts {
            let text = String::from_utf8(text.clone()).unwrap();
            let name = path.strip_suffix("/SKILL.md").unwrap();
            assert!(text.starts_with(&format!("---\nname: {name}\ndescription: \"")), "{text}");
            let description = text.lines().nth(2).unwrap().strip_prefix("description: ").unwrap();
            let description: String = serde_json::from_str(description).unwrap();
            assert!(!description.is_empty() && description.chars().count() <= 1024);
            assert!(name.len() <= 64 && text.lines().count() < 500);
            for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(tree.contains_key(&format!("{name}/{link}")), "{path}: {link}");
            }
        }
        accepted(&skills);
    }
}

#[test]
fn a_skill_has_no_reserved_word_in_its_name_and_no_tag_in_its_description() {
    let tools = json!([{"name": "a", "category": "Claude <b>Code</b>", "description": "Sends <usecase> to <x>.", "parameters": {"type": "object", "properties": {}}}]);
    let catalog = fixture::folder(&[("tools.json", &tools.to_string())]);
    let out = tempfile::tempdir().unwrap();
    let skills = out.path().join("skills");
    written(catalog.path(), &skills);
    let tree = fixture::tree(&skills);
    let (path, text) = tree.iter().find(|(path, _)| path.ends_with("/SKILL.md")).unwrap();
    assert!(!path.contains("claude") && !path.contains("anthropic"), "{path}");
    let text = String::from_utf8(text.clone()).unwrap();
    assert!(!text.lines().nth(2).unwrap().contains(['<', '>']), "{text}");
    accepted(&skills);
}

/// Relative links of a text outside of code.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let targets =
        prose.flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
    let relative = targets.filter(|target| !target.contains(':') && !target.starts_with('#'));
    relative.map(str::to_string).collect()
}

#[test]
#[ignore = "slow"]
fn every_link_of_a_skill_leads_to_a_file_of_it() {
    let replaced = fixture::folder(&[(
        "tools.json",
        r#"[
  {"name": "SKILL", "category": "A", "description": "One.", "parameters": {"type": "object", "properties": {}}},
  {"name": "old", "category": "A", "description": "Two.", "deprecated": true, "replaced_by": "SKILL", "parameters": {"type": "object", "properties": {}}},
  {"name": "older", "category": "B", "description": "Three.", "deprecated": true, "replaced_by": "old", "parameters": {"type": "object", "properties": {}}}
]"#,
    )]);
    let mut catalogs: Vec<PathBuf> = fixture::CATALOGS.iter().map(|name| fixture::catalog(name).0).collect();
    catalogs
        .extend(["examples/buildos", "examples/universal-agent"].map(|path| fixture::package().join(path)));
    catalogs.push(replaced.path().to_path_buf());
    for catalog in catalogs {
        let out = tempfile::tempdir().unwrap();
        let skills = out.path().join("skills");
        let run = ["render", fixture::text(&catalog), "--skills", fixture::text(&skills)];
        fixture::run(&run);
        let tree = fixture::tree(&skills);
        let mut count = 0;
        for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".md")) {
            let (folder, skill) = (path.rsplit_once('/').unwrap().0, path.split_once('/').unwrap().0);
            for link in links(std::str::from_utf8(text).unwrap()) {
                let target = format!("{folder}/{link}");
                assert!(
                    tree.contains_key(&target) && !link.contains(".."),
                    "{}: {path}: {link}",
                    catalog.display()
                );
                assert!(target.starts_with(&format!("{skill}/")), "{path}: {link}");
                count += 1;
            }
            let is_skill = path.to_lowercase().ends_with("/skill.md");
            assert!(!is_skill || path.matches('/').count() == 1, "{path}");
        }
        assert!(count > 0, "{}", catalog.display());
    }
}

#[test]
fn a_skill_of_a_category_in_another_script_has_a_name_and_says_the_category() {
    let tool = |name: &str, category: &str| json!({"name": name, "category": category, "description": "Does it.", "parameters": {"type": "object", "properties": {}}});
    let tools = json!([tool("a", "Überweisungen"), tool("b", "Работа"), tool("c", "长")]).to_string();
    let catalog = fixture::folder(&[("tools.json", &tools)]);
    let out = tempfile::tempdir().unwrap();
    let skills = out.path().join("skills");
    written(catalog.path(), &skills);
    let tree = fixture::tree(&skills);
    for (name, category) in
        [("uberweisungen", "Überweisungen"), ("category-2", "Работа"), ("category-3", "长")]
    {
        let text = String::from_utf8(tree[&format!("{name}/SKILL.md")].clone()).unwrap();
        assert!(text.contains(&format!("description: \"{category}: ")), "{text}");
    }
}

/// Words that some reader of YAML takes for another value than text, and characters that some reader refuses.
const WORDS: [&str; 32] = [
    "Yes",
    "no",
    "ON",
    "off",
    "y",
    "N",
    "true",
    "False",
    "null",
    "~",
    "2024",
    "1e3",
    "0x1F",
    "0b11",
    "0o7",
    "1_000",
    "12:30:00",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    ".5",
    "-1",
    "+1",
    ".inf",
    ".NaN",
    "=",
    "<<",
    "- a: b",
    "\"q'",
    "# a",
    "e\u{ffff}",
    "\u{7f}\u{85}\u{2028}\u{feff}\u{fffe}b",
    "---",
];

#[test]
fn a_reader_of_yaml_1_1_reads_name_and_description_as_text() {
    let tool = |(index, word): (usize, &&str)| json!({"name": format!("tool_{index}"), "category": word, "description": word, "parameters": {"type": "object", "properties": {}}});
    let tools: Vec<Value> = WORDS.iter().enumerate().map(tool).collect();
    let catalog = fixture::folder(&[("tools.json", &json!(tools).to_string())]);
    let out = tempfile::tempdir().unwrap();
    let skills = out.path().join("skills");
    written(catalog.path(), &skills);
    let texts = fixture::tree(&skills).into_iter().filter(|(path, _)| path.ends_with("/SKILL.md"));
    let fronts: Vec<(String, String)> = texts
        .map(|(path, text)| {
            let text = String::from_utf8(text).unwrap();
            let front = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap().0.to_string();
            (path.strip_suffix("/SKILL.md").unwrap().to_string(), front)
        })
        .collect();
    assert_eq!(fronts.len(), WORDS.len());
    let check = "import json, sys, yaml\nfor name, text in json.loads(sys.argv[1]):\n  front = yaml.safe_load(text)\n  \
        assert front['name'] == name and set(front) == {'name', 'description'}, front\n  \
        assert 'Use it before' in front['description'], front";
    let python = |code: &str| Command::new("python3").args(["-c", code, &json!(fronts).to_string()]).output();
    if !python("import yaml").is_ok_and(|run| run.status.success()) {
        skipped("skills against a reader of YAML 1.1", "Python has no PyYAML");
        return;
    }
    let run = python(check).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Asks the reference implementation, where it is installed.
fn accepted(skills: &Path) {
    let check = "import sys\nfrom pathlib import Path\nfrom skills_ref import validate\n\
        bad = [(str(d), e) for d in Path(sys.argv[1]).iterdir() if d.is_dir() for e in validate(d)]\nsys.exit(str(bad) if bad else 0)";
    let python = |code: &str| Command::new("python3").args(["-c", code, fixture::text(skills)]).output();
    if !python("import skills_ref").is_ok_and(|run| run.status.success()) {
        skipped("skills against the reference implementation", "Python has no skills-ref");
        return;
    }
    let run = python(check).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn references_are_the_pages_that_render_writes() {
    let github = github();
    let out = tempfile::tempdir().unwrap();
    let (skills, docs) = (out.path().join("skills"), out.path().join("docs"));
    written(&github, &skills);
    fixture::render(&fixture::open(&github), None, &docs);
    let docs = fixture::tree(&docs);
    let mut pages = 0;
    for (path, content) in fixture::tree(&skills) {
        if let Some((_, page)) = path.split_once("/references/") {
            let Some(docs) = docs.get(page) else {
                serde_json::from_slice::<Value>(&content).unwrap();
                assert!(page.starts_with("schemas/"), "{path}");
                continue;
            };
            let whole = |page: &Vec<u8>| {
                let page = String::from_utf8(page.clone()).unwrap();
                let lines = page.lines().filter(|line| !line.starts_with("Shortened; the whole schema is "));
                lines.collect::<Vec<_>>().join("\n")
            };
            assert_eq!(whole(docs), whole(&content), "{path}");
            pages += 1;
        }
    }
    assert_eq!(pages, 117);
    let check = ["render", fixture::text(&github), "--skills", fixture::text(&skills), "--check"];
    assert_eq!(fixture::run(&check).code, 0);
}

fn asked(server: &Server, method: &str, parameters: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
    let asking = server.posting("/mcp", request).header("accept", "application/json, text/event-stream");
    let text = asking.header("mcp-protocol-version", "2025-11-25").send().unwrap().text().unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| !data.is_empty());
    serde_json::from_str(data.unwrap_or(&text)).unwrap()
}

#[test]
fn skills_over_mcp_have_the_bytes_of_the_folder() {
    let out = tempfile::tempdir().unwrap();
    let skills = out.path().join("skills");
    written(&github(), &skills);
    let tree = fixture::tree(&skills);
    let server = Server::github();
    let mut files = 0;
    for skill in asked(&server, "skills/list", json!({}))["result"]["skills"].as_array().unwrap() {
        let name = skill["frontmatter"]["name"].as_str().unwrap();
        assert_eq!(skill["uri"], format!("skill://{name}/SKILL.md"));
        for file in skill["resources"].as_array().unwrap() {
            let uri = file["uri"].as_str().unwrap();
            let content = &tree[uri.strip_prefix("skill://").unwrap()];
            assert_eq!(file["size"], content.len(), "{uri}");
            files += 1;
        }
        let got = asked(&server, "skills/get", json!({"uri": skill["uri"]}));
        assert_eq!(&got["result"]["skill"], skill);
        let read = asked(&server, "resources/read", json!({"uri": skill["uri"]}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(text.as_bytes(), tree[&format!("{name}/SKILL.md")]);
    }
    assert_eq!(files, tree.len());
    let folder = asked(&server, "resources/directory/read", json!({"uri": "skill://issues"}));
    assert_eq!(folder["result"]["resources"][1]["mimeType"], "inode/directory");
    for (method, uri) in [
        ("skills/get", "skill://nothing/SKILL.md"),
        ("skills/get", "skill://issues"),
        ("resources/directory/read", "skill://issues/SKILL.md"),
        ("resources/directory/read", "toolcrib://tools/README.md"),
    ] {
        assert_eq!(asked(&server, method, json!({"uri": uri}))["error"]["code"], -32602, "{method} {uri}");
    }
    assert_eq!(asked(&server, "skills/list", json!({"cursor": "zz"}))["error"]["code"], -32602);
}

#[test]
fn a_skill_lists_no_tool_that_its_reader_may_not_use() {
    let config = "[[serve.token]]\nenv = \"PLAIN\"\nroles = []\n";
    let server = Server::with(config, &[("PLAIN", "plain-token-0123456789")]);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": {}});
    let asking = server.posting("/mcp", request).header("accept", "application/json, text/event-stream");
    let asking = asking.header("authorization", "Bearer plain-token-0123456789");
    let text = asking.header("mcp-protocol-version", "2025-11-25").send().unwrap().text().unwrap();
    assert!(text.contains("skill://files/SKILL.md") && !text.contains("wipe"), "{text}");
}
