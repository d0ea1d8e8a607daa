//! Schemas and payloads of a tool: in a file of its own, exact, and loaded when a reader opens one.

use serde_json::{Value, json};

use super::*;

fn file(site: &Site<'_>, tool: &str) -> (String, Value) {
    let page = site.page(&format!("payloads/{tool}.json")).unwrap().unwrap();
    assert_eq!(page.content_type, "application/json");
    let content = serde_json::from_str(&page.body).unwrap();
    (page.body, content)
}

#[test]
fn a_file_has_the_schemas_and_the_payload_of_each_provider() {
    let checked = fixture::open_text("a.yaml", include_str!("tool.yaml"));
    with_site(&checked, |site| {
        let (text, content) = file(site, "create_document");
        assert_eq!(content["schema"], *checked.catalog.tools[0].input.schema.as_ref().unwrap().value());
        assert_eq!(content["openai"]["function"]["name"], "create_document");
        assert_eq!(content["anthropic"]["input_schema"]["required"], json!(["title"]));
        assert_eq!(content.as_object().unwrap().len(), 12);
        // A script cuts values out of the text by their indentation.
        for key in content.as_object().unwrap().keys() {
            let begins = format!("  \"{key}\": ");
            assert_eq!(text.lines().filter(|line| line.starts_with(&begins)).count(), 1, "{key}: {text}");
        }
        let (_, bare) = file(site, "no_schema");
        assert!(bare.get("schema").is_none(), "{bare}");
        assert!(site.page("payloads/nope.json").is_none() && site.page("payloads/create_document").is_none());
    });
}

#[test]
fn hidden_characters_are_visible_in_the_file_and_the_same_in_its_values() {
    let said = "a\u{202e}b\u{2028}  \"openai\": {\u{e0041}\u{200d}";
    let schema = json!({"type": "object", "properties": {said: {"type": "string", "description": said}}});
    let tools = json!([{"name": "odd", "description": "Odd.", "parameters": schema}]);
    let checked = fixture::open_text("a.json", &tools.to_string());
    with_site(&checked, |site| {
        let (text, content) = file(site, "odd");
        assert_eq!(content["schema"], schema);
        assert!(text.contains("\\u202e") && text.contains("\\udb40\\udc41"), "{text}");
        let hides = |c: char| c != '\n' && (toolcrib::definition::is_hidden(c) || c == '\u{2028}');
        assert!(!text.contains(hides), "{text:?}");
    });
}

#[test]
fn pages_of_the_largest_tools_stay_small() {
    let largest = [
        ("discord-openapi.json", "create_interaction_response"),
        ("box-openapi.json", "put_ai_agents_id"),
        ("toucan-nasty-servers.json", "execute-browser-commands"),
    ];
    for (catalog, tool) in largest {
        with_site(fixture::catalog(catalog).1, |site| {
            for path in [format!("tools/{tool}.html"), "index.html".into(), "findings.html".into()] {
                let size = body(site, &path).len();
                assert!(size < MAX_PAGE, "{catalog} {path}: {size}");
            }
        });
    }
}

#[test]
fn a_description_is_told_once() {
    let told = [
        ("List files. With sizes.", "List files", "List files With sizes."),
        ("List files of a folder.", "List files", "List files of a folder."),
        ("This tool lists files. Sorted by name.", "Lists files", "Lists files Sorted by name."),
        (
            "List\nfiles and folders, and links.",
            "List files and folders…",
            "List files and folders, and links.",
        ),
        ("获取文件。按名称排序。", "获取文件", "获取文件 按名称排序。"),
        ("Another text.", "List files", "List files Another text."),
    ];
    for (long, short, expect) in told {
        let tools = json!([{"name": "a", "description": long, "short_description": short, "parameters": {}}]);
        with_site(&fixture::open_text("a.json", &tools.to_string()), |site| {
            let said = Document::parse(&body(site, "tools/a.html")).unwrap().text_of().to_string();
            assert!(said.contains(&format!(" {expect} Arguments")), "{expect}: {said}");
        });
    }
}
