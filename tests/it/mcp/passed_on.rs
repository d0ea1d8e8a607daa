//! Results of MCP servers behind toolcrib: clients get them as if they were connected to the server itself.
#![cfg(unix)]

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::run;
use crate::backends::mcp_server::{PICTURE, over_http};
use crate::fixture;
use crate::serve::Server;

type Client = RunningService<RoleClient, ()>;

/// A catalog that is nothing but a live server, the server, and its address.
fn catalog(config: &str) -> (TempDir, String, Runtime) {
    crate::serve::client();
    let folder = fixture::folder(&[]);
    let (url, runtime) = over_http(&folder.path().join("notes"));
    let config = format!("[exec]\nallow = \"destructive\"\n{config}[[source]]\nmcp = {{ url = '{url}' }}\n");
    fixture::write(folder.path(), "toolcrib.toml", &config);
    (folder, url, runtime)
}

fn newer() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn over(url: String, mode: ClientLifecycleMode) -> Client {
    ().serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), mode).await.unwrap()
}

/// Runs a test with a client for each protocol version over each transport, and a client of the server itself.
fn with(mode: &str, test: impl AsyncFn(&Client, &Client)) {
    let (folder, upstream, _runtime) = catalog("");
    let path = fixture::text(folder.path());
    let server = Server::start(path, &["--mode", mode], &[]);
    run(async {
        for lifecycle in [ClientLifecycleMode::Initialize, newer()] {
            let direct = over(upstream.clone(), lifecycle.clone()).await;
            test(&over(server.url("/mcp"), lifecycle.clone()).await, &direct).await;
            let program = fixture::program(&["serve", "--stdio", "--mode", mode, path]);
            let stdio = TokioChildProcess::new(tokio::process::Command::from(program)).unwrap();
            test(&().serve_with_lifecycle(stdio, lifecycle).await.unwrap(), &direct).await;
        }
    });
}

async fn asked(client: &Client, name: &str, arguments: Value) -> Result<Value, ServiceError> {
    let call =
        CallToolRequestParams::new(name.to_string()).with_arguments(arguments.as_object().unwrap().clone());
    client.call_tool(call).await.map(|result| serde_json::to_value(result).unwrap())
}

async fn call(client: &Client, name: &str, arguments: Value) -> Value {
    asked(client, name, arguments).await.unwrap()
}

/// A result without our own metadata.
fn without_ours(mut result: Value) -> Value {
    let meta = result["_meta"].as_object_mut().unwrap();
    assert!(meta.contains_key("toolcrib/trace_id"));
    meta.retain(|name, _| !name.starts_with("toolcrib/"));
    if meta.is_empty() {
        result.as_object_mut().unwrap().shift_remove("_meta");
    }
    result
}

#[test]
fn a_tool_called_by_name_answers_exactly_what_its_server_answers() {
    for mode in ["full", "hybrid"] {
        with(mode, async |client, direct| {
            for name in [
                "echo", "text", "json", "texts", "image", "nothing", "fail", "large", "rich", "rich_fail",
                "half", "data_only", "promised",
            ] {
                let arguments = json!({ "a": [1, { "b": null }] });
                let mut wanted = call(direct, name, arguments.clone()).await;
                let forged = wanted.pointer_mut("/_meta").and_then(Value::as_object_mut);
                forged.into_iter().for_each(|meta| _ = meta.shift_remove("toolcrib/op"));
                let answered = call(client, name, arguments).await;
                assert_ne!(answered["_meta"]["toolcrib/op"], "forged", "{name}");
                assert_eq!(without_ours(answered), wanted, "{name}");
            }
            let wanted = asked(direct, "refuse", json!({})).await.unwrap_err();
            let refused = asked(client, "refuse", json!({})).await.unwrap_err();
            let (ServiceError::McpError(wanted), ServiceError::McpError(refused)) = (wanted, refused) else {
                panic!("no error of the protocol")
            };
            assert_eq!(refused, wanted);
        });
    }
}

#[test]
fn a_call_by_name_that_fails_again_and_again_is_answered_by_its_server_each_time() {
    with("full", async |client, direct| {
        let wanted = call(direct, "fail", json!({})).await;
        for _ in 0..6 {
            assert_eq!(without_ours(call(client, "fail", json!({})).await), wanted);
        }
    });
}

#[test]
fn a_long_result_of_a_tool_called_by_name_is_whole() {
    let (folder, upstream, _runtime) = catalog("result_bytes = 1000\n");
    let path = fixture::text(folder.path());
    let server = Server::start(path, &["--mode", "full"], &[]);
    run(async {
        let (direct, client) = (over(upstream, newer()).await, over(server.url("/mcp"), newer()).await);
        let wanted = call(&direct, "large", json!({})).await;
        assert_eq!(without_ours(call(&client, "large", json!({})).await), wanted);
        let cut = call(&client, "tool_exec", json!({ "op": "large", "args": {} })).await;
        assert!(cut["content"][1]["text"].as_str().unwrap().contains("read_result"), "{cut}");
    });
}

#[test]
fn on_the_gateway_blocks_stand_beside_the_envelope() {
    with("gateway", async |client, direct| {
        for name in ["text", "image", "rich", "echo"] {
            let wanted = call(direct, name, json!({})).await;
            let exec = call(client, "tool_exec", json!({ "op": name, "args": {} })).await;
            let mut content = wanted["content"].as_array().unwrap().clone();
            if name == "rich" {
                let data = r#"{"status":"see","picture":"[image/png, 8 bytes]"}"#;
                content.push(json!({ "type": "text", "text": data }));
            }
            assert_eq!(exec["content"], json!(content), "{name}");
            assert_eq!(exec.get("structuredContent"), wanted.get("structuredContent"), "{name}");
            let called = call(client, "call_tool", json!({ "tool_id": name, "arguments": {} })).await;
            assert_eq!(called["content"], json!(content), "{name}");
        }
        let wanted = call(direct, "rich_fail", json!({})).await;
        let failed = call(client, "tool_exec", json!({ "op": "rich_fail", "args": {} })).await;
        assert_eq!(failed["isError"], true);
        let text = failed["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("A chart, with [a list]") && !text.contains(PICTURE), "{text}");
        assert_eq!(failed["content"].as_array().unwrap()[1..], wanted["content"].as_array().unwrap()[1..]);
    });
}

#[test]
fn data_that_a_server_gives_beside_its_texts_is_in_the_text_and_in_the_data() {
    with("gateway", async |client, _| {
        for (op, blocks) in [("half", 2), ("data_only", 1), ("promised", 2)] {
            let exec = call(client, "tool_exec", json!({ "op": op, "args": {} })).await;
            assert_eq!(exec["content"].as_array().unwrap().len(), blocks, "{exec}");
            assert_eq!(exec["content"][blocks - 1]["text"], r#"{"trees":41}"#, "{exec}");
            assert_eq!(exec["structuredContent"], json!({ "trees": 41 }), "{exec}");
        }
        let corrected = json!({ "op": "promised", "args": { "Limit": "3" } });
        let exec = call(client, "tool_exec", corrected.clone()).await;
        let data = &exec["structuredContent"];
        assert_eq!(data["result"]["trees"], 41, "{exec}");
        assert!(!data["repaired"].is_null() || !data["meta"]["warnings"].is_null(), "{exec}");
        assert!(exec["content"][1]["text"].as_str().unwrap().contains(r#""trees":41"#), "{exec}");
        let batch = call(client, "tool_batch", json!({ "calls": [corrected, { "op": "data_only" }] })).await;
        for index in [0, 1] {
            assert!(batch["content"][index]["text"].as_str().unwrap().contains(r#""trees":41"#), "{batch}");
            assert_eq!(batch["structuredContent"]["results"][index]["result"]["trees"], 41, "{batch}");
        }
    });
}

#[test]
fn an_answer_of_our_own_fits_the_listed_output_schema_or_is_an_error_without_data() {
    let (folder, url, _runtime) = catalog("");
    let config = format!(
        "[exec]\nallow = \"destructive\"\n[[source]]\nmcp = {{ url = '{url}', headers = {{ X-Key = '${{TOKEN}}' }} }}\n"
    );
    fixture::write(folder.path(), "toolcrib.toml", &config);
    let server =
        Server::start(fixture::text(folder.path()), &["--mode", "full"], &[("TOKEN", "k3y-of-the-garden")]);
    run(async {
        for lifecycle in [ClientLifecycleMode::Initialize, newer()] {
            let client = over(server.url("/mcp"), lifecycle).await;
            let tools = client.list_all_tools().await.unwrap();
            assert!(tools.iter().any(|tool| tool.name == "promised" && tool.output_schema.is_some()));
            for arguments in [json!({ "limit": "many" }), json!({ "dry_run": true }), json!({ "limit": 3 })] {
                let failed = call(&client, "promised", arguments).await;
                assert_eq!(
                    (&failed["isError"], failed.get("structuredContent")),
                    (&json!(true), None),
                    "{failed}"
                );
                assert!(!failed["content"][0]["text"].as_str().unwrap().is_empty(), "{failed}");
            }
            for arguments in [json!({}), json!({ "idempotency_key": "k" }), json!({ "idempotency_key": "k" })]
            {
                let good = call(&client, "promised", arguments).await;
                assert_eq!(good["structuredContent"], json!({ "trees": 41 }), "{good}");
                assert_ne!(good["isError"], true, "{good}");
            }
        }
    });
}

#[test]
fn in_a_batch_blocks_follow_the_text_of_their_call() {
    with("gateway", async |client, direct| {
        let calls = json!([{ "op": "text", "args": {} }, { "op": "rich", "args": {} }]);
        let batch = call(client, "tool_batch", json!({ "calls": calls })).await;
        let blocks = batch["content"].as_array().unwrap();
        let wanted = call(direct, "rich", json!({})).await;
        assert!(blocks[1]["text"].as_str().unwrap().starts_with("[1]\n"), "{batch}");
        assert_eq!(blocks[2..], wanted["content"].as_array().unwrap()[1..]);
        let said = format!("{}{}", blocks[1], batch["structuredContent"]);
        assert!(said.contains("[image/png, 8 bytes]") && !said.contains(PICTURE), "{said}");
    });
}

#[test]
fn over_http_a_picture_is_a_link_with_type_and_size() {
    let (folder, _, _runtime) = catalog("");
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let answer: Value =
        server.post("tool_exec", json!({ "op": "rich", "args": {} }).to_string()).json().unwrap();
    assert!(!answer.to_string().contains(PICTURE), "{answer}");
    assert_eq!(answer["result"]["picture"], "[image/png, 8 bytes]");
    let blocks = answer["meta"]["blocks"].as_array().unwrap();
    let told: Vec<_> =
        blocks.iter().map(|block| (&block["type"], &block["mimeType"], &block["bytes"])).collect();
    let wanted = [("image", "image/png", 8), ("audio", "audio/wav", 4), ("resource", "application/pdf", 5)];
    assert_eq!(json!(told), json!(wanted));
    let link = |block: &Value| block["link"].as_str().unwrap().to_string();
    let response = server.get(&link(&blocks[0]), &[]);
    assert_eq!(
        (response.status().as_u16(), crate::serve::header(&response, "content-type")),
        (200, "image/png")
    );
    assert_eq!(response.bytes().unwrap(), b"\x89PNG\r\n\x1a\n"[..]);
    assert_eq!(server.get("/v1/results/bl_000000000000/blocks/1", &[]).status(), 404);
    assert_eq!(server.get(&link(&blocks[0]).replace("blocks/1", "blocks/0"), &[]).status(), 404);
    let batch = json!({ "calls": [{ "op": "text", "args": {} }, { "op": "rich", "args": {} }] });
    let batch: Value = server.post("tool_batch", batch.to_string()).json().unwrap();
    assert_eq!(
        server.get(&link(&batch["results"][1]["meta"]["blocks"][2]), &[]).bytes().unwrap(),
        b"%PDF-"[..]
    );
}

#[test]
fn on_the_command_line_a_picture_is_a_file_where_a_folder_is_given() {
    let (folder, _, _runtime) = catalog("");
    let (path, out) = (fixture::text(folder.path()), folder.path().join("out"));
    let exec = ["call", "tool_exec", r#"{"op": "rich", "args": {}}"#, path];
    let told = fixture::run(&exec);
    assert!(
        told.stdout.contains("[image/png, 8 bytes]") && !told.stdout.contains(PICTURE),
        "{}",
        told.stdout
    );
    for file in ["result-0-1", "result-0-1-2"] {
        let told = fixture::run(&[&exec[..], &["--output", fixture::text(&out)]].concat());
        let answer: Value = serde_json::from_str(&told.stdout).unwrap();
        let written = answer["meta"]["blocks"][0]["file"].as_str().unwrap();
        assert!(written.ends_with(file), "{written}");
        assert_eq!(std::fs::read(written).unwrap(), b"\x89PNG\r\n\x1a\n");
    }
}
