//! A request sees one generation of the catalog, also when another comes while it is on its way.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib::server::LiveCatalog;
use toolcrib::server::live::ServeOptions;

use crate::fixture;
use crate::mcp::templates;
use crate::panics::serve;
use crate::serve::client;

/// A catalog in which the name `find` means a tool that answers with this.
fn catalog(name: &str) -> tempfile::TempDir {
    let tools = json!([{
        "name": name, "op": format!("x.{name}"), "aliases": ["find"], "description": "Finds.", "effect": "read",
        "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": name},
    }]);
    fixture::folder(&[("tools.json", &tools.to_string())])
}

/// Sends a request of which the end comes after the catalog has changed; the JSON of the answer.
fn across_a_reload(path: &str, body: &Value) -> Value {
    client();
    let (before, after) = (catalog("before"), catalog("after"));
    let live = LiveCatalog::new(fixture::open(before.path()), ServeOptions::default(), templates()).unwrap();
    let live = Arc::new(live);
    let (address, _runtime) = serve(&live, 100);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\nexpect: 100-continue\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    // The server asks for the body once it has begun with the request.
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    live.replace(fixture::open(after.path()), false, &templates());
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    // The length of a chunk may stand around it.
    let json = body.find('{').zip(body.rfind('}')).map(|(begin, end)| &body[begin..=end]);
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_call_by_name_is_resolved_and_run_on_the_generation_that_it_came_to() {
    let answer = across_a_reload("/v1/tools/find", &json!({}));
    assert_eq!((&answer["op"], &answer["result"]), (&json!("x.before"), &json!("before")), "{answer}");
    let call = json!({"op": "find", "args": {}});
    assert_eq!(across_a_reload("/v1/tool_exec", &call)["result"], "before");
    for (name, arguments) in [("find", json!({})), ("tool_exec", call)] {
        let params = json!({"name": name, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = across_a_reload("/mcp", &call);
        assert!(answer["result"]["content"].to_string().contains("before"), "{answer}");
    }
}
