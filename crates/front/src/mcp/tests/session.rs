//! What a server writes to stdout, line by line.

use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::*;

fn lines() -> Lines {
    let routes = Client::new(watch::channel(None).1).routes;
    Lines { notes: ListNotes::default(), routes, log: Log::new("x", &FilledSecrets::default()), noise: 0 }
}

/// What the SDK gets to read of a stream, and the reason why it ended before its end.
fn read(stream: Vec<u8>, longest: usize) -> (String, Option<String>) {
    let mut lines = lines();
    let mut text = String::new();
    let routes = Arc::clone(&lines.routes);
    let mut checked = LineCheck::new(std::io::Cursor::new(stream), longest, move |line| lines.read(line));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(checked.read_to_string(&mut text)).unwrap();
    (text, routes.end().map(str::to_string))
}

#[test]
fn noise_between_messages_is_left_out() {
    let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let (text, end) =
        read(format!("\u{1b}[32mready\n[1]\n{message}{{}}\nx\n{message}").into_bytes(), MAX_LINE);
    assert_eq!((text, end), (message.repeat(2), None));
}

#[test]
fn an_answer_that_is_too_long_is_an_error_at_once() {
    let long = format!("{{\"result\":\"{}\",\"id\":7,\"jsonrpc\":\"2.0\"}}\n", "x".repeat(20_000));
    let (text, end) = read(long.into_bytes(), 10_000);
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&error["id"], end), (&7.into(), None), "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains("longer than"), "{error}");
}

#[test]
fn noise_without_an_end_ends_the_connection() {
    for noise in ["noise\n".repeat(MAX_NOISE / 6 + 10), "x".repeat(100_000)] {
        let (text, end) = read(noise.into_bytes(), 10_000);
        assert_eq!(text, "");
        assert!(end.is_some_and(|reason| reason.contains("to stdout")));
    }
}
