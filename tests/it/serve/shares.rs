//! The law of scarce things: a caller who takes all that it can of each, and stops half way, keeps nobody else waiting.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::Server;

const TOKENS: [(&str, &str); 3] =
    [("AMY", "amyamyamyamyamyamy"), ("BOB", "bobbobbobbobbobbob"), ("ROOT", "rootrootrootrootroot")];

const AMY: (&str, &str) = ("authorization", "Bearer amyamyamyamyamyamy");
const BOB: (&str, &str) = ("authorization", "Bearer bobbobbobbobbobbob");
const ROOT: (&str, &str) = ("authorization", "Bearer rootrootrootrootroot");

fn server(hanging: &TcpListener) -> Server {
    let text = json!({"type": "string"});
    let lookahead = json!({"type": "string", "pattern": r"(?=.*[A-Z])(?=.*\d).{8,}"});
    let tool = |name: &str, argument: &serde_json::Value, more: serde_json::Value| {
        let mut tool = json!({
            "name": name, "description": "Gets it.", "effect": "read", "backend": {"type": "static", "content": 1},
            "parameters": {"type": "object", "properties": {"a": argument}},
        });
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool
    };
    let slow = json!({"backend": {"type": "http", "server": "slow", "method": "GET", "path": "/"}});
    let tools = json!([
        tool("get_fast", &text, json!({})),
        tool("get_slow", &text, slow),
        tool("get_costly", &lookahead, json!({})),
        tool("get_asked", &text, json!({"approval": true})),
    ]);
    let url = format!("http://{}", hanging.local_addr().unwrap());
    // Nothing that is held ends by itself while the test runs, however slow the machine is.
    let config = format!(
        "[serve.limits]\nclient_seconds = 3600\ncall_seconds = 3600\n[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n[server.slow]\nurl = \"{url}\"\n\
         [[serve.token]]\nenv = \"AMY\"\n[[serve.token]]\nenv = \"BOB\"\n[[serve.token]]\nenv = \"ROOT\"\nroles = [\"*\"]\n"
    );
    Server::of(&tools.to_string(), &config, &TOKENS)
}

/// Sends a request of which this many bytes of the body are missing, and reads no answer.
fn sent(server: &Server, path: &str, body: &str, missing: usize) -> TcpStream {
    let mut stream = server.connect();
    let length = body.len() + missing;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\n{}: {}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n",
        server.address, AMY.0, AMY.1
    );
    // The server may have refused it already.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    stream
}

/// Whether a request is still without an answer.
fn is_held(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    stream.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
#[ignore = "slow"]
fn who_takes_all_it_can_keeps_nobody_else_waiting() {
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = server(&hanging);
    let exec = |op: &str, a: &str| json!({"op": op, "args": {"a": a}}).to_string();
    // Rows.
    for number in 0..120 {
        let asked = server.posting("/v1/tool_exec", exec("get_asked", &number.to_string()));
        assert!(asked.header(AMY.0, AMY.1).send().unwrap().text().unwrap().contains("APPROVAL_REQUIRED"));
    }
    let asked =
        server.posting("/v1/tool_exec", exec("get_asked", "of bob")).header(BOB.0, BOB.1).send().unwrap();
    let asked: serde_json::Value = asked.json().unwrap();
    let of_bob = asked["error"]["details"]["approval"]["id"].as_str().unwrap();
    // Bytes of bodies, places of calls, and requests that stop half way.
    let long = "x".repeat(900_000);
    let mut held: Vec<TcpStream> = (0..90).map(|_| sent(&server, "/v1/tool_exec", &long, 9_000)).collect();
    held.extend((0..70).map(|_| sent(&server, "/v1/tool_exec", &exec("get_slow", ""), 0)));
    for path in ["/v1/tool_search", "/v1/tool_help", "/v1/payload", "/mcp"] {
        held.extend((0..20).map(|_| sent(&server, path, "{", 9_000)));
    }
    // Turns of arguments, and slow work.
    let is_over = AtomicBool::new(false);
    let calls: Vec<_> = (0..900)
        .map(|number| json!({"id": number.to_string(), "type": "function", "function": {"name": format!("get_m{number}"), "arguments": "{}"}}))
        .collect();
    let parsed = json!({"provider": "openai", "response": {"choices": [{"message": {"tool_calls": calls}}]}})
        .to_string();
    let costly = exec("get_costly", &"a".repeat(900_000));
    let is_over = &is_over;
    let server = &server;
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (path, body) =
                if number % 2 == 0 { ("/v1/tool_exec", &costly) } else { ("/v1/parse", &parsed) };
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = server.posting(path, body).header(AMY.0, AMY.1).send();
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let post = |path: &str, body: String| server.posting(path, body).header(BOB.0, BOB.1).send().unwrap();
        for _ in 0..4 {
            for answer in [
                post("/v1/tool_exec", exec("get_fast", &"b".repeat(200_000))),
                post("/v1/tool_search", json!({"query": "get"}).to_string()),
                post("/v1/tool_help", "{}".into()),
                post("/v1/payload", json!({"provider": "openai"}).to_string()),
                server.get("/tools/get_fast.html", &[BOB, ("accept", "text/html")]),
                server.get("/approvals.html", &[ROOT, ("accept", "text/html")]),
            ] {
                let address = answer.url().to_string();
                assert_eq!(answer.status(), 200, "{address}: {}", answer.text().unwrap());
            }
        }
        let page = server.get("/approvals.html", &[ROOT, ("accept", "text/html")]).text().unwrap();
        is_over.store(true, Ordering::Relaxed);
        // Others were answered while the first caller had its whole share, not after it.
        let (bodies, calls) = held.split_at_mut(90);
        let calls = &mut calls[..70];
        assert!(bodies.iter_mut().any(is_held) && calls.iter_mut().any(is_held));
        assert!(page.contains(of_bob) && page.contains("121 calls wait"), "{page}");
        assert!(page.contains("approvals.html?skip=100"), "{page}");
    });
    drop(held);
}
