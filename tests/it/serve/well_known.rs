//! Files at the addresses where agents and crawlers look first.

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{Server, header};

fn check(server: &Server, path: &str, accept: &str, content_type: &str) -> String {
    let got = server.get(path, &[("accept", accept)]);
    assert_eq!((got.status().as_u16(), header(&got, "content-type")), (200, content_type), "{path}");
    assert!(!header(&got, "etag").is_empty(), "{path}");
    got.text().unwrap()
}

#[test]
fn the_start_page_is_markdown_for_a_client_that_prefers_it() {
    let server = Server::github();
    for accept in ["*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "image/png"] {
        check(&server, "/", accept, "text/html; charset=utf-8");
    }
    let listed = check(&server, "/llms.txt", "*/*", "text/plain; charset=utf-8");
    for (accept, media) in [("text/markdown, text/html;q=0.9", "markdown"), ("text/plain", "plain")] {
        assert_eq!(check(&server, "/", accept, &format!("text/{media}; charset=utf-8")), listed);
    }
    assert!(header(&server.get("/", &[]), "vary").contains("accept"));
    assert_eq!(header(&server.get("/.well-known/llms.txt", &[]), "location"), "/llms.txt");
}

#[test]
fn every_page_of_the_sitemap_that_robots_txt_names_is_there() {
    let server = Server::github();
    let robots = check(&server, "/robots.txt", "*/*", "text/plain; charset=utf-8");
    let sitemap = robots.lines().find_map(|line| line.strip_prefix("Sitemap: ")).unwrap();
    assert_eq!(sitemap, server.url("/sitemap.xml"));
    let xml = check(&server, "/sitemap.xml", "*/*", "application/xml");
    let pages: Vec<&str> = xml
        .lines()
        .filter_map(|line| line.strip_prefix("<url><loc>")?.strip_suffix("</loc></url>"))
        .collect();
    assert!(
        pages.contains(&&*server.url("/")) && pages.contains(&&*server.url("/tools/get_me.html")),
        "{xml}"
    );
    assert!(pages.len() > 117, "{}", pages.len());
    for page in pages {
        let path = page.strip_prefix(server.url("").trim_end_matches('/')).unwrap();
        check(&server, path, "text/html", "text/html; charset=utf-8");
    }
}

#[test]
fn the_list_of_skills_has_their_files_with_digests() {
    let server = Server::github();
    let index: Value = serde_json::from_str(&check(
        &server,
        "/.well-known/agent-skills/index.json",
        "*/*",
        "application/json",
    ))
    .unwrap();
    assert_eq!(index, server.json("/.well-known/skills/index.json"));
    let skills = index["skills"].as_array().unwrap();
    let overview = check(&server, "/skill.md", "*/*", "text/markdown; charset=utf-8");
    assert!(overview.starts_with("---\nname: "), "{overview}");
    assert!(overview.contains(&server.url("/mcp")), "{overview}");
    for skill in skills {
        let name = skill["name"].as_str().unwrap();
        let path = format!("/.well-known/agent-skills/{name}/SKILL.md");
        assert_eq!(skill["url"], server.url(&path));
        let text = server.text(&path);
        let hashed = digest(&SHA256, text.as_bytes());
        let digest: String = hashed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(skill["digest"], format!("sha256:{digest}"));
        assert!(text.contains(&format!("description: {}", skill["description"])), "{text}");
        assert!(overview.contains(&format!("]({})", &path[1..])), "{path}");
        for file in skill["files"].as_array().unwrap() {
            let path = format!("/.well-known/skills/{name}/{}", file.as_str().unwrap());
            assert!(!server.text(&path).is_empty(), "{path}");
        }
    }
    assert!(skills.len() > 5, "{}", skills.len());
    for missing in ["nothing/SKILL.md", "nothing", "actions/references/nothing.md"] {
        assert_eq!(
            server.get(&format!("/.well-known/agent-skills/{missing}"), &[]).status(),
            404,
            "{missing}"
        );
    }
}

#[test]
fn the_card_of_the_server_has_its_address_and_no_tool() {
    let server = Server::github();
    let cards = check(&server, "/.well-known/ai-catalog.json", "*/*", "application/ai-catalog+json");
    let cards: Value = serde_json::from_str(&cards).unwrap();
    assert_eq!(cards["entries"][0]["url"], server.url("/mcp/server-card"));
    assert_eq!(cards["entries"][0]["type"], "application/mcp-server-card+json");
    let card = check(&server, "/mcp/server-card", "*/*", "application/mcp-server-card+json");
    let card: Value = serde_json::from_str(&card).unwrap();
    assert_eq!(card["name"], "1.0.0.127/toolcrib");
    assert_eq!(card["remotes"][0]["url"], server.url("/mcp"));
    assert!(
        card["remotes"][0]["supportedProtocolVersions"].as_array().unwrap().contains(&json!("2026-07-28"))
    );
    assert!(card["description"].as_str().unwrap().len() <= 100);
    for (path, origins) in
        [("/mcp/server-card", "*"), ("/.well-known/ai-catalog.json", "*"), ("/skill.md", "")]
    {
        assert_eq!(header(&server.get(path, &[]), "access-control-allow-origin"), origins, "{path}");
    }
}
