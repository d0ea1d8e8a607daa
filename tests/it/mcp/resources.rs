//! Large catalogs: every doc is listed once, page by page, and can be read.

use std::collections::BTreeSet;

use rmcp::model::{PaginatedRequestParams, ReadResourceRequestParams, ResourceContents};
use rmcp::serve_client;
use rmcp::service::{RoleClient, RunningService};

use super::{live, live_of, many, run, served};
use crate::fixture;

type Client = RunningService<RoleClient, ()>;

async fn over_http(live: std::sync::Arc<toolcrib::server::LiveCatalog>) -> Client {
    let address = served(live).await;
    let transport = rmcp::transport::StreamableHttpClientTransport::from_uri(address);
    serve_client((), transport).await.unwrap()
}

fn text(contents: &[ResourceContents]) -> &str {
    match contents {
        [ResourceContents::TextResourceContents { text, mime_type: Some(kind), .. }]
            if kind == "text/markdown" =>
        {
            text
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_thousand_docs_are_listed_once_and_read() {
    let folder = many(1_000);
    run(async move {
        let client = over_http(live(folder.path())).await;
        let listed = client.list_all_resources().await.unwrap();
        let addresses: BTreeSet<&str> = listed.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(addresses.len(), listed.len());
        assert_eq!(listed.iter().filter(|resource| resource.uri.contains("/tool_")).count(), 1_000);
        assert_eq!(listed[0].uri, "toolcrib://tools/README.md");
        for resource in &listed {
            let read = client.read_resource(ReadResourceRequestParams::new(&resource.uri)).await.unwrap();
            assert_eq!(text(&read.contents).len() as u64, resource.size.unwrap(), "{}", resource.uri);
        }
        // Every link of the index leads to a resource with the same address.
        let readme =
            client.read_resource(ReadResourceRequestParams::new("toolcrib://tools/README.md")).await.unwrap();
        let links = text(&readme.contents)
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap().to_string());
        for link in links {
            assert!(addresses.contains(format!("toolcrib://tools/{link}").as_str()), "{link}");
        }
    });
}

#[test]
fn a_list_goes_on_where_it_was_when_the_catalog_has_changed() {
    let (before, after) = (many(500), many(430));
    run(async move {
        let live = live(before.path());
        let client = over_http(std::sync::Arc::clone(&live)).await;
        let first = client.list_resources(None).await.unwrap();
        live.replace(fixture::open(after.path()), false, &super::templates());
        let mut listed: Vec<String> = first.resources.iter().map(|resource| resource.uri.clone()).collect();
        let mut cursor = first.next_cursor;
        while let Some(next) = cursor {
            let page = client
                .list_resources(Some(PaginatedRequestParams::default().with_cursor(Some(next))))
                .await
                .unwrap();
            listed.extend(page.resources.iter().map(|resource| resource.uri.clone()));
            cursor = page.next_cursor;
        }
        let docs: Vec<&String> = listed.iter().filter(|uri| uri.contains("/tool_")).collect();
        assert_eq!(docs.len(), 430);
    });
}

#[test]
fn a_tool_is_found_by_any_of_its_names() {
    let text_of = r#"[{"name": "math.factorial", "aliases": ["fact"], "op": "math.fact_of", "description": "Multiplies.",
        "category": "Maths", "parameters": {"type": "object", "properties": {}}}]"#;
    let checked = fixture::open_text("tools.json", text_of);
    run(async move {
        let client = over_http(live_of(checked)).await;
        for name in ["math_factorial", "math.factorial", "fact", "math.fact_of", "math%2Efactorial"] {
            let address = format!("toolcrib://tools/{name}.md");
            let read = client.read_resource(ReadResourceRequestParams::new(&address)).await.unwrap();
            assert!(text(&read.contents).starts_with("# math.factorial\n"), "{name}");
        }
        let problem =
            client.read_resource(ReadResourceRequestParams::new("toolcrib://tools/factoral.md")).await;
        assert!(problem.is_err());
    });
}

#[test]
fn instructions_name_the_largest_groups_within_their_limit() {
    let tool = |index: usize| {
        let group = format!("Group {:03}\u{202e} with\nan unreasonably long name", index / (1 + index % 3));
        serde_json::json!({"name": format!("t{index}"), "description": "Does.", "category": group, "parameters": {"type": "object"}})
    };
    let tools: Vec<serde_json::Value> = (0..400).map(tool).collect();
    let checked = fixture::open_text("tools.json", &serde_json::to_string(&tools).unwrap());
    run(async move {
        let client = over_http(live_of(checked)).await;
        let told = client.peer_info().unwrap().instructions.clone().unwrap();
        assert!(told.chars().count() <= 2_000 && told.chars().count() > 1_800, "{}", told.chars().count());
        assert!(!told.contains('\u{202e}') && told.contains("tool_help") && told.contains("400 tools"));
        assert!(told.ends_with("smaller groups."), "{told}");
    });
}

#[test]
fn the_same_catalog_is_listed_the_same() {
    let folder = many(50);
    run(async move {
        let first = over_http(live(folder.path())).await.list_all_resources().await.unwrap();
        let again = over_http(live(folder.path())).await.list_all_resources().await.unwrap();
        assert_eq!(first, again);
    });
}
