//! Traces and metrics, sent to a small OTLP receiver: one trace from the call of an agent to the request of a backend.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::fixture::{folder, text};
use crate::serve::Server;

/// The head and the body of a request.
type Request = (String, Vec<u8>);

/// A server that keeps what it gets, and answers with an empty JSON object.
struct Receiver {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<_>>> = Arc::default();
        let own = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                std::thread::spawn(move || {
                    while let Some(request) = answer(&stream) {
                        own.lock().unwrap().push(request);
                    }
                });
            }
        });
        Self { address, requests }
    }

    /// The heads and bodies of requests for a path.
    fn received(&self, path: &str) -> Vec<Request> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|(head, _)| head.contains(path)).cloned().collect()
    }
}

/// Reads one request, and answers it.
fn answer(mut stream: &TcpStream) -> Option<Request> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(answer.as_bytes()).ok()?;
    Some((head, body))
}

/// The fields of a message of Protocol Buffers that have a length: number and content.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let mut number = || {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        let key = number();
        match key & 7 {
            0 => drop(number()),
            1 => bytes = &bytes[8..],
            5 => bytes = &bytes[4..],
            _ => {
                let length = number() as usize;
                found.push((key >> 3, bytes[..length].to_vec()));
                bytes = &bytes[length..];
            }
        }
    }
    found
}

fn inside(bytes: &[u8], number: u64) -> Vec<Vec<u8>> {
    fields(bytes).into_iter().filter(|(own, _)| *own == number).map(|(_, content)| content).collect()
}

#[derive(Debug)]
struct Span {
    name: String,
    trace: String,
    id: String,
    parent: String,
    attributes: String,
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let bodies = receiver.received("/v1/traces").into_iter().map(|(_, body)| body);
    let of_resources = bodies.flat_map(|body| inside(&body, 1));
    let of_scopes = of_resources.flat_map(|resource| inside(&resource, 2));
    let spans = of_scopes.flat_map(|scope| inside(&scope, 2));
    spans
        .map(|span| {
            let one = |number| inside(&span, number).pop().unwrap_or_default();
            let attributes = inside(&span, 9).concat();
            Span {
                name: String::from_utf8(one(5)).unwrap(),
                trace: hex(&one(1)),
                id: hex(&one(2)),
                parent: hex(&one(4)),
                attributes: String::from_utf8_lossy(&attributes).into_owned(),
            }
        })
        .collect()
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[test]
fn one_trace_leads_from_the_call_of_an_agent_to_the_request_of_a_backend() {
    let (receiver, backend) = (Receiver::start(), Receiver::start());
    let telemetry = format!("[telemetry]\notlp = \"{}\"\n", receiver.address);
    let tools = json!([{
        "name": "get_thing", "op": "shop.thing.get", "effect": "read", "description": "Get a thing.",
        "parameters": {"type": "object", "properties": {}},
        "backend": {"type": "http", "server": "shop", "method": "GET", "path": "/thing"},
    }]);
    let config = format!("{telemetry}[server.shop]\nurl = \"{}\"\n", backend.address);
    let upstream = folder(&[("tools.json", &tools.to_string()), ("toolcrib.toml", &config)]);
    let mut upstream_server = Server::process(text(upstream.path()), &["--mode", "full"], &[]);
    let config = format!(
        "{telemetry}[exec.trust_hints]\nshop = \"always\"\n[[source]]\nserver = \"shop\"\nmcp = {{ url = \"{}\" }}\n",
        upstream_server.url("/mcp")
    );
    let front = folder(&[("toolcrib.toml", &config)]);
    let mut server = Server::process(text(front.path()), &[], &[]);
    let call = server.posting("/v1/tool_exec", json!({"op": "get_thing", "args": {}}));
    let call = call.header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));
    let answer = call.send().unwrap().text().unwrap();
    assert!(answer.contains("\"ok\":true"), "{answer}");
    for server in [&mut server, &mut upstream_server] {
        server.terminate();
        assert_eq!(server.ended(Duration::from_secs(20)), Some(0));
    }
    let spans = spans(&receiver);
    let mut parent = "00f067aa0ba902b7".to_string();
    let chain = [
        "POST /v1/tool_exec", "execute_tool get_thing", "tools/call get_thing", "tools/call get_thing",
        "execute_tool get_thing", "GET",
    ];
    for name in chain {
        let span =
            spans.iter().find(|span| span.parent == parent).unwrap_or_else(|| panic!("{name}: {spans:#?}"));
        assert_eq!((span.name.as_str(), span.trace.as_str()), (name, TRACE), "{spans:#?}");
        parent.clone_from(&span.id);
        if name.starts_with("tools/call") {
            for attribute in ["mcp.method.name", "gen_ai.tool.name", "get_thing", "execute_tool"] {
                assert!(span.attributes.contains(attribute), "{}", span.attributes);
            }
        }
    }
    let (head, _) = backend.received("/thing").pop().unwrap();
    assert!(head.contains(&format!("traceparent: 00-{TRACE}-{parent}-01")), "{head}");
    let metrics = receiver.received("/v1/metrics").into_iter().flat_map(|(_, body)| body).collect::<Vec<_>>();
    let metrics = String::from_utf8_lossy(&metrics);
    for name in ["mcp.server.operation.duration", "mcp.client.operation.duration", "tools/list"] {
        assert!(metrics.contains(name), "{name}");
    }
}
