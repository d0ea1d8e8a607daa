//! The SDK's own client: both revisions, over stdio and over HTTP, get the same answers.

use std::borrow::Cow;

use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, CallToolResult, CompleteRequestParams, ErrorCode, ProtocolVersion,
    Reference,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

use super::{live, run, served};
use crate::fixture;

type Client = RunningService<RoleClient, ()>;

/// Each way to connect: a name, and a client of the catalog of GitHub's tools.
async fn clients() -> Vec<(&'static str, Client)> {
    let catalog = fixture::package().join("examples/github");
    let address = served(live(&catalog)).await;
    let modes = [
        ("2025-11-25", ClientLifecycleMode::Initialize),
        (
            "2026-07-28",
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        ),
    ];
    let mut clients = Vec::new();
    for (name, mode) in modes {
        let http = StreamableHttpClientTransport::from_uri(address.clone());
        clients.push((name, ().serve_with_lifecycle(http, mode.clone()).await.unwrap()));
        let program = fixture::program(&["serve", "--stdio", fixture::text(&catalog)]);
        let stdio = TokioChildProcess::new(tokio::process::Command::from(program)).unwrap();
        clients.push((name, ().serve_with_lifecycle(stdio, mode).await.unwrap()));
    }
    clients
}

async fn call(client: &Client, arguments: Value) -> CallToolResult {
    let request =
        CallToolRequestParams::new("read_tool_doc").with_arguments(arguments.as_object().unwrap().clone());
    client.call_tool(request).await.unwrap()
}

#[test]
fn every_way_to_connect_gets_the_same_answers() {
    run(async {
        let mut seen: Vec<Value> = Vec::new();
        for (name, client) in clients().await {
            let info = client.peer_info().unwrap();
            assert_eq!(info.protocol_version.as_str(), name);
            let tools = client.list_all_tools().await.unwrap();
            let first = call(&client, json!({"names": ["create_issue"]})).await;
            let lacking = call(&client, json!({"names": ["creat_issue"]})).await;
            let listed = client.list_all_resources().await.unwrap();
            let templates = client.list_all_resource_templates().await.unwrap();
            // A doc is sent once, as markdown.
            assert!(first.structured_content.is_none());
            assert_eq!((first.is_error, lacking.is_error), (Some(false), Some(true)));
            let answer = json!([info.instructions, tools, first.content, lacking.content, listed, templates]);
            assert!(seen.iter().all(|other| *other == answer), "{name}");
            seen.push(answer);
        }
        assert_eq!(seen.len(), 4);
    });
}

#[test]
fn the_tools_are_our_functions_with_their_whole_schemas() {
    run(async move {
        let (_, client) = clients().await.remove(0);
        let tools = serde_json::to_value(client.list_all_tools().await.unwrap()).unwrap();
        let definition = toolcrib::catalog::functions().named("tool_search").unwrap();
        assert_eq!(tools[0]["name"], "tool_search");
        assert_eq!(&tools[0]["inputSchema"], definition.input.parameters.schema());
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    });
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    run(async {
        for (name, client) in clients().await {
            match client.call_tool(CallToolRequestParams::new(Cow::Borrowed("nothing"))).await {
                Err(ServiceError::McpError(problem)) => {
                    assert_eq!(problem.code, ErrorCode::INVALID_PARAMS, "{name}")
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    });
}

#[test]
fn names_are_completed() {
    run(async {
        for (_, client) in clients().await {
            let of = Reference::for_resource("toolcrib://tools/{name}.md");
            let typed = ArgumentInfo::new("name", "Create_");
            let found = client.complete(CompleteRequestParams::new(of, typed)).await.unwrap().completion;
            assert!(found.values.contains(&"create_issue".to_string()) && found.has_more == Some(false));
        }
    });
}
