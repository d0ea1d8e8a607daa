//! One server for several profiles: the path and the token choose one, never wider than the token allows.

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Server, client, header};
use crate::fixture::{self, folder, package, run, text};
use crate::mcp;

const EVERY: &str = "every-token-0123456789";
const CREATOR: &str = "creator-token-0123456789";
const BOTH: &str = "both-token-0123456789";
const UNSERVED: &str = "unserved-token-0123456789";
const TOKENS: [(&str, &str); 4] =
    [("T_EVERY", EVERY), ("T_CREATOR", CREATOR), ("T_BOTH", BOTH), ("T_UNSERVED", UNSERVED)];

const SERVE: &str = r#"
[profile.secret]
include = ["read_file"]

[serve]
profiles = ["creator", "validator"]

[[serve.token]]
env = "T_EVERY"

[[serve.token]]
env = "T_CREATOR"
profiles = ["creator"]

[[serve.token]]
env = "T_BOTH"
profiles = ["validator", "creator"]
roles = ["*"]

[[serve.token]]
env = "T_UNSERVED"
profiles = ["secret"]
"#;

/// The universal agent with more in its configuration.
fn agent(more: &str) -> TempDir {
    let read =
        |name: &str| std::fs::read_to_string(package().join("examples/universal-agent").join(name)).unwrap();
    let config = format!("{}\n{more}", read("toolcrib.toml"));
    folder(&[("tools.json", &read("tools.json")), ("toolcrib.toml", &config)])
}

/// A tool of the creator alone, and one of the validator alone.
const PROBES: [&str; 2] = ["research_topic", "execute_cypher_query"];

/// A request, as far as it chooses a profile.
#[derive(Clone, Copy, Debug)]
struct Choice<'c> {
    path: &'c str,
    token: &'c str,
}

/// One way to ask for a tool: whether it is there, or the status and the code of a refusal.
type Route = fn(&Server, Choice<'_>, &str) -> Result<bool, (u16, String)>;

const ROUTES: [(&str, Route); 4] =
    [("docs", doc), ("functions", function), ("pages", page), ("MCP", resource)];

fn send(server: &Server, choice: Choice<'_>, path: &str, body: Option<Value>, accept: &str) -> (u16, String) {
    let prefix = if choice.path.is_empty() { String::new() } else { format!("/p/{}", choice.path) };
    let url = server.url(&format!("{prefix}{path}"));
    let asking = match body {
        Some(body) => client().post(url).header("content-type", "application/json").body(body.to_string()),
        None => client().get(url),
    };
    let asking = asking.header("accept", accept).header("authorization", format!("Bearer {}", choice.token));
    let response = asking.send().unwrap();
    (response.status().as_u16(), response.text().unwrap())
}

fn doc(server: &Server, choice: Choice<'_>, tool: &str) -> Result<bool, (u16, String)> {
    found(send(server, choice, &format!("/tools/{tool}.md"), None, "*/*"))
}

fn function(server: &Server, choice: Choice<'_>, tool: &str) -> Result<bool, (u16, String)> {
    found(send(server, choice, "/v1/read_tool_doc", Some(json!({"name": tool})), "application/json"))
}

fn found((status, text): (u16, String)) -> Result<bool, (u16, String)> {
    if status == 200 {
        return Ok(true);
    }
    let body: Value = serde_json::from_str(&text).unwrap();
    match body["error"]["code"].as_str().unwrap() {
        "NOT_FOUND" => Ok(false),
        code => Err((status, code.into())),
    }
}

fn page(server: &Server, choice: Choice<'_>, tool: &str) -> Result<bool, (u16, String)> {
    let (status, text) = send(server, choice, &format!("/tools/{tool}.html"), None, "text/html");
    match serde_json::from_str::<Value>(&text) {
        Ok(body) => Err((status, body["error"]["code"].as_str().unwrap().into())),
        Err(_) => Ok(status == 200),
    }
}

fn resource(server: &Server, choice: Choice<'_>, tool: &str) -> Result<bool, (u16, String)> {
    let params = json!({"uri": format!("toolcrib://tools/{tool}.md")});
    let read = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params});
    let (status, text) = send(server, choice, "/mcp", Some(read), "application/json, text/event-stream");
    let body: Value = serde_json::from_str(&text).unwrap();
    match body.pointer("/error/data/code").and_then(Value::as_str) {
        Some(code) => Err((status, code.into())),
        None => Ok(body.get("result").is_some()),
    }
}

/// The profile that answers, or the refusal.
fn chosen(server: &Server, route: Route, choice: Choice<'_>) -> String {
    match (route(server, choice, PROBES[0]), route(server, choice, PROBES[1])) {
        (Ok(true), Ok(true)) => "every tool".into(),
        (Ok(true), Ok(false)) => "creator".into(),
        (Ok(false), Ok(true)) => "validator".into(),
        (Err((status, code)), Err(same)) if same == (status, code.clone()) => format!("{status} {code}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(server: &Server, table: &[(&str, &str, &str)]) {
    for &(path, token, expected) in table {
        let choice = Choice { path, token };
        for (name, route) in ROUTES {
            assert_eq!(chosen(server, route, choice), expected, "{name}: {choice:?}");
        }
    }
}

#[test]
fn path_and_token_choose_a_profile_or_are_refused_together() {
    let folder = agent(SERVE);
    let server = Server::start(text(folder.path()), &[], &TOKENS);
    check(
        &server,
        &[
            ("", EVERY, "every tool"),
            ("creator", EVERY, "creator"),
            ("validator", EVERY, "validator"),
            ("cre%61tor", EVERY, "creator"),
            ("creatr", EVERY, "404 UNKNOWN_PROFILE"),
            // It is configured, and not served.
            ("secret", EVERY, "404 UNKNOWN_PROFILE"),
            ("", CREATOR, "creator"),
            ("creator", CREATOR, "creator"),
            ("validator", CREATOR, "403 PROFILE_NOT_ALLOWED"),
            ("", BOTH, "validator"),
            ("creator", BOTH, "creator"),
            ("", UNSERVED, "403 PROFILE_NOT_ALLOWED"),
            ("creator", UNSERVED, "403 PROFILE_NOT_ALLOWED"),
            ("secret", UNSERVED, "404 UNKNOWN_PROFILE"),
        ],
    );
}

#[test]
fn a_refusal_tells_a_token_nothing_of_profiles_that_it_is_not_for() {
    let folder = agent(SERVE);
    let server = Server::start(text(folder.path()), &[], &TOKENS);
    let answer = |profile: &str, accept: &str| {
        let choice = Choice { path: profile, token: CREATOR };
        let (status, text) = send(&server, choice, "/tools/README.md", None, accept);
        assert_eq!(status, 403, "{text}");
        text.replace(profile, "NAME")
    };
    for accept in ["application/json", "text/html"] {
        let missing = answer("nothing", accept);
        assert!(missing.contains("`creator`") && !missing.contains("validator"), "{missing}");
        for real in ["validator", "secret"] {
            assert_eq!(answer(real, accept), missing, "{real}");
        }
    }
    // Other callers get a suggestion.
    let choice = Choice { path: "valdator", token: EVERY };
    let (_, text) = send(&server, choice, "/tools/README.md", None, "application/json");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["error"]["nearest"], json!(["validator"]), "{text}");
    // Without a token nothing is revealed, even on addresses that need no token.
    for path in ["/p/creator/healthz", "/p/nothing/healthz", "/p/creator/mcp"] {
        assert_eq!(server.get(path, &[]).status(), 401, "{path}");
    }
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
fn a_token_for_profiles_reads_no_findings_and_counts_only_its_tools() {
    let folder = agent(SERVE);
    let server = Server::start(text(folder.path()), &[], &TOKENS);
    let detail =
        |path: &str, token: &str| server.json_of(path, &[("authorization", &format!("Bearer {token}"))]);
    let (creator, both) = (detail("/readyz?verbose", CREATOR), detail("/p/creator/readyz?verbose", BOTH));
    assert_eq!((&creator["tools"], &both["tools"]), (&json!(27), &json!(27)));
    assert!(creator.get("findings").is_none() && both.get("findings").is_none(), "{both}");
    let registry = detail("/p/validator/registry.json", BOTH);
    assert_eq!(
        (registry["tools"].as_array().unwrap().len(), &registry["profile"]),
        (40, &json!("validator"))
    );
}

#[test]
fn a_given_profile_is_the_only_one_unless_the_configuration_names_others() {
    let table = |server: &Server, other: &str| {
        check(server, &[("", EVERY, "creator"), ("creator", EVERY, "creator"), ("validator", EVERY, other)]);
    };
    let plain = agent("");
    table(&Server::start(text(plain.path()), &["--profile", "creator"], &[]), "404 UNKNOWN_PROFILE");
    for more in ["[serve]\nprofiles = [\"validator\"]", "[serve]\nprofiles = [\"*\"]"] {
        let folder = agent(more);
        table(&Server::start(text(folder.path()), &["--profile", "creator"], &[]), "validator");
    }
    // The token chooses where it is not for the usual profile.
    let folder = agent(SERVE);
    let server = Server::start(text(folder.path()), &["--profile", "validator"], &TOKENS);
    check(&server, &[("", CREATOR, "creator"), ("", BOTH, "validator"), ("", EVERY, "validator")]);
    let none = agent("[serve]\nprofiles = []");
    let server = Server::start(text(none.path()), &[], &[]);
    check(&server, &[("", EVERY, "every tool"), ("creator", EVERY, "404 UNKNOWN_PROFILE")]);
}

#[test]
fn a_profile_that_is_not_there_is_found_before_the_server_starts() {
    for more in ["[serve]\nprofiles = [\"creatr\"]", "[[serve.token]]\nenv = \"T\"\nprofiles = [\"creatr\"]"]
    {
        let folder = agent(more);
        let path = text(folder.path());
        let checked = run(&["check", path]);
        assert_eq!(checked.code, 1, "{}", checked.stdout);
        assert!(checked.stdout.contains("did you mean `creator`?"), "{}", checked.stdout);
        let served = run(&["serve", path, "--listen", "127.0.0.1:0"]);
        assert_eq!(served.code, 1, "{}", served.stderr);
    }
}

#[test]
fn addresses_in_answers_stay_below_the_profile() {
    let folder = agent("[[overlay]]\nmatch = \"research_topic\"\nop = \"web.research\"");
    let server = Server::start(text(folder.path()), &["--mode", "full"], &[]);
    let place = |path: &str| {
        let response = server.get(path, &[]);
        assert_eq!(response.status(), 307, "{path}");
        header(&response, "location").to_string()
    };
    assert_eq!(place("/p/creator"), "/p/creator/");
    assert_eq!(place("/p/creator?q=1"), "/p/creator/?q=1");
    assert_eq!(place("/p/creator/tools/web.research.md"), "/p/creator/tools/research_topic.md");
    assert_eq!(place("/tools/web.research.md"), "/tools/research_topic.md");
    for (path, root) in [("/p/creator", "/p/creator"), ("", "")] {
        let listed = server.json(&format!("{path}/v1"));
        let urls = [&listed["functions"][0]["url"], &listed["tools"][0]["url"]];
        assert!(urls.iter().all(|url| url.as_str().unwrap().starts_with(&format!("{root}/v1/"))), "{urls:?}");
        let api = server.json(&format!("{path}/openapi.json"));
        assert_eq!(api["servers"][0]["url"], if root.is_empty() { "/" } else { root });
        let missing = server.get(&format!("{path}/tools/research_topi.md"), &[]).text().unwrap();
        let body: Value = serde_json::from_str(&missing).unwrap();
        assert_eq!(body["links"]["tools"], format!("{root}/tools/README.md"));
        assert!(
            body["error"]["next_action"].as_str().unwrap().contains(&format!("read {root}/tools/")),
            "{body}"
        );
    }
    // Every link of pages leads to something in the same profile.
    for page in ["", "tools/research_topic.html", "profiles.html", "nothing/at/all.html", "search.html?q=web"]
    {
        let base = reqwest::Url::parse(&server.url(&format!("/p/creator/{page}"))).unwrap();
        let html = client().get(base.clone()).header("accept", "text/html").send().unwrap().text().unwrap();
        let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let links: Vec<_> = links
            .filter(|link| !link.starts_with("http") && !link.starts_with('#'))
            .map(|link| base.join(link).unwrap())
            .collect();
        assert!(links.len() > 5, "{page}");
        for link in links {
            assert!(link.path().starts_with("/p/creator/"), "{page}: {link}");
            assert_eq!(client().get(link.clone()).send().unwrap().status(), 200, "{page}: {link}");
        }
    }
}

#[test]
fn each_profile_has_its_own_tag() {
    let folder = agent("");
    let server = Server::start(text(folder.path()), &[], &[]);
    let (whole, creator) =
        (server.get("/tools/README.md", &[]), server.get("/p/creator/tools/README.md", &[]));
    let tag = header(&creator, "etag").to_string();
    assert_ne!(header(&whole, "etag"), tag);
    let again = |path: &str| server.get(path, &[("if-none-match", &tag)]).status().as_u16();
    let paths = ["/p/creator/tools/README.md", "/p/validator/tools/README.md", "/tools/README.md"];
    assert_eq!(paths.map(again), [304, 200, 200]);
}

#[test]
fn a_client_of_mcp_gets_the_profile_of_its_address_or_token() {
    crate::serve::client();
    let folder = agent(SERVE);
    let server = Server::start(text(folder.path()), &[], &TOKENS);
    let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    mcp::run(async {
        for mode in [ClientLifecycleMode::Initialize, newer] {
            let connect = |path: &str, token: &str| {
                let config =
                    StreamableHttpClientTransportConfig::with_uri(server.url(path)).auth_header(token);
                ().serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), mode.clone())
            };
            for (path, token, tools) in [
                ("/p/creator/mcp", EVERY, 27),
                ("/p/validator/mcp", EVERY, 40),
                ("/mcp", EVERY, 58),
                ("/mcp", CREATOR, 27),
                ("/mcp", BOTH, 40),
                ("/p/creator/mcp", BOTH, 27),
            ] {
                let client = connect(path, token).await.unwrap();
                let info = client.peer_info().unwrap();
                assert!(
                    info.instructions.as_ref().unwrap().contains(&format!("{tools} tools")),
                    "{path} {token}"
                );
                let docs = client.list_all_resources().await.unwrap();
                assert_eq!(docs.len(), tools + 1, "{path} {token}");
                let query = json!({"query": "run a cypher query on the graph", "format": "json"});
                let search = CallToolRequestParams::new("tool_search");
                let search = search.with_arguments(query.as_object().unwrap().clone());
                let found = serde_json::to_string(&client.call_tool(search).await.unwrap()).unwrap();
                assert_eq!(found.contains("execute_cypher_query"), tools != 27, "{path} {token}");
                let _ = client.cancel().await;
            }
            // Over stdio the command line decides alone.
            let stdio = ["serve", "--stdio", "--profile", "creator", text(folder.path())];
            let program = tokio::process::Command::from(fixture::program(&stdio));
            let stdio = TokioChildProcess::new(program).unwrap();
            let client = ().serve_with_lifecycle(stdio, mode.clone()).await.unwrap();
            assert_eq!(client.list_all_resources().await.unwrap().len(), 28);
            let _ = client.cancel().await;
            for (path, token) in [("/p/validator/mcp", CREATOR), ("/p/creatr/mcp", EVERY), ("/mcp", UNSERVED)]
            {
                assert!(connect(path, token).await.is_err(), "{path} {token}");
            }
        }
    });
}

#[test]
fn a_profile_allows_its_own_effects() {
    let tools = r#"[{"name": "rename", "description": "Renames it.", "effect": "write", "parameters": {"type": "object"},
                     "backend": {"type": "static", "content": "done"}}]"#;
    let config = "[exec]\nallow = \"write\"\n\n[profile.reader]\nallow = \"read\"\n\n[profile.writer]\n";
    let folder = fixture::folder(&[("tools.json", tools), ("toolcrib.toml", config)]);
    let server = Server::start(text(folder.path()), &[], &[]);
    let call = |path: &str| {
        let asking = client().post(server.url(path)).header("content-type", "application/json").body("{}");
        asking.send().unwrap().status().as_u16()
    };
    assert_eq!(call("/p/reader/v1/tools/rename"), 403);
    assert_eq!(call("/p/writer/v1/tools/rename"), 200);
    assert_eq!(call("/v1/tools/rename"), 200);
}

#[test]
fn profiles_come_and_go_with_the_catalog() {
    let folder = agent("");
    let server = Server::start(text(folder.path()), &[], &[]);
    let status = |path: &str| server.get(path, &[]).status().as_u16();
    let wait = |path: &str, expected: u16| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while status(path) != expected {
            assert!(std::time::Instant::now() < end, "{path}: {}", status(path));
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
    };
    assert_eq!(status("/p/reader/"), 404);
    let before = std::fs::read_to_string(folder.path().join("toolcrib.toml")).unwrap();
    fixture::write(
        folder.path(),
        "toolcrib.toml",
        &format!("{before}\n[profile.reader]\ninclude = [\"read_file\"]"),
    );
    wait("/p/reader/", 200);
    assert_eq!(server.json("/p/reader/readyz?verbose")["tools"], 1);
    fixture::write(folder.path(), "toolcrib.toml", &before);
    wait("/p/reader/", 404);
    assert_eq!(status("/p/creator/"), 200);
}
