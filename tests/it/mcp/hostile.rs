//! Input that no honest client sends.

use serde_json::{Value, json};

use super::line_transport::{Process, meta};

/// Answers a ping after all of that.
fn assert_alive(process: &mut Process) {
    process.request(900, "ping", json!({}));
    assert_eq!(process.answer(900)["result"], json!({}));
}

#[test]
fn lines_that_are_no_messages_are_passed_over() {
    let mut process = Process::start("examples/github");
    for line in
        ["not json", "{", "\u{0}\u{1}", "", "\"text\"", "[]", "12", "null", "{}", "{\"jsonrpc\":\"1.0\"}"]
    {
        process.write(line);
    }
    process.write(&"[".repeat(100_000));
    process.write(&format!("{{\"a\":{}", "{\"a\":".repeat(50_000)));
    process.handshake();
    process.write(&"[".repeat(100_000));
    process.write("[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}]");
    assert_alive(&mut process);
}

#[test]
fn a_line_that_is_no_json_is_answered_without_an_id() {
    let mut process = Process::start("examples/github");
    process.write("garbage");
    for expects in ["before", "after"] {
        let answer = process.read();
        assert_eq!(answer["error"]["code"], -32700, "{expects} the handshake: {answer}");
        assert!(answer.get("id").is_none() && answer["jsonrpc"] == "2.0", "{answer}");
        if expects == "before" {
            process.handshake();
            process.write("{\"jsonrpc\": \"2.0\", ");
        }
    }
    assert_alive(&mut process);
}

#[test]
fn a_request_whose_parameters_are_a_list_is_answered_to_its_id() {
    let mut process = Process::start("examples/github");
    process.handshake();
    process.write(r#"{"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}"#);
    for (id, request, code) in [
        (5, r#"{"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": []}"#, -32602),
        (6, r#"{"jsonrpc": "2.0", "id": 6, "method": "nosuch", "params": "x"}"#, -32602),
        (7, r#"{"jsonrpc": "2.0", "id": 7, "method": 1}"#, -32600),
    ] {
        process.write(request);
        let answer = process.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(code)), "{answer}");
    }
    assert_alive(&mut process);
}

#[test]
fn a_request_that_is_no_json_is_answered_to_its_id() {
    let mut process = Process::start("examples/github");
    process.handshake();
    let server = crate::serve::Server::start("examples/github", &[], &[]);
    let post = |request: &str| -> Value {
        let asking =
            crate::serve::client().post(server.url("/mcp")).header("content-type", "application/json");
        let asking = asking.header("accept", "application/json, text/event-stream");
        asking.body(request.to_string()).send().unwrap().json().unwrap()
    };
    let deep = "[".repeat(200) + &"]".repeat(200);
    for value in [r#""ok \ud83d""#, "1e400", deep.as_str()] {
        let arguments = format!(r#"{{"op": "x", "args": {{"a": {value}}}}}"#);
        // Python's SDK writes the id last.
        let request = format!(
            r#"{{"method": "tools/call", "params": {{"name": "tool_exec", "arguments": {arguments}}}, "jsonrpc": "2.0", "id": 77}}"#
        );
        process.write(&request);
        let answers = [process.answer(77), post(&request)];
        for answer in answers {
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &json!(77)), "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("MALFORMED_JSON"), "{answer}");
        }
    }
    let long = "x".repeat(5 << 20);
    process
        .write(&format!(r#"{{"method": "ping", "params": {{"a": "{long}"}}, "jsonrpc": "2.0", "id": 78}}"#));
    assert_eq!(process.answer(78)["error"]["code"], -32600);
    assert_alive(&mut process);
}

#[test]
fn a_request_of_too_many_values_is_refused_as_too_large() {
    let mut process = Process::start("examples/github");
    process.handshake();
    let server = crate::serve::Server::start("examples/github", &[], &[]);
    let many = format!("[{}0]", "0,".repeat(510_000));
    let request = format!(
        r#"{{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {{"arguments": {many}}}}}"#
    );
    process.write(&request);
    let over_http = server.posting("/mcp", &request).header("accept", "application/json, text/event-stream");
    for answer in [process.answer(77), over_http.send().unwrap().json().unwrap()] {
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(77)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("CONTENT_TOO_LARGE"), "{answer}");
    }
    let body = server.post("tool_exec", format!(r#"{{"op": "x", "args": {many}}}"#));
    assert_eq!(body.status(), 413);
    assert_eq!(body.json::<Value>().unwrap()["error"]["code"], "CONTENT_TOO_LARGE");
    assert_alive(&mut process);
}

#[test]
fn nothing_but_a_handshake_begins_a_session() {
    let mut process = Process::start("examples/github");
    process.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    process
        .write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    process.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    process.request(2, "tools/list", json!({}));
    assert_eq!(process.answer(2)["error"]["code"], -32602);
    let mut future = meta();
    future["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    process.request(3, "tools/list", json!({"_meta": future}));
    assert_eq!(process.answer(3)["error"]["code"], -32022);
    process.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    process.handshake();
    process.handshake();
    assert_alive(&mut process);
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_a_hundred_megabytes_takes_no_memory() {
    let mut process = Process::start("examples/github");
    process.handshake();
    let chunk = "x".repeat(1 << 20);
    let mut pass_over = |megabytes| {
        process
            .write(&format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{}\"}}", chunk.repeat(megabytes)));
        assert_alive(&mut process);
        process.peak_kilobytes()
    };
    // The first line fills the buffers that every long line uses.
    let (before, after) = (pass_over(10), pass_over(100));
    assert!(after < before + 50_000, "{after} kB, {before} before");
}

#[test]
fn wrong_requests_are_answered_with_what_is_wrong() {
    let mut process = Process::start("examples/github");
    process.handshake();
    let code = |process: &mut Process, method: &str, params: Value| {
        process.request(10, method, params);
        let answer = process.answer(10);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}"))
    };
    assert_eq!(code(&mut process, "no/such", json!({})), -32601);
    assert_eq!(code(&mut process, "logging/setLevel", json!({"level": "debug"})), -32601);
    assert_eq!(code(&mut process, "tools/call", json!({"name": "nothing"})), -32602);
    assert_eq!(code(&mut process, "tools/call", json!({})), -32602);
    assert_eq!(code(&mut process, "tools/call", json!({"name": "read_tool_doc", "arguments": [1]})), -32602);
    assert_eq!(code(&mut process, "tools/list", json!({"cursor": "x"})), -32602);
    assert_eq!(code(&mut process, "resources/list", json!({"cursor": "no cursor"})), -32602);
    assert_eq!(code(&mut process, "resources/templates/list", json!({"cursor": "66"})), -32602);
    for uri in [
        "",
        "toolcrib://",
        "file:///etc/passwd",
        "toolcrib://tools/../../etc/passwd",
        "toolcrib://tools/\u{202e}x.md",
    ] {
        assert_eq!(code(&mut process, "resources/read", json!({"uri": uri})), -32002, "{uri}");
        assert_eq!(code(&mut process, "resources/subscribe", json!({"uri": uri})), -32002, "{uri}");
    }
    assert_alive(&mut process);
}

#[test]
fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let mut process = Process::start("examples/github");
    process.handshake();
    for arguments in [json!({}), json!({"names": ["creat_issue"]}), json!({"names": 5, "bogus": true})] {
        process.request(10, "tools/call", json!({"name": "read_tool_doc", "arguments": arguments}));
        let result = process.answer(10)["result"].take();
        assert_eq!(result["isError"], true, "{result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert!(text["error"]["next_action"].is_string());
    }
}

#[test]
fn a_cancelled_request_harms_nothing() {
    let mut process = Process::start("examples/github");
    process.handshake();
    for id in 100..400 {
        process.request(
            id,
            "tools/call",
            json!({"name": "read_tool_doc", "arguments": {"names": ["get_me"]}}),
        );
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        process.write(&cancelled.to_string());
    }
    process.write(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"never\"}}",
    );
    assert_alive(&mut process);
    assert_eq!(process.end().1, Some(0));
}
