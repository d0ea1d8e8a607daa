//! The program over its standard streams, one JSON message a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture;

/// The program, serving a catalog over stdio.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    pub fn start(catalog: &str) -> Self {
        Self::of(fixture::program(&["serve", "--stdio", catalog]))
    }

    pub fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        Self { child, stdin, lines: reader(stdout) }
    }

    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).unwrap();
    }

    pub fn request(&mut self, id: u64, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
    }

    /// The next message; every line must be one.
    pub fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no protocol: {line}"))
    }

    /// The answer to a request, whatever else comes before it.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn handshake(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.request(1, "initialize", params);
        let answer = self.answer(1);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer
    }

    /// Ends the input; what still comes, and how the program ends.
    pub fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let rest = std::iter::from_fn(|| self.lines.recv_timeout(Duration::from_secs(20)).ok());
        let rest = rest.map(|line| serde_json::from_str(&line).unwrap()).collect();
        (rest, self.child.wait().unwrap().code())
    }

    /// The most memory it has held so far.
    #[cfg(target_os = "linux")]
    pub fn peak_kilobytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Asks the program to stop.
    fn stop(&self) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// Asks the program to stop; how it ends.
    pub fn terminate(mut self) -> Option<i32> {
        self.stop();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(stdout: ChildStdout) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// The `_meta` of each request of the newer revision.
pub fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}})
}

#[test]
fn the_end_of_input_ends_the_program_after_all_answers() {
    let mut process = Process::start("examples/github");
    process.handshake();
    for id in 2..200 {
        let arguments = json!({"names": ["create_issue", "get_me"]});
        process.request(id, "tools/call", json!({"name": "read_tool_doc", "arguments": arguments}));
    }
    let (answers, code) = process.end();
    assert_eq!((answers.len(), code), (198, Some(0)));
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false));
}

#[test]
fn input_that_ends_at_once_is_no_failure() {
    let (rest, code) = Process::start("examples/github").end();
    assert_eq!((rest, code), (vec![], Some(0)));
}

#[test]
fn an_open_subscription_does_not_keep_the_program() {
    let mut process = Process::start("examples/github");
    process.request(
        1,
        "subscriptions/listen",
        json!({"notifications": {"resourcesListChanged": true}, "_meta": meta()}),
    );
    let acknowledged = process.read();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let began = std::time::Instant::now();
    let (rest, code) = process.end();
    assert_eq!((rest.len(), code), (1, Some(0)));
    assert_eq!(rest[0]["result"]["resultType"], "complete");
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

#[test]
#[cfg(unix)]
fn a_request_to_stop_is_obeyed() {
    let mut process = Process::start("examples/github");
    process.handshake();
    assert_eq!(process.terminate(), Some(0));
}

#[test]
fn both_wires_are_spoken_and_each_in_its_own_words() {
    let mut process = Process::start("examples/github");
    process.request(1, "server/discover", json!({"_meta": meta()}));
    let answer = process.answer(1);
    assert!(answer["result"]["supportedVersions"].as_array().unwrap().contains(&"2026-07-28".into()));
    assert_eq!(answer["result"]["cacheScope"], "public");
    process.request(2, "resources/read", json!({"uri": "toolcrib://tools/nothing.md", "_meta": meta()}));
    assert_eq!(process.answer(2)["error"]["code"], -32602);

    let mut process = Process::start("examples/github");
    let answer = process.handshake();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    process.request(2, "resources/read", json!({"uri": "toolcrib://tools/nothing.md"}));
    assert_eq!(process.answer(2)["error"]["code"], -32002);
    process.request(3, "tools/list", json!({}));
    assert!(process.answer(3)["result"].get("resultType").is_none());
}

/// A catalog with one tool, which a shell runs.
#[cfg(unix)]
fn shell(script: &str) -> tempfile::TempDir {
    let tools = json!([{"name": "run", "description": "Runs.", "effect": "read", "parameters": {"type": "object"},
        "backend": {"type": "command", "argv": ["sh", "-c", script]}}]);
    let trusted = "[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n";
    fixture::folder(&[("toolcrib.toml", trusted), ("tools.json", &tools.to_string())])
}

#[test]
#[cfg(unix)]
fn a_program_that_is_told_to_stop_answers_what_it_was_asked() {
    let folder = shell("sleep 3; echo done");
    let mut process = Process::start(fixture::text(folder.path()));
    process.handshake();
    process.request(2, "tools/call", json!({"name": "run", "arguments": {}}));
    process.request(3, "ping", json!({}));
    process.answer(3);
    process.stop();
    let answer = process.answer(2);
    assert!(answer["result"].to_string().contains("done"), "{answer}");
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
}

#[test]
#[cfg(unix)]
fn a_call_that_is_cancelled_is_ended() {
    let folder = shell("echo begun > begun; sleep 3; echo ended > ended");
    let mut process = Process::start(fixture::text(folder.path()));
    process.handshake();
    process.request(2, "tools/call", json!({"name": "run", "arguments": {}}));
    let begun = folder.path().join("begun");
    let start = std::time::Instant::now();
    while !begun.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "it was not begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    process.write(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
            .to_string(),
    );
    std::thread::sleep(Duration::from_secs(5));
    assert!(!folder.path().join("ended").exists());
    process.request(3, "ping", json!({}));
    assert_eq!(process.answer(3)["result"], json!({}));
}
