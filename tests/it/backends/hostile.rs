//! Servers that break off, dawdle, flood, or are not there.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use toolcrib::exec::backend::BackendErrorKind;

use super::Running;
use crate::fixture::folder;

/// A server that does this with every connection, once it has read a request; how many there were.
fn server(with: impl Fn(TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, with) = (Arc::clone(&count), Arc::new(with));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (counted, with) = (Arc::clone(&counted), Arc::clone(&with));
            std::thread::spawn(move || {
                let mut stream = stream;
                let mut request = [0; 4096];
                if stream.read(&mut request).is_ok_and(|read| read > 0) {
                    counted.fetch_add(1, Ordering::SeqCst);
                    with(stream);
                }
            });
        }
    });
    (url, count)
}

fn catalog(url: &str, server: &str) -> (TempDir, Running) {
    let backend = |method: &str| json!({ "type": "http", "method": method, "path": "/x" });
    let tools = json!([
        { "name": "get_x", "description": "Reads.", "effect": "read", "parameters": {"type": "object"}, "backend": backend("GET") },
        { "name": "make_x", "description": "Writes.", "effect": "write", "parameters": {"type": "object"}, "backend": backend("POST") },
    ]);
    let toml = format!("[server.api]\nurl = '{url}'\n{server}\n[[source]]\npath = 'tools.json'\n");
    let root = folder(&[("toolcrib.toml", &toml), ("tools.json", &tools.to_string())]);
    let mut running = Running::open(root.path());
    running.time = Duration::from_secs(2);
    (root, running)
}

#[test]
fn a_server_that_is_not_there_was_not_asked() {
    let (_root, running) = catalog("http://127.0.0.1:9", "");
    let error = running.fails("make_x", json!({}), BackendErrorKind::NotSent, "nothing was sent");
    assert!(!format!("{error:?}").contains("127.0.0.1"), "{error:?}");
    let (_root, running) = catalog("http://no-such-host.invalid", "retries = 0");
    running.fails("make_x", json!({}), BackendErrorKind::NotSent, "cannot be reached");
    let (url, _) = server(|mut stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")));
    let (_root, running) = catalog(&url.replace("http:", "https:"), "retries = 0");
    running.fails("make_x", json!({}), BackendErrorKind::NotSent, "cannot be reached");
}

#[test]
fn a_connection_that_breaks_is_a_lost_call_and_only_reading_is_tried_again() {
    let (url, count) = server(drop);
    let (_root, running) = catalog(&url, "retries = 1");
    running.fails("make_x", json!({}), BackendErrorKind::ConnectionLost, "may have been run");
    assert_eq!(count.swap(0, Ordering::SeqCst), 1);
    running.fails("get_x", json!({}), BackendErrorKind::ConnectionLost, "broke");
    assert_eq!(count.swap(0, Ordering::SeqCst), 2);

    let half = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\": 1";
    let (url, count) = server(move |mut stream| drop(stream.write_all(half)));
    let (_root, running) = catalog(&url, "retries = 1");
    running.fails("make_x", json!({}), BackendErrorKind::ConnectionLost, "broke");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
#[ignore = "slow"]
fn an_answer_may_take_long_unless_the_server_is_silent_for_too_long() {
    let begin = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    };
    let (url, _) = server(move |mut stream| {
        begin(&mut stream);
        for _ in 0..50 {
            let _ = stream.write_all(b" ");
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = stream.write_all(b"41");
    });
    let (_root, running) = catalog(&url, "");
    assert_eq!(running.call("make_x", json!({})).unwrap().content, json!(41), "2.5 s, with a limit of 2 s");
    let (url, _) = server(|mut stream| {
        std::thread::sleep(Duration::from_millis(500));
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n41"));
    });
    let (_root, mut running) = catalog(&url, "timeout_seconds = 60");
    running.time = Duration::from_millis(50);
    assert!(running.call("make_x", json!({})).is_ok(), "the server has a limit of its own");
    let (url, _) = server(move |mut stream| {
        begin(&mut stream);
        std::thread::sleep(Duration::from_secs(20));
    });
    let (_root, mut running) = catalog(&url, "");
    running.time = Duration::from_millis(500);
    let start = Instant::now();
    running.fails("make_x", json!({}), BackendErrorKind::TimedOut, "in time");
    let (url, _) = server(|mut stream| {
        while stream.write_all(b"H").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let (_root, mut running) = catalog(&url, "");
    running.time = Duration::from_millis(500);
    let error = running.call("make_x", json!({})).unwrap_err();
    assert!(matches!(error.kind, BackendErrorKind::TimedOut | BackendErrorKind::ConnectionLost), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_flood_is_cut_and_a_bomb_stays_packed() {
    let (url, _) = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    let (_root, running) = catalog(&url, "max_bytes = 100000");
    let response = running.call("get_x", json!({})).unwrap();
    assert_eq!(response.content.as_str().unwrap().len(), 100_000);
    assert_eq!(response.warnings.len(), 1);

    let headers = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n";
    let bomb = [headers.as_bytes(), &[0x1f, 0x8b, 8, 0]].concat();
    let (url, _) = server(move |mut stream| drop(stream.write_all(&bomb)));
    let (_root, running) = catalog(&url, "");
    let response = running.call("get_x", json!({})).unwrap();
    assert_eq!((&response.content["compressed"], &response.content["bytes"]), (&json!(true), &json!(4)));

    let (url, _) = server(|mut stream| {
        let deep = "[".repeat(100_000);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            deep.len()
        );
        drop(stream.write_all(format!("{head}{deep}").as_bytes()));
    });
    let (_root, running) = catalog(&url, "");
    assert!(running.call("get_x", json!({})).unwrap().content.is_string());
}

#[test]
fn json_of_too_many_values_stays_text() {
    let many = format!("[{}0]", "0,".repeat(600_000));
    let sent = many.clone();
    let (url, _) = server(move |mut stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        drop(stream.write_all(format!("{head} {}\r\n\r\n{sent}", sent.len()).as_bytes()));
    });
    let (_root, running) = catalog(&url, "");
    for tool in ["get_x", "make_x"] {
        let response = running.call(tool, json!({})).unwrap();
        assert_eq!(response.content.as_str().map(str::len), Some(many.len()));
        assert!(
            response.warnings[0].contains("more than 500000 values and stays text"),
            "{:?}",
            response.warnings
        );
    }
}
