//! Requests that are too many, too slow or too long do not take the server from others, and stopping loses nothing.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::{Server, TOOLS, client, rest};

const SHORT: &str = "[serve.limits]\nclient_seconds = 1\n";

/// Reads one answer with a body.
fn answer(stream: &mut std::net::TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        text.push(byte[0]);
    }
    let text = String::from_utf8(text).unwrap();
    let length =
        text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    format!("{text}{}", String::from_utf8(body).unwrap())
}

#[test]
fn a_client_that_is_slow_to_ask_is_let_go() {
    let server = Server::with(SHORT, &[]);
    let started = Instant::now();
    let mut silent = server.connect();
    let mut slow = server.connect();
    let mut idle = server.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert!(answer(&mut idle).starts_with("HTTP/1.1 200"));
    // A byte now and then does not buy more time.
    for byte in b"GET /healthz HTTP/1.1\r\n" {
        if slow.write_all(&[*byte]).is_err() || started.elapsed() > Duration::from_secs(5) {
            break;
        }
        std::thread::sleep(Duration::from_millis(150));
    }
    for stream in [&mut silent, &mut slow, &mut idle] {
        let left = rest(stream);
        assert!(!left.starts_with("HTTP/1.1 200"), "{left}");
    }
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let server = Server::with(SHORT, &[]);
    let started = Instant::now();
    let head = "POST /v1/read_tool_doc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let text = server.raw(head.as_bytes());
    assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("REQUEST_TIMEOUT"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn after_a_refusal_a_connection_answers_again_or_says_that_it_closes() {
    let server = Server::with("", &[]);
    // The body arrives after the answer is due, or not at all.
    for (length, body) in [(50, 50), (50, 5), (2_000_000, 0)] {
        let mut stream = server.connect();
        let head = format!("POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        stream.write_all(&vec![b' '; body]).unwrap();
        let refused = answer(&mut stream);
        assert!(refused.starts_with("HTTP/1.1 405"), "{refused}");
        if body == length {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            assert!(answer(&mut stream).starts_with("HTTP/1.1 200"));
        } else {
            assert!(refused.contains("connection: close"), "{refused}");
        }
    }
}

#[test]
fn requests_that_are_still_on_their_way_keep_nobody_waiting() {
    let server = Server::with("serve.limits.calls = 1", &[]);
    let unfinished = |path: &str, length: &str| {
        let mut stream = server.connect();
        let media = if path.starts_with("/v1") || path == "/mcp" {
            "application/json"
        } else {
            "application/x-www-form-urlencoded"
        };
        let head = format!("POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: {media}\r\n", server.address);
        let accept = "accept: application/json, text/event-stream\r\n";
        stream.write_all(format!("{head}{accept}{length}").as_bytes()).unwrap();
        stream
    };
    let paths = [
        "/v1/tool_exec", "/v1/tool_batch", "/v1/tool_search", "/v1/tools/list_items", "/v1/payload",
        "/v1/prompt", "/v1/parse", "/v1/results", "/v1/reload", "/mcp", "/tools/list_items.html", "/sign-in",
        "/sign-out", "/approvals/ap_1",
    ];
    let lengths = ["content-length: 9000\r\n\r\n{", "transfer-encoding: chunked\r\n\r\n5\r\n{"];
    let held: Vec<_> =
        paths.iter().flat_map(|path| [0, 1, 0, 1, 0].map(|form| unfinished(path, lengths[form]))).collect();
    std::thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    assert_eq!(server.post("tool_search", r#"{"query": "items"}"#).status(), 200);
    assert_eq!(server.post("payload", r#"{"provider": "openai"}"#).status(), 200);
    assert_eq!(server.get("/tools/list_items.html", &[("accept", "text/html")]).status(), 200);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    drop(held);
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let server = Server::with(SHORT, &[]);
    let mut greedy = server.connect();
    greedy.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let ask = "GET /tools/files_read.md HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    // More answers than any buffer on the way has room for, all unread.
    let mut asked = 0;
    while asked < 200_000 && greedy.write_all(ask.as_bytes()).is_ok() {
        asked += 100;
    }
    assert!(asked < 200_000, "the server never stopped reading");
    let started = Instant::now();
    while server.metric("toolcrib_http_connections") > 1 {
        assert!(started.elapsed() < Duration::from_secs(30), "the connection is still there");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let server = Server::with("", &[]);
    let many: String = (0..200).map(|index| format!("x-{index}: 1\r\n")).collect();
    let long = format!("x-long: {}\r\n", "a".repeat(100_000));
    for headers in [many, long] {
        let text = server.raw(format!("GET / HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").as_bytes());
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 431 "), "{text}");
    }
    for rubbish in
        ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}"]
    {
        let mut stream = server.connect();
        stream.write_all(rubbish.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let text = rest(&mut stream);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 400 "), "{text}");
    }
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
fn a_body_without_end_is_cut_off() {
    let server = Server::with("serve.limits.body_bytes = 2000", &[]);
    let mut stream = server.connect();
    let head = "POST /v1/read_tool_doc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("400\r\n{}\r\n", " ".repeat(1024));
    let sent = (0..10_000).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 10_000);
    assert_eq!(server.get("/healthz", &[]).status(), 200);
}

#[test]
fn with_too_many_connections_the_next_is_turned_away_and_told() {
    let server = Server::with("serve.limits.connections = 3", &[]);
    let mut held: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut held {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert!(answer(stream).starts_with("HTTP/1.1 200"));
    }
    let text = server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("OVERLOADED"), "{text}");
    held.clear();
    let started = Instant::now();
    while !server.raw(b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n").contains(" 200 ") {
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_call_counts_and_finds_room_in_the_same_way_over_either_transport() {
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = format!("serve.limits.calls = 1\nserver.b.url = 'http://{}'", backend.local_addr().unwrap());
    let slow = r#"[{"name": "get_slow", "description": "Waits.", "effect": "read",
        "parameters": {"type": "object"}, "backend": {"type": "http", "server": "b", "method": "GET", "path": "/"}},
        {"name": "get_now", "description": "Gets it.", "effect": "read", "parameters": {"type": "object"},
        "backend": {"type": "static", "content": 1}}, "#;
    let server = Server::of(&TOOLS.replacen('[', slow, 1), &config, &[]);
    let through_mcp = || {
        let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "tool_exec", "arguments": {"op": "get_now"}}});
        let asking = client().post(server.url("/mcp")).header("content-type", "application/json");
        let asking = asking.header("accept", "application/json, text/event-stream");
        let asking = asking.header("mcp-protocol-version", "2025-11-25").body(call.to_string());
        asking.send().unwrap().json::<serde_json::Value>().unwrap()["result"].take()
    };
    let count = |outcome: &str| {
        let line = format!("toolcrib_function_calls_total{{function=\"tool_exec\",outcome=\"{outcome}\"}} ");
        let metrics = server.text("/metrics");
        let count = metrics.lines().find_map(|own| own.strip_prefix(line.as_str()));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    assert_ne!(through_mcp()["isError"], true);
    assert_eq!(server.post("tool_exec", r#"{"op": "get_now"}"#).status(), 200);
    assert_eq!((count("ok"), count("OVERLOADED")), (2, 0));

    // A call that its backend has got has the only place.
    let mut held = server.connect();
    let head = "POST /v1/tools/get_slow HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    held.write_all(head.as_bytes()).unwrap();
    let (mut asked, _) = backend.accept().unwrap();
    let refused = through_mcp();
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(refused["structuredContent"]["error"]["code"], "OVERLOADED", "{refused}");
    assert_eq!(server.post("tool_exec", r#"{"op": "get_now"}"#).status(), 503);
    assert_eq!((count("ok"), count("OVERLOADED")), (2, 2));
    // Functions that run no tool have places of their own.
    assert_eq!(server.post("tool_search", r#"{"query": "items"}"#).status(), 200);
    asked.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    assert!(answer(&mut held).starts_with("HTTP/1.1 200"));
    assert_ne!(through_mcp()["isError"], true);
}

#[test]
fn a_call_whose_client_has_gone_gives_its_place_to_others() {
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let tools = r#"[{"name": "wait", "description": "Waits.", "effect": "read", "parameters": {"type": "object"},
        "backend": {"type": "http", "server": "b", "method": "GET", "path": "/"}},
        {"name": "get_now", "description": "Gets it.", "effect": "read", "parameters": {"type": "object"},
        "backend": {"type": "static", "content": 1}}]"#;
    let config = format!("serve.limits.calls = 1\nserver.b.url = 'http://{}'", backend.local_addr().unwrap());
    let server = Server::of(tools, &config, &[]);
    let rpc =
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}"#;
    let accept = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n";
    for (path, headers, body) in [("/v1/tools/wait", "", "{}"), ("/mcp", accept, rpc)] {
        let mut gone = server.connect();
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}");
        gone.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        // A call that its backend has got has the only place.
        let (_asked, _) = backend.accept().unwrap();
        let is_free = || server.post("tool_exec", r#"{"op": "get_now"}"#).status() == 200;
        assert!(!is_free(), "{path}");
        drop(gone);
        let started = Instant::now();
        while !is_free() {
            assert!(started.elapsed() < Duration::from_secs(30), "{path}: the place is still taken");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn stopping_finishes_what_is_in_flight() {
    let mut server = Server::with("", &[]);
    let mut idle = server.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    answer(&mut idle);
    let body = r#"{"name": "list_items"}"#;
    let head = format!(
        "POST /v1/read_tool_doc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..5]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.terminate();
    std::thread::sleep(Duration::from_millis(300));
    assert!(std::net::TcpStream::connect(&server.address).is_err(), "still listening");
    assert_eq!(rest(&mut idle), "", "an idle connection is closed at once");
    stream.write_all(&body.as_bytes()[5..]).unwrap();
    let text = rest(&mut stream);
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("list_items"), "{text}");
    assert_eq!(server.ended(Duration::from_secs(5)), Some(0));
}

/// A proxy that asks `/readyz` sends the next requests elsewhere before the port closes; a call that runs then still ends well.
#[test]
fn stopping_lets_clients_go_and_ends_calls_over_mcp_well() {
    let backend = TcpListener::bind("127.0.0.1:0").unwrap();
    let tools = r#"[{"name": "get_slow", "description": "Gets it.", "effect": "read", "parameters": {"type": "object"},
        "backend": {"type": "http", "server": "slow", "method": "GET", "path": "/"}}]"#;
    let config = format!(
        "serve.limits.drain_seconds = 2\n[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n[server.slow]\nurl = \"http://{}\"\n",
        backend.local_addr().unwrap()
    );
    let mut server = Server::of(tools, &config, &[]);
    let call = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_slow", "arguments": {}}}"#;
    let asking = server.posting("/mcp", call).header("accept", "application/json, text/event-stream");
    let asking = asking.header("mcp-protocol-version", "2025-06-18");
    let called = std::thread::spawn(move || {
        let answer = asking.send().unwrap();
        (answer.status().as_u16(), answer.text().unwrap())
    });
    let (mut calling, _) = backend.accept().unwrap();
    server.terminate();
    let left = Instant::now();
    let is_stopping = || server.get("/readyz", &[]).status() == 503;
    assert!((0..100).any(|_| is_stopping() || {
        std::thread::sleep(Duration::from_millis(10));
        false
    }));
    let during = server.get("/healthz", &[]);
    assert_eq!((during.status().as_u16(), &during.headers()["connection"]), (200, &"close".parse().unwrap()));
    while std::net::TcpStream::connect(&server.address).is_ok() {
        assert!(left.elapsed() < Duration::from_secs(20), "still listening");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(left.elapsed() >= Duration::from_secs(2), "{:?}", left.elapsed());
    calling.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").unwrap();
    let (status, text) = called.join().unwrap();
    assert!(status == 200 && text.contains("ok") && !text.contains("isError\":true"), "{status} {text}");
    assert_eq!(server.ended(Duration::from_secs(8)), Some(0));
}

#[test]
fn stopping_does_not_wait_for_ever() {
    let mut server = Server::with("serve.limits.stop_seconds = 1", &[]);
    let mut stream = server.connect();
    let head = "POST /v1/read_tool_doc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.terminate();
    assert_eq!(server.ended(Duration::from_secs(8)), Some(0));
}

/// Connects and asks, again and again, without waiting for an answer.
fn flood(server: &Server, times: usize) -> Vec<std::net::TcpStream> {
    let asking = |_| {
        let mut stream = server.connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream
    };
    (0..times).map(asking).collect()
}

#[test]
fn in_a_flood_everybody_is_told_that_there_is_no_room_and_open_connections_go_on() {
    let server = Server::with("serve.limits.connections = 1", &[]);
    let mut held = server.connect();
    let mut ask = || {
        held.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert!(answer(&mut held).starts_with("HTTP/1.1 200"));
    };
    ask();
    for _ in 0..10 {
        for mut stream in flood(&server, 300) {
            let text = rest(&mut stream);
            assert!(text.starts_with("HTTP/1.1 503 "), "{text:?}");
            let head = text.to_ascii_lowercase();
            assert!(head.contains("\r\nretry-after: 1\r\n") && head.contains("\r\nconnection: close\r\n"));
        }
        ask();
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn a_server_that_may_open_no_more_files_says_so_and_goes_on() {
    let folder = crate::fixture::folder(&[("tools.json", super::TOOLS)]);
    let server = Server::with_files(crate::fixture::text(folder.path()), 64);
    for _ in 0..3 {
        let mut streams = flood(&server, 200);
        let (mut told, mut served) = (0, 0);
        for stream in &mut streams {
            match answer(stream) {
                text if text.starts_with("HTTP/1.1 503 ") => told += 1,
                text => served += usize::from(text.starts_with("HTTP/1.1 200 ")),
            }
        }
        assert!(told > 100 && served > 0 && told + served == 200, "{told} {served}");
    }
    let started = Instant::now();
    while !server
        .raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .contains(" 200 ")
    {
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
