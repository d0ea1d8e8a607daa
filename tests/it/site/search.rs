//! Search: what comes first, and that the script and the server find the same.

use std::io::Write;
use std::process::{Command, Stdio};

use super::html::Document;
use super::{body, with_site};
use crate::fixture;
use crate::skipped::skipped;

const QUERIES: [&str; 14] = [
    "create_issue",
    "create issue",
    "CreateIssue",
    "issue",
    "pull request review",
    "rev",
    "repo owner",
    "milestone",
    "actions",
    "nothing of this kind",
    "",
    "   ",
    "Größe 日本語",
    "<script>alert(1)</script>",
];

/// The tools that the page for a query lists.
fn found(checked: &toolcrib::catalog::Checked, query: &str) -> Vec<String> {
    with_site(checked, |site| {
        let page = Document::parse(&site.served().search(query).unwrap().body).unwrap();
        page.is_inert().unwrap();
        let links = page.links().into_iter();
        links
            .filter_map(|link| Some(link.strip_prefix("tools/")?.strip_suffix(".html")?.to_string()))
            .collect()
    })
}

#[test]
fn the_best_comes_first() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    let first = |query: &str| found(&checked, query).first().cloned().unwrap_or_default();
    for query in ["create_issue", "create issue", "CREATE-ISSUE", "createissue"] {
        assert_eq!(first(query), "create_issue", "{query}");
    }
    assert_eq!(first("get_me"), "get_me");
    assert_eq!(first("get_m"), "get_me");
    assert!(found(&checked, "issue labels").contains(&"update_issue_labels".to_string()));
    assert!(found(&checked, "state_reason").contains(&"issue_write".to_string()), "parameters are searched");
    assert!(found(&checked, "nothing of this kind").is_empty());
    assert!(found(&checked, "").is_empty());
    assert_eq!(found(&checked, "get").len(), found(&checked, "get get").len());
}

#[test]
fn a_search_page_says_what_it_found() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    with_site(&checked, |site| {
        let page = site.served().search("\"><script>alert(1)</script>").unwrap().body;
        assert!(page.contains("No tool has all words of"), "{page}");
        let page = site.served().search("issue").unwrap().body;
        assert!(page.contains(r#"value="issue""#) && page.contains("tools for"), "{page}");
        // Without a server, the form is there for the script only.
        assert!(body(site, "search.html").contains("data-needs-script"));
        assert!(
            !body(&site.served(), "index.html").contains("search.html\" method=\"get\" data-needs-script")
        );
        let long = "x ".repeat(100_000);
        assert!(site.served().search(&long).unwrap().body.len() < 100_000);
    });
}

/// Runs the script in Node over the same queries.
#[test]
fn the_script_finds_what_the_server_finds() {
    if Command::new("node").arg("--version").output().is_err() {
        skipped("the search of static pages, in Node", "there is no Node");
        return;
    }
    let checked = fixture::open(&fixture::package().join("examples/github"));
    let index = with_site(&checked, |site| body(site, "search-index.js"));
    let script = std::fs::read_to_string(fixture::package().join("templates/assets/site.js")).unwrap();
    let begin = script.find("  const MAX_QUERY").unwrap();
    let end = script.find("  let loading;").unwrap();
    let queries = serde_json::to_string(&QUERIES).unwrap();
    let program = format!(
        "const window = {{}};\n{index}\n{}\n\
         const tools = window.toolcribIndex.tools.map(([name, file, short, category, effect, more]) => {{ const inName = words(name); return \
         {{ file: file || name, inName, flat: inName.replaceAll(' ', ''), inShort: words(short), inMore: words(`${{category}} ${{more}}`) }}; }});\n\
         console.log(JSON.stringify({queries}.map(query => find(tools, query.trim()).slice(0, 50).map(tool => tool.file))));",
        &script[begin..end]
    );
    let mut node =
        Command::new("node").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    let lists: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    for (query, list) in QUERIES.iter().zip(lists) {
        assert_eq!(list, found(&checked, query), "{query}");
    }
}
