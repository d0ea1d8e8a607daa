//! One repair by a model, asked over HTTP: a scripted server stands in for the model, and records what it is asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, Run, text};

/// A request as it arrived.
pub struct Asked {
    line: String,
    headers: String,
    pub body: Value,
}

/// Serves these responses, one a request, and closes; the address, and the requests.
pub fn server(responses: Vec<String>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        for (response, stream) in responses.into_iter().zip(listener.incoming()) {
            let mut stream = stream.unwrap();
            sender.send(read(&stream)).unwrap();
            let _ = stream.write_all(response.as_bytes());
        }
    });
    (address, asked)
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = String::new();
    while !headers.ends_with("\r\n\r\n") && reader.read_line(&mut headers).unwrap() > 2 {}
    let length = headers.lines().find_map(|header| {
        header.to_lowercase().strip_prefix("content-length:").map(|size| size.trim().to_string())
    });
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Asked { line, headers, body: serde_json::from_slice(&body).unwrap() }
}

pub fn http(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn says(content: &str) -> String {
    http("200 OK", &json!({"choices": [{"message": {"role": "assistant", "content": content}}]}).to_string())
}

const TOOL: &str = "
name: add_todo
description: Adds a task to the list.
parameters:
  type: object
  properties: {text: {type: string}, priority: {enum: [low, high]}}
  required: [text]
  additionalProperties: false
";

fn catalog(url: &str, more: &str) -> TempDir {
    let config = format!("[repair]\nurl = \"{url}\"\nmodel = \"small\"\n{more}");
    fixture::folder(&[("toolcrib.toml", config.as_str()), ("a.yaml", TOOL)])
}

/// Output of `parse` for one call with these arguments.
fn parse(catalog: &TempDir, name: &str, arguments: &str) -> (Run, Value) {
    let call = json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
    let body = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}).to_string();
    let command = ["parse", text(catalog.path()), "--provider", "openai"];
    let run = fixture::run_with(&command, &body, &[("REPAIR_KEY", "s3cret")]);
    let entries: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    (run, entries[0].clone())
}

#[test]
fn a_call_that_does_not_fit_is_repaired_once() {
    let (url, asked) = server(vec![says("```json\n{\"text\": \"milk\", \"priority\": \"high\"}\n```")]);
    let catalog = catalog(&url, "api_key_env = \"REPAIR_KEY\"\n");
    let (run, entry) = parse(&catalog, "add_todo", r#"{"text":"milk","priority":"urgent"}"#);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        entry,
        json!({"name": "add_todo", "call_id": "c1", "args": {"text": "milk", "priority": "high"},
            "repaired": [{"pointer": "", "repair": "model"}]})
    );
    let asked = asked.recv().unwrap();
    assert!(asked.line.starts_with("POST /v1/chat/completions "), "{}", asked.line);
    assert!(asked.headers.to_lowercase().contains("authorization: bearer s3cret"));
    assert_eq!(asked.body["model"], "small");
    let question: Value =
        serde_json::from_str(asked.body["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(question["function"], "add_todo");
    assert_eq!(question["schema"]["required"], json!(["text"]));
    assert_eq!(question["arguments"], r#"{"text":"milk","priority":"urgent"}"#);
    assert_eq!(question["wrong"][0]["at"], "/priority");
    assert!(!format!("{}{}", run.stdout, run.stderr).contains("s3cret"));
}

#[test]
fn cut_arguments_go_to_the_model_too() {
    let (url, _asked) = server(vec![says("{\"text\":\"milk\"}")]);
    let (run, entry) = parse(&catalog(&url, ""), "add_todo", r#"{"text":"mil"#);
    assert_eq!((run.code, &entry["args"]), (0, &json!({"text": "milk"})));
}

#[test]
fn an_answer_that_does_not_fit_is_not_asked_for_again() {
    for answer in [r#"{"text":true}"#, "null", "Sure! Here it is:", "", "[]"] {
        let (url, asked) = server(vec![says(answer), says(r#"{"text":"milk"}"#)]);
        let (run, entry) = parse(&catalog(&url, ""), "add_todo", r#"{"contents":"milk"}"#);
        assert_eq!(run.code, 1, "{answer}");
        assert_eq!(entry["error"]["code"], "schema", "{answer}");
        assert!(entry["error"]["repair"].is_string(), "{entry}");
        assert!(entry.get("args").is_none() && entry.get("repaired").is_none());
        asked.recv().unwrap();
        assert!(asked.recv_timeout(Duration::from_millis(100)).is_err(), "asked twice: {answer}");
    }
}

#[test]
fn what_a_model_cannot_help_with_is_not_sent() {
    let (url, asked) = server(vec![says("{}")]);
    let catalog = catalog(&url, "");
    let (_, unknown) = parse(&catalog, "add_todos_please", r#"{"text":1}"#);
    assert_eq!(unknown["error"]["code"], "unknown_tool");
    let (run, valid) = parse(&catalog, "add_todo", r#"{"text":"milk"}"#);
    assert_eq!((run.code, &valid["args"]["text"]), (0, &json!("milk")));
    assert!(asked.recv_timeout(Duration::from_millis(100)).is_err(), "something was sent");
}

#[test]
fn a_model_that_does_not_answer_leaves_the_error_as_it_was() {
    let refusals = [
        http("500 Internal Server Error", "{}"),
        http("200 OK", "no json"),
        http("200 OK", "{\"choices\":[]}"),
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n".into(),
        String::new(),
    ];
    for refusal in refusals {
        let (url, _asked) = server(vec![refusal.clone()]);
        let (run, entry) = parse(&catalog(&url, ""), "add_todo", r#"{"contents":"milk"}"#);
        assert_eq!((run.code, &entry["error"]["code"]), (1, &json!("schema")), "{refusal}");
        let said = entry["error"]["repair"].as_str().unwrap();
        assert!(said.contains("/v1/chat/completions"), "{refusal}: {said}");
    }
    let nobody = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let (_, entry) =
        parse(&catalog(&format!("http://{nobody}/v1"), ""), "add_todo", r#"{"contents":"milk"}"#);
    assert!(entry["error"]["repair"].as_str().unwrap().contains("no connection"), "{entry}");
}

#[test]
fn a_slow_model_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let start = std::time::Instant::now();
    let (_, entry) = parse(&catalog(&url, "timeout_seconds = 1\n"), "add_todo", r#"{"contents":"milk"}"#);
    assert!(entry["error"]["repair"].as_str().unwrap().contains("too long"), "{entry}");
    assert!(start.elapsed() < Duration::from_secs(40));
}

#[test]
fn a_repair_that_cannot_be_asked_for_is_said_and_the_calls_are_printed() {
    for (more, expect) in [("api_key_env = \"NOT_SET_ANYWHERE\"\n", "NOT_SET_ANYWHERE"), ("", "http://")] {
        let url = if more.is_empty() { "localhost:1" } else { "http://127.0.0.1:9/v1" };
        let (run, entry) = parse(&catalog(url, more), "add_todo", r#"{"contents":"milk"}"#);
        assert!(run.stderr.contains(expect), "{}", run.stderr);
        assert_eq!((run.code, &entry["error"]["code"]), (1, &json!("schema")));
        assert_eq!(entry["error"]["field_errors"][0]["pointer"], "/contents");
    }
}

#[test]
fn an_answer_that_drips_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        read(&stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let start = std::time::Instant::now();
    let (_, entry) = parse(&catalog(&url, "timeout_seconds = 1\n"), "add_todo", r#"{"contents":"milk"}"#);
    assert!(entry["error"]["repair"].as_str().unwrap().contains("took too long"), "{entry}");
    assert!(start.elapsed() < Duration::from_secs(40));
}
