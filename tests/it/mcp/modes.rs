//! The catalog's own tools over MCP: what is listed in each mode, and calls by name.

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

use super::run;
use crate::fixture;
use crate::serve::Server;

const CONFIG: &str = r#"
[profile.agent]
include = ["*"]
full = ["greet"]

[exec]
allow = "read"
"#;

/// Tools that something here runs.
fn tools() -> String {
    let text = json!({"type": "object", "properties": {"name": {"type": "string", "description": "Whom to greet"}}, "required": ["name"]});
    json!([
        {"name": "greet", "op": "people.greet", "description": "Greets somebody, at length.", "short_description": "Greets somebody", "effect": "read",
         "parameters": text, "backend": {"type": "static", "content": {"greeting": "hello"}}},
        {"name": "farewell", "op": "people.farewell", "aliases": ["bye"], "description": "Says farewell, at length.", "short_description": "Says farewell", "effect": "read",
         "parameters": text, "result_schema": {"type": "object"}, "backend": {"type": "static", "content": "good bye"}},
        {"name": "remove", "op": "people.remove", "description": "Removes somebody.", "effect": "destructive",
         "parameters": text, "backend": {"type": "static", "content": "gone"}},
        {"name": "tool_help", "op": "desk.help", "description": "The help desk of this catalog.", "effect": "read",
         "parameters": {"type": "object"}, "backend": {"type": "static", "content": "desk"}},
    ])
    .to_string()
}

type Client = RunningService<RoleClient, ()>;

/// A client on each revision, over HTTP and over stdio.
async fn clients(catalog: &str, server: &Server, flags: &[&str]) -> Vec<Client> {
    let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let mut clients = Vec::new();
    for mode in [ClientLifecycleMode::Initialize, newer] {
        let http = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
        clients.push(().serve_with_lifecycle(http, mode.clone()).await.unwrap());
        let program = fixture::program(&[&["serve", "--stdio", catalog], flags].concat());
        let stdio = TokioChildProcess::new(tokio::process::Command::from(program)).unwrap();
        clients.push(().serve_with_lifecycle(stdio, mode).await.unwrap());
    }
    clients
}

/// Runs a test with clients of the catalog that is served with these flags.
fn with(flags: &'static [&'static str], test: impl AsyncFn(&Client)) {
    crate::serve::client();
    let folder = fixture::folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let catalog = fixture::text(folder.path()).to_string();
    let server = Server::start(&catalog, flags, &[]);
    run(async {
        for client in clients(&catalog, &server, flags).await {
            test(&client).await;
            let _ = client.cancel().await;
        }
    });
}

async fn listed(client: &Client) -> Vec<Value> {
    let tools = client.list_all_tools().await.unwrap();
    tools.iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn call(client: &Client, name: &'static str, arguments: Value) -> Value {
    let call = CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
    serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap()
}

#[test]
fn the_gateway_lists_four_functions_and_runs_tools_by_name() {
    with(&["--mode", "gateway"], async |client| {
        let tools = listed(client).await;
        assert_eq!(names(&tools), ["tool_search", "tool_help", "tool_exec", "tool_batch"]);
        assert_eq!(tools[1]["annotations"]["readOnlyHint"], true);
        assert_eq!(
            (&tools[2]["annotations"]["readOnlyHint"], &tools[2]["annotations"]["destructiveHint"]),
            (&json!(false), &json!(true))
        );
        for name in ["greet", "people.greet"] {
            let result = call(client, name, json!({"name": "Ada"})).await;
            assert_eq!(result["structuredContent"], json!({"greeting": "hello"}), "{result}");
            assert_eq!(result["content"][0]["text"], r#"{"greeting":"hello"}"#);
        }
        let result = call(client, "bye", json!({"name": "Ada"})).await;
        assert_eq!(
            (&result["content"][0]["text"], result.get("structuredContent")),
            (&json!("good bye"), None),
            "{result}"
        );
        // Our function keeps its name here.
        let result = call(client, "tool_help", json!({"path": "desk.help"})).await;
        assert_eq!(result["structuredContent"]["op"], "desk.help", "{result}");
        let doc = call(client, "read_tool_doc", json!({"name": "greet"})).await;
        assert_eq!(doc["isError"], false);
    });
}

#[test]
fn a_call_by_name_meets_the_same_checks() {
    with(&["--mode", "full"], async |client| {
        let result = call(client, "greet", json!({})).await;
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["error"]["code"]),
            (&json!(true), &json!("VALIDATION_ERROR")),
            "{result}"
        );
        assert_eq!(result["structuredContent"]["error"]["help_path"], "people.greet");
        let result = call(client, "remove", json!({"name": "Ada"})).await;
        assert_eq!(result["structuredContent"]["error"]["code"], "PERMISSION_DENIED", "{result}");
    });
}

#[test]
fn what_writes_is_a_function_of_its_own_where_that_is_wanted() {
    with(&["--split-exec"], async |client| {
        let tools = listed(client).await;
        assert_eq!(names(&tools), ["tool_search", "tool_help", "tool_exec_read", "tool_exec_write"]);
        assert_eq!(tools[2]["annotations"]["readOnlyHint"], true);
        assert_eq!(
            (&tools[3]["annotations"]["readOnlyHint"], &tools[3]["annotations"]["destructiveHint"]),
            (&json!(false), &json!(true))
        );
        let result =
            call(client, "tool_exec_read", json!({"op": "people.greet", "args": {"name": "Ada"}})).await;
        assert_eq!(result["isError"], false, "{result}");
    });
}

#[test]
fn the_full_mode_lists_the_catalog_whole() {
    with(&["--mode", "full"], async |client| {
        let tools = listed(client).await;
        assert_eq!(names(&tools), ["greet", "farewell", "remove", "tool_help"]);
        assert_eq!(tools[1]["description"], "Says farewell, at length.");
        assert!(tools[1]["inputSchema"]["properties"]["name"]["description"].is_string());
        assert_eq!(listed(client).await, tools);
        let result = call(client, "tool_help", json!({})).await;
        assert_eq!(result["content"][0]["text"], "desk", "a tool that is listed keeps its name");
    });
}

#[test]
fn the_hybrid_mode_lists_deferred_tools_in_short() {
    with(&["--mode", "hybrid", "--profile", "agent"], async |client| {
        let tools = listed(client).await;
        assert_eq!(
            names(&tools),
            ["read_tool_doc", "tool_search", "greet", "farewell", "remove", "tool_help"]
        );
        assert_eq!(tools[2]["description"], "Greets somebody, at length.");
        assert!(tools[3]["description"].as_str().unwrap().starts_with("Says farewell."), "{}", tools[3]);
        assert!(tools[3]["inputSchema"].get("properties").is_none(), "{}", tools[3]);
        let result = call(client, "farewell", json!({"name": "Ada"})).await;
        assert_eq!(result["content"][0]["text"], "good bye");
    });
}

#[test]
fn the_gateway_lists_full_tools_beside_the_functions() {
    with(&["--mode", "gateway", "--profile", "agent"], async |client| {
        let tools = listed(client).await;
        assert_eq!(names(&tools), ["tool_search", "tool_help", "tool_exec", "tool_batch", "greet"]);
        assert_eq!(tools[4]["description"], "Greets somebody, at length.");
        let result = call(client, "greet", json!({"name": "Ada"})).await;
        assert_eq!(
            result["structuredContent"],
            json!({"greeting": "hello"}),
            "as in the mode full: {result}"
        );
        let result =
            call(client, "tool_exec", json!({"op": "people.farewell", "args": {"name": "Ada"}})).await;
        assert_eq!(result["content"][0]["text"], "good bye", "{result}");
    });
    with(&["--mode", "gateway"], async |client| {
        let tools = listed(client).await;
        assert_eq!(names(&tools), ["tool_search", "tool_help", "tool_exec", "tool_batch"], "no tool is full");
    });
}

#[test]
fn long_lists_come_in_pages() {
    crate::serve::client();
    let folder = super::many(450);
    let catalog = fixture::text(folder.path()).to_string();
    let flags = ["--mode", "full"];
    let server = Server::start(&catalog, &flags, &[]);
    run(async {
        for client in clients(&catalog, &server, &flags).await {
            let first = client.list_tools(None).await.unwrap();
            assert_eq!((first.tools.len(), first.next_cursor.is_some()), (200, true));
            let all = listed(&client).await;
            let names = names(&all);
            assert_eq!(names.len(), 450);
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
            let _ = client.cancel().await;
        }
    });
}

#[test]
fn http_runs_tools_by_name_and_lists_them_where_they_are_shown() {
    let folder = fixture::folder(&[("tools.json", &tools()), ("toolcrib.toml", CONFIG)]);
    let catalog = fixture::text(folder.path()).to_string();
    let gateway = Server::start(&catalog, &["--mode", "gateway"], &[]);
    assert!(gateway.json("/v1").get("tools").is_none());
    let full = Server::start(&catalog, &["--mode", "full"], &[]);
    let listed = full.json("/v1");
    assert_eq!(listed["tools"][0]["name"], "greet");
    assert!(listed["tools"][0]["input_schema"]["properties"]["name"].is_object());
    for server in [&gateway, &full] {
        for name in ["greet", "people.greet", "people%2Egreet"] {
            let answer: Value = server.post(&format!("tools/{name}"), r#"{"name": "Ada"}"#).json().unwrap();
            assert_eq!(
                (&answer["op"], &answer["result"]),
                (&json!("people.greet"), &json!({"greeting": "hello"})),
                "{answer}"
            );
        }
        let refused = server.post("tools/greet", "{}");
        assert_eq!(refused.status(), 400);
        assert_eq!(server.post("tools/nobody", "{}").status(), 404);
    }
}

/// Without a mode, a server decides at its start: some tools as they are, many behind the gateway, or behind it beside
/// the full ones. The tools of a profile count for its own clients, and a reload changes nothing.
#[test]
fn the_mode_of_a_list_is_decided_at_the_start() {
    let config = "[profile.small]\ninclude = [\"tool_00000\", \"tool_00001\"]\n[profile.some]\nfull = [\"tool_00003\"]\n";
    let folder = super::many(300);
    fixture::write(folder.path(), "toolcrib.toml", config);
    let catalog = fixture::text(folder.path()).to_string();
    crate::serve::client();
    let server = Server::start(&catalog, &[], &[]);
    let functions = ["tool_search", "tool_help", "tool_exec", "tool_batch"];
    let listed = |path: &str| {
        let uri = server.url(path);
        let mut names = Vec::new();
        run(async {
            let transport = StreamableHttpClientTransport::from_uri(uri);
            let client = ().serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap();
            names = client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
            let _ = client.cancel().await;
        });
        names
    };
    let of_profiles = || [listed("/mcp"), listed("/p/small/mcp"), listed("/p/some/mcp")];
    let before = of_profiles();
    assert_eq!(before[0], functions);
    assert_eq!(before[1], ["tool_00000", "tool_00001"]);
    assert_eq!(before[2], [&functions[..], &["tool_00003"]].concat());
    let log = server.log.lock().unwrap().clone();
    for told in ["the mode is gateway (auto): a task takes about", "the mode is full", "profile=\"some\""] {
        assert!(log.contains(told), "{log}");
    }

    fixture::write(folder.path(), "toolcrib.toml", "");
    fixture::write(folder.path(), "tools.json", &tools());
    while server.get("/tools/greet.md", &[]).status() != 200 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(listed("/mcp"), functions);
}
