//! A write whose answer cannot be read may have been run: its key says so, and is not run again.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use serde_json::{Value, json};

use super::idempotency::TOOLS;
use super::{Bench, code};

/// A server that answers each request with these bytes, and closes the connection; how often it was asked.
fn answering(bytes: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            counted.fetch_add(1, SeqCst);
            stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let mut read = [0; 4096];
            while stream.read(&mut read).is_ok_and(|read| read > 0) {}
            let _ = stream.write_all(bytes.as_bytes());
        }
    });
    (url, count)
}

fn call() -> Value {
    json!({"op": "create_task", "args": {"title": "Buy nails"}, "idempotency_key": "k"})
}

fn asked(bytes: &'static str) -> (Value, Value, usize) {
    let (url, count) = answering(bytes);
    let bench =
        Bench::of(TOOLS, &format!("[exec]\nallow = \"write\"\n[server.api]\nurl = \"{url}\"\n"), None);
    let (first, again) = (bench.exec(call()), bench.exec(call()));
    (first, again, count.load(SeqCst))
}

#[test]
fn an_answer_that_cannot_be_read_leaves_a_write_of_unknown_outcome() {
    let unreadable = [
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{\"id\": ",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n<html>ok</html>",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"id\": 1}",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "\u{1}\u{2}\u{3} this is no HTTP\r\n\r\n",
        "HTTP/1.1 twohundred OK\r\n\r\n",
        "",
        "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n",
    ];
    for bytes in unreadable {
        let (first, again, count) = asked(bytes);
        assert_eq!(code(&first), "OUTCOME_UNKNOWN", "{bytes:?}: {first}");
        assert_eq!(first["error"]["details"]["may_have_run"], true, "{first}");
        assert_eq!((code(&again), count), ("OUTCOME_UNKNOWN", 1), "{bytes:?}: {again}");
    }
}

#[test]
fn an_answer_that_is_one_settles_a_write() {
    let answers = [
        ("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\ndone", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", true),
        (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n{oh ",
            false,
        ),
        ("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n", false),
    ];
    for (bytes, is_ok) in answers {
        let (first, again, count) = asked(bytes);
        assert_eq!(first["ok"], is_ok, "{bytes:?}: {first}");
        assert_eq!((&again["meta"]["replayed"], count), (&json!(true), 1), "{bytes:?}: {again}");
    }
}

/// An MCP server in a few lines, which answers calls with this.
fn script(answer: &str) -> String {
    let result = |result: &str| format!("echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',{result}}}'");
    let hello = result(
        r#""result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#,
    );
    let (answer, no) = (result(answer), result(r#""error":{"code":-32601,"message":"no"}"#));
    format!(
        "while read -r line; do id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         case \"$line\" in *'\"initialize\"'*) {hello};; *tools/call*) echo x >> calls; {answer};; *'\"id\"'*) {no};; esac; done"
    )
}

#[cfg(unix)]
#[test]
fn a_result_of_an_mcp_server_that_is_none_leaves_a_write_of_unknown_outcome() {
    let asked = |answer: &str| {
        let tools = json!({"tools": [{"name": "make", "description": "Make it.", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": false, "destructiveHint": false}}]});
        let config = format!(
            "[exec]\nallow = \"write\"\ncall_seconds = 5\n[[source]]\npath = 'dump.json'\nserver = 'sky'\n\
             [server.sky]\ncommand = [\"/bin/sh\", \"-c\", '''{}''']\n",
            script(answer)
        );
        let files = [("dump.json", &*tools.to_string()), ("toolcrib.toml", &*config)];
        let bench = Bench::at(
            crate::fixture::folder(&files),
            None,
            Arc::new(toolcrib::state::StateStore::in_memory()),
        );
        let call = json!({"op": "make", "args": {}, "idempotency_key": "k"});
        (bench.exec(call.clone()), bench.exec(call))
    };
    for answer in [r#""result":5"#, r#""result":{"content":"no list"}"#] {
        let (first, again) = asked(answer);
        assert!(matches!(code(&first), "OUTCOME_UNKNOWN" | "BACKEND_TIMEOUT"), "{answer}: {first}");
        assert_eq!(code(&again), "OUTCOME_UNKNOWN", "{answer}: {again}");
    }
    // A kind of block that nobody knows here is a result all the same.
    let (first, again) = asked(r#""result":{"content":[{"type":"unheard of"}]}"#);
    assert_eq!(
        (&first["result"][0]["type"], &again["meta"]["replayed"]),
        (&json!("unheard of"), &json!(true))
    );
    let (first, again) = asked(r#""result":{"content":[{"type":"text","text":"no"}],"isError":true}"#);
    assert_eq!((code(&first), &again["meta"]["replayed"]), ("BACKEND_ERROR", &json!(true)), "{again}");
}
