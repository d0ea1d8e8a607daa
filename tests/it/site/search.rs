//! Search: the page shows the answer of `tool_search`, and the script of a page without a server finds what the engine finds.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::html::Document;
use super::{body, with_site};
use crate::fixture;
use crate::serve::Server;
use crate::skipped::skipped;

/// Labelled queries of the examples; those of the third example stand here, since it has no set of its own.
fn labelled(example: &str) -> Vec<String> {
    const UNIVERSAL: [&str; 12] = [
        "find papers about graph neural networks",
        "read a web page",
        "what is on this website",
        "run a SQL query",
        "look something up in the knowledge graph",
        "cite a document",
        "save text to a file",
        "search the web",
        "summarize a PDF",
        "list the collections",
        "download a paper",
        "bake a cake",
    ];
    let file = fixture::package().join("examples").join(example).join("queries.jsonl");
    match std::fs::read_to_string(file) {
        Err(_) => UNIVERSAL.map(String::from).to_vec(),
        Ok(lines) => {
            let read = |line: &str| {
                serde_json::from_str::<Value>(line).unwrap()["query"].as_str().unwrap().to_string()
            };
            lines.lines().map(read).collect()
        }
    }
}

#[test]
fn a_search_page_shows_hits_reasons_and_where_to_look_else() {
    let server = Server::github();
    let page = |query: &str| {
        server.get(&format!("/search.html?q={query}"), &[("accept", "text/html")]).text().unwrap()
    };
    let found = page("report+a+bug");
    assert!(found.contains("tools/create_issue.html") && found.contains("class=\"reason\""), "{found}");
    assert!(found.contains(r#"value="report a bug""#), "{found}");
    // A slip, and a sentence.
    assert!(page("wich+brnach+exists").contains("list_branches"), "{}", page("wich+brnach+exists"));
    let none = page("bake+a+cake");
    assert!(none.contains("No tool fits") && none.contains("categories/Issues.html"), "{none}");
    let hostile = page("%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    Document::parse(&hostile).unwrap().is_inert().unwrap();
    assert!(page(&"x+".repeat(2_000)).len() < 100_000);
    for empty in ["", "+++"] {
        assert!(page(empty).contains("Describe what you want to do"), "{}", page(empty));
    }
}

#[test]
fn the_search_of_pages_is_that_of_agents() {
    let server = Server::github();
    let read = |answer: reqwest::blocking::Response| -> Value {
        serde_json::from_str(&answer.text().unwrap()).unwrap()
    };
    for query in ["report a bug", "who am I", "bake a cake", "create_issue"] {
        let encoded: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let page = read(server.get(&format!("/search.json?q={encoded}"), &[]));
        let asked = json!({"query": query, "format": "json", "limit": 20});
        let agent = read(server.post("tool_search", asked));
        assert_eq!(page["verdict"], agent["verdict"], "{query}");
        let names = |list: &Value| {
            list.as_array().into_iter().flatten().map(|tool| tool["name"].clone()).collect::<Vec<_>>()
        };
        let hits = if agent["verdict"] == "no_match" { &agent["nearest"] } else { &agent["tools"] };
        assert_eq!(names(&page["tools"]), names(hits), "{query}");
    }
    assert_eq!(server.get("/search.json", &[]).status(), 404);
}

#[test]
fn a_page_without_a_server_has_its_search_for_the_script_alone() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    with_site(&checked, |site| {
        assert!(body(site, "search.html").contains("data-needs-script"));
        assert!(
            !body(&site.served(), "index.html").contains("search.html\" method=\"get\" data-needs-script")
        );
    });
}

/// Runs the script in Node over the labelled queries of the examples.
#[test]
fn the_script_finds_the_same_first_five_as_the_engine() {
    if Command::new("node").arg("--version").output().is_err() {
        skipped("the search of static pages, in Node", "there is no Node");
        return;
    }
    let search = fixture::package().join("crates/docs/templates/assets/search.js");
    let search = std::fs::read_to_string(search).unwrap();
    let (mut same, mut all) = (0, 0);
    for example in ["github", "buildos", "universal-agent"] {
        let folder = fixture::package().join("examples").join(example);
        let checked = fixture::open(&folder);
        let (index, model) =
            with_site(&checked, |site| (body(site, "search-index.js"), body(site, "search-model.js")));
        assert!(index.len() < 500_000, "{} bytes", index.len());
        let queries = labelled(example);
        let program = format!(
            "globalThis.window = {{}};\n{index}\n{model}\n{search}\n\
             const find = window.toolcribSearch(window.toolcribIndex.search, window.toolcribModel);\n\
             console.log(JSON.stringify({}.map(query => {{ const {{ verdict, hits }} = find(query, 5); \
             return [verdict, hits.map(place => window.toolcribIndex.tools[place][1])]; }})));",
            json!(queries)
        );
        let mut node =
            Command::new("node").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        node.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        let output = node.wait_with_output().unwrap();
        assert!(output.status.success());
        let lists: Vec<(String, Vec<String>)> = serde_json::from_slice(&output.stdout).unwrap();
        let engine = crate::site::engine(&checked);
        for (query, list) in queries.iter().zip(lists) {
            all += 1;
            same += usize::from(engine(query) == list);
        }
    }
    assert!(10 * same >= 9 * all, "{same} of {all}");
}
