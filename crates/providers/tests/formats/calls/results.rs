//! Results out: the messages of each provider.

use serde_json::{Value, json};
use toolcrib_catalog::config::Mode;
use toolcrib_providers::call::Parser;
use toolcrib_providers::{PayloadRequest, Provider, ToolResult};

use super::{chat, checked};

/// A result, an error and a text, as the answers to one turn.
fn three() -> Vec<ToolResult> {
    let reply = |id: &str, name: &str, result: Value| ToolResult {
        call_id: Some(id.into()),
        name: name.into(),
        ..ToolResult::of(result)
    };
    vec![
        reply(
            "c1",
            "files_read",
            json!({"op": "onto.file.read", "ok": true, "result": {"lines": 2}, "meta": {}}),
        ),
        reply("c2", "ping", json!({"op": "ping", "ok": false, "error": {"code": "INTERNAL"}, "meta": {}})),
        reply("c3", "ping", json!("pong")),
    ]
}

#[track_caller]
fn check(provider: Provider, expected: Value) {
    assert_eq!(toolcrib_providers::result_messages(provider, &three()), expected);
}

#[test]
fn the_messages_of_each_wire() {
    let (lines, error) = ("{\"lines\":2}", "{\"code\":\"INTERNAL\"}");
    let tool = |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    check(Provider::OpenAi, json!([tool("c1", lines), tool("c2", error), tool("c3", "pong")]));
    check(Provider::Cohere, json!([tool("c1", lines), tool("c2", error), tool("c3", "pong")]));
    let output =
        |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    check(Provider::OpenAiResponses, json!([output("c1", lines), output("c2", error), output("c3", "pong")]));
    check(
        Provider::Anthropic,
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": lines},
            {"type": "tool_result", "tool_use_id": "c2", "content": error, "is_error": true},
            {"type": "tool_result", "tool_use_id": "c3", "content": "pong"},
        ]}),
    );
    check(
        Provider::Gemini,
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "files_read", "response": {"output": {"lines": 2}}}},
            {"functionResponse": {"id": "c2", "name": "ping", "response": {"error": {"code": "INTERNAL"}}}},
            {"functionResponse": {"id": "c3", "name": "ping", "response": {"output": "pong"}}},
        ]}),
    );
    let result = |id: &str, name: &str, text: &str, is_error: bool| json!({"type": "function_result", "call_id": id, "name": name, "result": text, "is_error": is_error});
    let results = [
        result("c1", "files_read", lines, false),
        result("c2", "ping", error, true),
        result("c3", "ping", "pong", false),
    ];
    check(Provider::GeminiInteractions, json!(results));
    check(
        Provider::Bedrock,
        json!({"role": "user", "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"json": {"lines": 2}}], "status": "success"}},
            {"toolResult": {"toolUseId": "c2", "content": [{"json": {"code": "INTERNAL"}}], "status": "error"}},
            {"toolResult": {"toolUseId": "c3", "content": [{"text": "pong"}], "status": "success"}},
        ]}),
    );
    let named = |name: &str, content: &str| json!({"role": "tool", "tool_name": name, "content": content});
    check(Provider::Ollama, json!([named("files_read", lines), named("ping", error), named("ping", "pong")]));
    let message = |id: &str, name: &str, content: &str, status: &str| json!({"type": "tool", "content": content, "tool_call_id": id, "name": name, "status": status});
    check(
        Provider::LangChain,
        json!([
            message("c1", "files_read", lines, "success"),
            message("c2", "ping", error, "error"),
            message("c3", "ping", "pong", "success")
        ]),
    );
    let answer = |id: &str, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    check(
        Provider::Mcp,
        json!([
            answer(
                "c1",
                json!({"resultType": "complete", "content": text(lines), "structuredContent": {"lines": 2}, "isError": false})
            ),
            answer("c2", json!({"resultType": "complete", "content": text(error), "isError": true})),
            answer("c3", json!({"resultType": "complete", "content": text("pong"), "isError": false})),
        ]),
    );
}

#[test]
fn ids_as_each_wire_wants_them() {
    let reply = |id: Option<&str>| ToolResult {
        call_id: id.map(str::to_string),
        name: "ping".into(),
        ..ToolResult::of(json!("pong"))
    };
    let mistral = |id: Option<&str>| {
        toolcrib_providers::result_messages(Provider::Mistral, &[reply(id)])[0]["tool_call_id"].take()
    };
    assert_eq!(mistral(Some("D681PevKs")), "D681PevKs");
    assert_eq!(mistral(None), Value::Null);
    let foreign = mistral(Some("call_abc"));
    assert!(
        foreign
            .as_str()
            .is_some_and(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    );
    assert_eq!((mistral(Some("call_abc")), mistral(Some("call_abd")) == foreign), (foreign, false));
    let mcp = |id: Option<&str>| toolcrib_providers::result_messages(Provider::Mcp, &[reply(id)]);
    assert_eq!(mcp(Some("7"))["id"], json!(7));
    assert_eq!(mcp(Some("\"7\""))["id"], json!("7"));
    assert_eq!(mcp(Some("a"))["id"], json!("a"));
    assert_eq!(mcp(None)["content"][0]["text"], "pong");
    assert_eq!(
        toolcrib_providers::result_messages(Provider::OpenAi, &[reply(None)])[0],
        json!({"role": "function", "name": "ping", "content": "pong"})
    );
    let gemini = toolcrib_providers::result_messages(Provider::Gemini, &[reply(None)]);
    assert_eq!(
        gemini["parts"][0],
        json!({"functionResponse": {"name": "ping", "response": {"output": "pong"}}})
    );
}

#[test]
fn found_tools_go_back_as_each_wire_loads_them() {
    let catalog = &checked().catalog;
    let profile = catalog.profile(None).unwrap();
    let replies = |provider: Provider, names: &[&str]| {
        let (mode, options) = (Mode::Native, catalog.config.payload);
        let payload = toolcrib_providers::payload(PayloadRequest {
            catalog,
            profile: &profile,
            provider,
            mode,
            options,
        })
        .unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let reply = ToolResult {
            call_id: Some("s1".into()),
            name: "tool_search".into(),
            search: true,
            ..ToolResult::of(json!("nothing fits"))
        };
        toolcrib_providers::result_messages(provider, &[reply.with_found_tools(provider, &payload, &names)])
    };
    let anthropic = replies(Provider::Anthropic, &["files.read", "ping", "nope"]);
    assert_eq!(
        anthropic["content"][0]["content"],
        json!([
            {"type": "tool_reference", "tool_name": "files_read"}, {"type": "tool_reference", "tool_name": "ping"}
        ])
    );
    assert_eq!(replies(Provider::Anthropic, &[])["content"][0]["content"], "nothing fits");
    let responses = replies(Provider::OpenAiResponses, &["files.read"]);
    assert_eq!(
        (&responses[0]["type"], &responses[0]["call_id"], &responses[0]["execution"]),
        (&json!("tool_search_output"), &json!("s1"), &json!("client"))
    );
    assert_eq!(
        (&responses[0]["tools"][0]["name"], &responses[0]["tools"][0]["type"]),
        (&json!("files_read"), &json!("function"))
    );
    assert!(responses[0]["tools"][0]["parameters"]["properties"]["path"].is_object());
    let interactions = replies(Provider::GeminiInteractions, &["files.read"]);
    assert_eq!(
        (&interactions[0]["type"], &interactions[0]["result"][0]["name"]),
        (&json!("tool_search_result"), &json!("files_read"))
    );
    assert_eq!(replies(Provider::OpenAi, &["ping"])[0]["content"], "nothing fits");
}

#[test]
fn a_reply_to_an_entry_has_its_id_and_its_name() {
    let parser = Parser::new(&checked().catalog, Provider::OpenAi);
    let entry = parser.parse(&chat("onto.file.read", json!({"path": "a"}))).unwrap().remove(0);
    let reply =
        ToolResult::to(&parser, &entry, Some(json!({"op": "onto.file.read", "ok": true, "result": "text"})));
    assert_eq!(
        (reply.call_id.as_deref(), reply.name.as_str(), &reply.content),
        (Some("call_1"), "files_read", &json!("text"))
    );
    let wrong = parser.parse(&chat("files_read", json!({}))).unwrap().remove(0);
    let reply = ToolResult::to(&parser, &wrong, None);
    assert!(reply.is_error);
    assert_eq!(reply.content["code"], "schema");
}
