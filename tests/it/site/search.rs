//! Search: the page shows the answer of `tool_search`, and a page without a server filters the list of tools.

use serde_json::{Value, json};

use super::html::Document;
use super::{body, with_site};
use crate::fixture;
use crate::serve::Server;

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

#[test]
fn a_page_without_a_server_filters_a_list_of_all_tools() {
    let checked = fixture::open(&fixture::package().join("examples/github"));
    let script = with_site(&checked, |site| body(site, "search-index.js"));
    let list = script.strip_prefix("window.toolcribTools=").unwrap();
    let rows: Vec<[String; 4]> = serde_json::from_str(list).unwrap();
    assert_eq!(rows.len(), checked.catalog.tools.len());
    assert!(rows.is_sorted_by_key(|[name, ..]| name), "the list is in the order of names");
    for [name, file, short, effect] in &rows {
        let tool = checked.catalog.named(name).unwrap();
        assert_eq!((file, effect.as_str()), (&tool.names.safe, tool.rules.effect.as_str()), "{name}");
        assert!(!short.is_empty(), "{name}");
    }
}
