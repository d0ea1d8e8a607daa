//! Content and media type of each address.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolcrib::functions::Function;

use super::{Server, client, header};
use crate::fixture;
use crate::mcp::many;
use crate::skipped::skipped;

#[test]
fn what_is_served_is_what_render_writes() {
    let small = fixture::package().join("examples/github");
    let large = many(1200);
    for catalog in [small.as_path(), large.path()] {
        let out = tempfile::tempdir().unwrap();
        fixture::render(&fixture::open(catalog), None, out.path());
        let server = Server::start(fixture::text(catalog), &[], &[]);
        let tree = fixture::tree(out.path());
        for (path, bytes) in tree.iter().filter(|(path, _)| path.contains('/') || !path.starts_with("tool_0"))
        {
            let place =
                if path == "registry.json" { "/registry.json".into() } else { format!("/tools/{path}") };
            let got = server.get(&place, &[]);
            assert_eq!(got.status(), 200, "{place}");
            let text = std::str::from_utf8(bytes).unwrap();
            assert_eq!(for_files(&got.text().unwrap()), for_files(text), "{place} is not what render writes");
        }
    }
}

/// A page without what differs by its reader: a server's reader calls by op, and reads schemas with `read_tool_doc`.
fn for_files(page: &str) -> String {
    let line =
        |line: &str| match line.split_once("**Op:** ").map(|(start, rest)| (start, rest.split_once(" · "))) {
            Some((start, Some((_, rest)))) => format!("{start}{rest}"),
            _ if line.starts_with("Shortened; the whole schema is ") => "Shortened.".into(),
            _ => line.to_string(),
        };
    page.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_tool_comes_in_the_form_that_is_liked_best() {
    let server = Server::github();
    let form = |accept: &str| {
        let response = server.get("/tools/get_me", &[("accept", accept)]);
        assert!(header(&response, "vary").contains("accept"), "{accept}");
        (response.status().as_u16(), header(&response, "content-type").split(';').next().unwrap().to_string())
    };
    assert_eq!(form("*/*"), (200, "text/markdown".into()));
    assert_eq!(form("text/html,application/xhtml+xml,*/*;q=0.8"), (200, "text/html".into()));
    assert_eq!(form("application/json, text/markdown;q=0.9"), (200, "application/json".into()));
    assert_eq!(form("application/json;q=0.2, text/markdown;q=0.9"), (200, "text/markdown".into()));
    assert_eq!(form("text/plain"), (200, "text/plain".into()));
    assert_eq!(form("image/png").0, 406);
    let record: Value = server.get("/tools/get_me", &[("accept", "application/json")]).json().unwrap();
    assert_eq!(record["tool_name"], "get_me");
    let registry = server.json("/registry.json");
    let asked = json!({ "name": "get_me" });
    let read: Value = server.post("read_tool_doc", asked).json().unwrap();
    assert_eq!(record["doc_version"], read["docs"][0]["doc_version"]);
    assert_eq!(record["registry_version"], registry["registry_version"]);
}

#[test]
fn every_name_of_a_tool_leads_to_its_address() {
    let server = Server::with("", &[]);
    let place = |path: &str| {
        let response = server.get(path, &[]);
        (response.status().as_u16(), header(&response, "location").to_string())
    };
    for name in ["files.read", "onto.file.read", "cat"] {
        assert_eq!(place(&format!("/tools/{name}")), (307, "/tools/files_read".into()));
        assert_eq!(place(&format!("/tools/{name}.md")), (307, "/tools/files_read.md".into()));
        assert_eq!(place(&format!("/tools/{name}.html")), (307, "/tools/files_read.html".into()));
    }
    assert_eq!(place("/tools/files_read.md"), (200, String::new()));
    let (status, odd) = place("/tools/%3Cb%3Eodd%2Fname%3C%2Fb%3E.md");
    assert_eq!(status, 307);
    assert_eq!(place(&odd).0, 200);
    for path in ["/tools/", "/tools/README.md", "/"] {
        assert_eq!(place(path).0, 200, "{path}");
    }
}

#[test]
fn functions_answer_in_json_or_in_markdown() {
    let server = Server::github();
    let listed = server.json("/v1");
    assert_eq!(listed["functions"][0]["name"], "read_tool_doc");
    assert!(listed["functions"][0]["input_schema"]["properties"]["names"].is_object());
    let example = listed["functions"][0]["example"].to_string();
    assert_eq!(server.post("read_tool_doc", example).status(), 200);

    let answer: Value = server.post("read_tool_doc", r#"{"name": "get_me"}"#).json().unwrap();
    assert_eq!((&answer["ok"], &answer["docs"][0]["name"]), (&json!(true), &json!("get_me")));
    let asking = client().post(server.url("/v1/read_tool_doc")).header("accept", "text/markdown");
    let text =
        asking.header("content-type", "application/json").body(r#"{"name": "get_me"}"#).send().unwrap();
    assert_eq!(header(&text, "content-type"), "text/markdown; charset=utf-8");
    assert_eq!(text.text().unwrap().trim_end(), server.text("/tools/get_me.md").trim_end());
}

#[test]
fn llms_txt_links_every_tool() {
    let server = Server::github();
    let text = server.text("/llms.txt");
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("# "), "{text}");
    assert!(lines.nth(1).unwrap().starts_with("> "), "{text}");
    assert!(text.contains("\n## "));
    let links: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("- [")?.split_once("](")?.1.split(')').next())
        .collect();
    assert!(links.len() >= 117, "{}", links.len());
    for link in links {
        let path = link.strip_prefix(&server.url("")).expect("a link with the address of the server");
        assert!(!server.text(path).is_empty(), "{link}");
    }
}

#[test]
fn openapi_describes_what_is_there() {
    let server = Server::github();
    let api = server.json("/openapi.json");
    assert_eq!(api["openapi"], "3.1.0");
    let page = server.text("/llms.txt");
    assert!(!page.is_empty());
    for (path, item) in api["paths"].as_object().unwrap() {
        if item.get("post").is_some() && !path.contains('{') {
            let example = item["post"]["requestBody"]["content"]["application/json"]["example"].to_string();
            let status = server.post(path.rsplit('/').next().unwrap(), example).status();
            if path == "/v1/reload" {
                assert_eq!(status, 202);
                continue;
            }
            // Some examples are about tools that this catalog does not have, or results that it does not keep.
            let is_elsewhere = matches!(status.as_u16(), 404 | 410) && path != "/v1/read_tool_doc";
            assert!(status == 200 || is_elsewhere, "{path}: {status}");
        } else if !path.contains('{') {
            assert_eq!(server.get(path, &[]).status(), 200, "{path}");
        }
    }
    let listed = &server.json("/v1")["functions"][0]["input_schema"];
    let schema =
        &api["paths"]["/v1/read_tool_doc"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(listed, schema);

    let check =
        "import sys, json\nfrom openapi_spec_validator import validate\nvalidate(json.load(sys.stdin))";
    let has = std::process::Command::new("python3").args(["-c", "import openapi_spec_validator"]).output();
    if !has.is_ok_and(|run| run.status.success()) {
        skipped("/openapi.json against its specification", "Python has no openapi-spec-validator");
        return;
    }
    let mut command = std::process::Command::new("python3");
    command.args(["-c", check]).stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), api.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn pages_and_their_parts_are_at_their_addresses() {
    let server = Server::github();
    for path in [
        "/",
        "/index.html",
        "/tools/get_me.html",
        "/search.html",
        "/search.html?q=read+a%20file",
        "/findings.html",
    ] {
        let page = server.get(path, &[]);
        assert_eq!(page.status(), 200, "{path}");
        assert!(header(&page, "content-type").starts_with("text/html"), "{path}");
        assert!(header(&page, "content-security-policy").contains("default-src 'none'"), "{path}");
    }
    let payloads = server.get("/payloads/get_me.json", &[]);
    assert_eq!(payloads.status(), 200);
    assert_eq!(header(&payloads, "content-type"), "application/json");
    let missing = server.get("/nothing/here", &[("accept", "text/html")]);
    assert_eq!(missing.status(), 404);
    assert!(missing.text().unwrap().contains("<html"));
}

#[test]
fn mcp_is_behind_the_same_checks() {
    let server = Server::github();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let asking = client().post(server.url("/mcp")).header("content-type", "application/json");
    let asking = asking.header("accept", "application/json, text/event-stream").body(call.to_string());
    let own = asking.try_clone().unwrap().header("origin", server.url("")).send().unwrap();
    assert_eq!(own.status(), 200);
    assert!(own.text().unwrap().contains("\"serverInfo\""));
    assert_eq!(asking.header("origin", "https://evil.example").send().unwrap().status(), 403);
}

#[test]
fn health_readiness_and_metrics_tell_how_it_goes() {
    let server = Server::github();
    server.text("/metrics");
    let idle = server.text("/metrics").lines().filter(|line| !line.starts_with('#')).count();
    assert!(idle <= 40, "{idle} series without any request");
    assert_eq!(server.text("/healthz"), "ok\n");
    assert_eq!(server.text("/readyz"), "ready\n");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let detail = loop {
        let detail = server.json("/readyz?verbose");
        if detail["search"] == "ready" {
            break detail;
        }
        // Nobody has searched: it is made by itself.
        assert!(detail["search"] == "being made" && std::time::Instant::now() < end, "{detail}");
        std::thread::sleep(std::time::Duration::from_millis(30));
    };
    assert_eq!(
        (&detail["ready"], &detail["tools"], &detail["complete"]),
        (&json!(true), &json!(117), &json!(true))
    );
    server.text("/tools/get_me.md");
    let tag = header(&server.get("/tools/get_me.md", &[]), "etag").to_string();
    server.get("/tools/get_me.md", &[("if-none-match", &tag)]);
    server.post("read_tool_doc", r#"{"name": "get_me"}"#);
    server.post("read_tool_doc", r#"{"name": "nothing_like_it"}"#);
    assert_eq!(server.metric("toolcrib_http_requests_total{route=\"doc\",status=\"200\"}"), 2);
    assert_eq!(server.metric("toolcrib_http_requests_total{route=\"doc\",status=\"304\"}"), 1);
    assert_eq!(server.metric("toolcrib_function_calls_total{function=\"read_tool_doc\",outcome=\"ok\"}"), 1);
    assert_eq!(
        server.metric("toolcrib_function_calls_total{function=\"read_tool_doc\",outcome=\"NOT_FOUND\"}"),
        1
    );
    assert_eq!(server.metric("toolcrib_tools"), 117);
    assert_eq!(server.metric("toolcrib_http_request_duration_seconds_count{route=\"doc\"}"), 3);
}

#[test]
fn a_server_without_tools_lives_but_is_not_ready() {
    // A live server that is away may still list some.
    let away = "[[source]]\nserver = \"away\"\nmcp = { url = \"http://127.0.0.1:9/mcp\" }\n";
    let folder = fixture::folder(&[("toolcrib.toml", away)]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    assert_eq!(server.get("/healthz", &[]).status(), 200);
    let ready = server.get("/readyz", &[]);
    assert_eq!(ready.status(), 503);
    assert_eq!(ready.json::<Value>().unwrap()["error"]["code"], "NOT_READY");
    assert_eq!(server.get("/readyz?verbose", &[]).json::<Value>().unwrap()["ready"], false);
}

#[test]
fn names_that_a_client_gives_its_request_come_back() {
    let server = Server::github();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = server.get("/tools/get_me.md", &[("x-request-id", "job-7"), ("traceparent", trace)]);
    assert_eq!((header(&answer, "x-request-id"), header(&answer, "traceparent")), ("job-7", trace));
}

#[test]
fn the_docs_list_every_route_and_no_other() {
    let page = std::fs::read_to_string(fixture::package().join("docs/operate.md")).unwrap();
    let table = page.split("## Addresses").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let spans = cells.flat_map(|cell| cell.split('`').filter(|span| span.contains('/')));
    let documented: BTreeSet<String> = spans
        .map(|span| span.trim_start_matches("POST ").trim_start_matches("GET "))
        .map(|path| path.split('?').next().unwrap().to_string())
        .collect();

    let api = Server::github().json("/openapi.json");
    let functions: Vec<&str> = Function::all().iter().map(Function::name).collect();
    let written = |path: &String| match path.strip_prefix("/v1/") {
        Some(name) if functions.contains(&name) => "/v1/FUNCTION".to_string(),
        _ => path
            .replace("{name}", "NAME")
            .replace("{id}", "ID")
            .replace("{page}", "*")
            .replace("{block}", "N"),
    };
    let served = api["paths"].as_object().unwrap().keys().map(written);
    // Pages for people, files for those who look for servers, and a protocol of its own.
    let pages = ["/approvals.html", "/sessions.html", "/usage.html", "/servers.html"];
    let looked_for = [
        "/.well-known/llms.txt",
        "/skill.md",
        "/.well-known/agent-skills/index.json",
        "/mcp/server-card",
        "/.well-known/ai-catalog.json",
        "/robots.txt",
        "/sitemap.xml",
    ];
    let others = ["/", "/mcp", "/sign-in", "/sign-out"].into_iter().chain(pages).chain(looked_for);
    let expected: BTreeSet<String> = served.chain(others.map(str::to_string)).collect();
    assert_eq!(documented, expected);
}

#[test]
fn a_hit_says_what_long_results_of_its_tool_have_cost() {
    let backend = json!({"type": "static", "content": {"orders": "word ".repeat(1_990)}});
    let tools = json!([{"name": "list_orders", "description": "Lists the orders.", "effect": "read",
        "parameters": {"type": "object", "properties": {}}, "backend": backend}]);
    let server = Server::of(&tools.to_string(), "", &[]);
    let search = || server.post("tool_search", r#"{"query": "list the orders"}"#).text().unwrap();
    assert!(!search().contains("result_tokens"), "{}", search());
    assert_eq!(server.posting("/v1/tools/list_orders", "{}").send().unwrap().status(), 200);
    let told = (0..100).map(|_| search()).find(|found| found.contains("result_tokens"));
    assert!(told.is_some_and(|found| found.contains("\"result_tokens\":2000")), "{}", search());
}
