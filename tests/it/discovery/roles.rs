//! Callers without a role: they learn nothing of hidden tools, and of visible ones that they exist. And the functions
//! that a list shows.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::service::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use super::{CONFIG, HIDDEN, TOOLS, catalog, texts};
use crate::fixture::{folder, program, run, text};
use crate::serve::{Server, client};

const TOKENS: &str = "\n[[serve.token]]\nenv = \"T_GUEST\"\nroles = [\"guest\"]\n\n\
                      [[serve.token]]\nenv = \"T_ADMIN\"\nroles = [\"admin\"]\n";
const GUEST: &str = "guest-token-0123456789";
const ADMIN: &str = "admin-token-0123456789";

fn guarded(hidden: bool) -> (Server, tempfile::TempDir) {
    let config = format!("{CONFIG}{TOKENS}");
    let mut files = vec![("tools.json", TOOLS), ("toolcrib.toml", config.as_str())];
    files.extend(hidden.then_some(("vault.json", HIDDEN)));
    let folder = folder(&files);
    let server = Server::start(text(folder.path()), &[], &[("T_GUEST", GUEST), ("T_ADMIN", ADMIN)]);
    (server, folder)
}

/// Status and body of an answer.
fn post(server: &Server, token: &str, function: &str, arguments: &Value) -> (u16, String) {
    let asking =
        client().post(server.url(&format!("/v1/{function}"))).header("content-type", "application/json");
    let asking = asking.header("authorization", format!("Bearer {token}"));
    let answer = asking.body(arguments.to_string()).send().unwrap();
    (answer.status().as_u16(), answer.text().unwrap())
}

/// Requests that could reveal the hidden tool.
fn requests() -> Vec<(&'static str, Value)> {
    let mut requests = vec![
        ("list", json!({})),
        ("list", json!({"path": ["Coding"]})),
        ("list", json!({"path": ["Coding", "Refactoring"], "limit": 50})),
        ("list", json!({"path": ["Vault"]})),
        ("list", json!({"path": ["Vault", "Secrets"]})),
        ("list", json!({"path": ["Valt"]})),
        ("list", json!({"path": ["vault"]})),
        ("list", json!({"tags": ["vault"]})),
        ("list", json!({"tags": ["refactor"]})),
        ("list", json!({"query": "read a secret from the vault", "limit": 50})),
        ("search_tool_by_category", json!({"query": "rename a symbol", "limit": 50})),
        ("search_tool_by_category", json!({"query": "secret", "category_path": ["Vault"]})),
        ("search_tool_by_category", json!({"query": "secret"})),
    ];
    for query in ["vault", "secrets", "read a secret", "rename symbol key", "read_vault", "vault.read"] {
        requests.push(("search_nodes", json!({"query": query})));
        requests.push(("tool_search", json!({"query": query, "limit": 50})));
    }
    for name in ["read_vault", "vault.read", "open_vault", "read_valt"] {
        requests.push(("expand_tool", json!({"tool_id": name})));
        requests.push(("call_tool", json!({"tool_id": name, "arguments": {"secret": "x"}})));
        requests.push(("call_tool", json!({"tool_id": name, "arguments": {"secret": 7}})));
        requests.push(("read_tool_doc", json!({"name": name})));
    }
    requests
}

#[test]
fn a_hidden_tool_answers_like_one_that_is_not_there() {
    let ((with, _one), (without, _other)) = (guarded(true), guarded(false));
    let mut differs = 0;
    for (function, arguments) in requests() {
        let hidden = post(&with, GUEST, function, &arguments);
        assert_eq!(hidden, post(&without, GUEST, function, &arguments), "{function} {arguments}");
        differs += usize::from(post(&with, ADMIN, function, &arguments) != hidden);
    }
    assert!(differs > 20, "the requests are about the tool: {differs}");
}

#[test]
fn a_visible_tool_that_is_forbidden_is_a_pointer_and_no_more() {
    let (server, _folder) = guarded(false);
    let (name, op) = ("refund_payment", "billing.refund");
    for (token, may) in [(GUEST, false), (ADMIN, true)] {
        let listed = post(&server, token, "list", &json!({"path": ["User", "Billing"]})).1;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(texts(&listed["tools"], "tool_id"), [op]);
        assert_eq!(listed["tools"][0].get("forbidden").is_some(), !may, "{listed}");
        let found = post(&server, token, "tool_search", &json!({"query": "pay money back"})).1;
        assert_eq!((found.contains(op), found.contains("forbidden")), (true, !may), "{found}");
        for (function, arguments) in [
            ("expand_tool", json!({"tool_id": op})),
            ("call_tool", json!({"tool_id": name, "arguments": {}})),
            ("call_tool", json!({"tool_id": op, "arguments": {"zanzibar_limit": "wrong"}})),
            ("read_tool_doc", json!({"name": name})),
        ] {
            let (status, text) = post(&server, token, function, &arguments);
            assert_eq!(status == 403, !may, "{function} {text}");
            assert_eq!(text.contains("NOT_AUTHORIZED"), !may, "{function} {text}");
        }
        let bearer = format!("Bearer {token}");
        let payloads = server.get(&format!("/payloads/{name}.json"), &[("authorization", bearer.as_str())]);
        assert_eq!(payloads.status(), if may { 200 } else { 403 });
        for form in ["", ".md", ".html"] {
            for accept in ["*/*", "text/html", "application/json"] {
                let headers = [("authorization", bearer.as_str()), ("accept", accept)];
                let page = server.get(&format!("/tools/{name}{form}"), &headers);
                assert_eq!(page.status(), if may { 200 } else { 403 }, "{form} {accept}");
                assert_eq!(page.text().unwrap().contains("anzibar"), may, "{form} {accept}");
            }
        }
        for path in ["/tools/README.md", "/registry.json", "/llms.txt", "/search-index.js", "/"] {
            let page = server.get(path, &[("authorization", &bearer)]).text().unwrap();
            assert!(page.contains(name) || path == "/", "{path}: {page}");
            assert!(may || !page.contains("anzibar"), "{path} reveals {name}: {page}");
        }
        let query = json!({"query": "zanzibar limit threshold"});
        let secret = post(&server, token, "tool_search", &query).1;
        assert_eq!(secret.contains("\"verdict\":\"match\""), may, "{secret}");
        assert_eq!(resource(&server, token, name), may);
    }
}

/// Whether the doc of a tool can be read as a resource.
fn resource(server: &Server, token: &str, name: &str) -> bool {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(server.url("/mcp")).auth_header(token);
    let address = format!("toolcrib://tools/{name}.md");
    let read = runtime.block_on(async {
        let client = ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap();
        let listed = client.list_all_resources().await.unwrap();
        assert!(listed.iter().any(|resource| resource.uri == address), "it is listed");
        let read = client.read_resource(ReadResourceRequestParams::new(address)).await;
        let _ = client.cancel().await;
        read
    });
    runtime.shutdown_background();
    match read {
        Ok(_) => true,
        Err(problem) => {
            assert!(problem.to_string().contains("may not use"), "{problem}");
            false
        }
    }
}

#[test]
fn the_command_line_shows_what_a_role_sees() {
    let catalog = folder(&[("tools.json", TOOLS), ("vault.json", HIDDEN)]);
    let call = |roles: &[&str]| {
        let asked = ["call", "expand_tool", "{\"tool_id\":\"vault.read\"}", text(catalog.path())];
        run(&[&asked, roles].concat())
    };
    assert_eq!((call(&[]).code, call(&["--role", "guest", "--role", "admin"]).code), (0, 0));
    let refused = call(&["--role", "guest"]);
    assert!(refused.code == 1 && refused.stdout.contains("TOOL_NOT_FOUND"), "{}", refused.stdout);
}

#[test]
fn the_configuration_says_which_functions_are_listed_and_all_can_be_called() {
    let gateway = vec!["tool_search", "tool_help", "tool_exec", "tool_batch"];
    let protocol = ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool"];
    let discovery = [vec!["read_tool_doc"], protocol.to_vec()].concat();
    let ours = [vec!["read_tool_doc"], gateway.clone(), vec!["read_result"]];
    let all = [ours.concat(), protocol.to_vec(), vec!["pick"]].concat();
    let plain = catalog();
    let configured = folder(&[("tools.json", TOOLS), ("toolcrib.toml", "serve.tool_list = \"discovery\"")]);
    let (plain, configured) = (text(plain.path()), text(configured.path()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (catalog, more, expected) in [
        (plain, vec!["--mode", "gateway"], gateway.clone()),
        (plain, vec!["--tool-list", "discovery"], discovery.clone()),
        (plain, vec!["--tool-list", "all"], all),
        (configured, vec![], discovery),
        (configured, vec!["--tool-list", "gateway"], gateway),
    ] {
        let program = program(&[vec!["serve", "--stdio", catalog], more].concat());
        runtime.block_on(async {
            let process =
                rmcp::transport::TokioChildProcess::new(tokio::process::Command::from(program)).unwrap();
            let client = ().serve(process).await.unwrap();
            for _ in 0..2 {
                let listed = client.list_all_tools().await.unwrap();
                let names: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
                assert_eq!(names, expected);
                for (function, arguments) in
                    [("list", json!({})), ("tool_search", json!({"query": "rename symbol"}))]
                {
                    let call = CallToolRequestParams::new(function)
                        .with_arguments(arguments.as_object().unwrap().clone());
                    assert_eq!(client.call_tool(call).await.unwrap().is_error, Some(false), "{function}");
                }
            }
            let _ = client.cancel().await;
        });
    }
    runtime.shutdown_background();
}
