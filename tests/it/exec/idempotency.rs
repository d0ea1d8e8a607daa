//! A key runs its write once: for two callers at a moment, for a caller that goes away, and for a server that is killed at
//! any moment.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::functions::Function;
use toolcrib::state::StateStore;

use super::{Bench, code};
use crate::fixture;
use crate::serve::{Server, client};

/// A slow HTTP server that keeps what it is asked, first line and body.
pub struct Slow {
    pub url: String,
    pub asked: Arc<Mutex<Vec<(String, String)>>>,
}

/// The server's answer to the first line of a request, given the number of requests.
type Reply = fn(&str, usize) -> String;

impl Slow {
    pub fn start(delay: Duration) -> Self {
        Self::answering(delay, |_, number| format!("{{\"id\": \"task_{number}\"}}"))
    }

    pub fn answering(delay: Duration, reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let all = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let all = Arc::clone(&all);
                std::thread::spawn(move || answer(stream, delay, reply, &all));
            }
        });
        Self { url, asked }
    }

    /// One that answers the first request with this status.
    pub fn refusing(status: u16) -> Self {
        Self::refusing_first(status, 1)
    }

    /// One that answers every request with this status.
    pub fn refusing_all(status: u16) -> Self {
        Self::refusing_first(status, usize::MAX)
    }

    fn refusing_first(status: u16, most: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let all = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut read = [0; 4096];
                stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
                while (&stream).read(&mut read).is_ok_and(|count| count > 0) {}
                let number = {
                    let mut all = all.lock().unwrap();
                    all.push(Default::default());
                    all.len()
                };
                let status = if number <= most { status } else { 200 };
                let body = format!("{{\"id\": \"task_{number}\"}}");
                let head =
                    format!("HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close");
                let _ = write!(&stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            }
        });
        Self { url, asked }
    }

    pub fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// Waits until it was asked so often.
    pub fn wait_for(&self, count: usize) {
        let start = Instant::now();
        while self.count() < count {
            assert!(start.elapsed() < Duration::from_secs(20), "it was not asked");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn config(&self) -> String {
        format!("[exec]\nallow = \"write\"\n\n[server.api]\nurl = \"{}\"\n", self.url)
    }
}

fn answer(stream: TcpStream, delay: Duration, reply: Reply, asked: &Mutex<Vec<(String, String)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            if let Some(told) = line.to_lowercase().strip_prefix("content-length:") {
                length = told.trim().parse().unwrap();
            }
            head.push_str(&line);
            line.clear();
        }
        if head.is_empty() {
            return;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let first = head.lines().next().unwrap_or_default().to_string();
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push((first.clone(), String::from_utf8(body).unwrap()));
            asked.len()
        };
        std::thread::sleep(delay);
        let body = reply(&first, number);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
        let _ = write!(&stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    }
}

pub const TOOLS: &str = r#"[{"name": "create_task", "effect": "write", "description": "Create a task.",
  "parameters": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
  "backend": {"type": "http", "server": "api", "method": "POST", "path": "/tasks"}}]"#;

fn call(key: &str) -> Value {
    json!({"op": "create_task", "args": {"title": "Buy nails"}, "idempotency_key": key})
}

#[test]
fn a_call_that_was_turned_away_has_not_used_its_key() {
    for (status, expect) in [(429, "RATE_LIMITED"), (503, "BACKEND_ERROR")] {
        let slow = Slow::refusing(status);
        let bench = Bench::of(TOOLS, &slow.config(), None);
        let turned_away = bench.exec(call("k"));
        assert_eq!(code(&turned_away), expect, "{turned_away}");
        let answer = bench.exec(call("k"));
        assert_eq!((&answer["result"]["id"], slow.count()), (&json!("task_2"), 2), "{answer}");
        assert_eq!(bench.exec(call("k"))["meta"]["replayed"], true);
    }
    let slow = Slow::refusing(500);
    let bench = Bench::of(TOOLS, &slow.config(), None);
    assert_eq!(code(&bench.exec(call("k"))), "BACKEND_ERROR");
    assert_eq!((bench.exec(call("k"))["meta"]["replayed"].clone(), slow.count()), (json!(true), 1));
}

#[test]
fn two_callers_at_the_same_moment_make_one_run_and_both_get_its_answer() {
    let slow = Slow::start(Duration::from_millis(400));
    let bench = Bench::of(TOOLS, &slow.config(), None);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.exec(call("k")))).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(slow.count(), 1);
    let replayed = answers.iter().filter(|answer| answer["meta"]["replayed"] == true).count();
    assert_eq!(replayed, 3, "{answers:#?}");
    assert!(answers.iter().all(|answer| answer["result"]["id"] == "task_1"), "{answers:#?}");
}

#[test]
#[ignore = "slow"]
fn an_outcome_that_could_not_be_stored_is_stored_when_the_state_is_back() {
    let slow = Slow::start(Duration::from_millis(600));
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &slow.config())]);
    let file = folder.path().join("state.db");
    let bench = Bench::at(folder, None, Arc::new(StateStore::open(&file).unwrap()));
    let other = rusqlite::Connection::open(&file).unwrap();
    let first = std::thread::scope(|scope| {
        let asking = scope.spawn(|| bench.exec(call("k")));
        slow.wait_for(1);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        asking.join().unwrap()
    });
    assert!(first["meta"]["warnings"][0].as_str().unwrap().contains("not stored yet"), "{first}");
    other.execute_batch("ROLLBACK").unwrap();
    let start = Instant::now();
    while bench.exec(call("k"))["meta"]["replayed"] != true {
        assert!(start.elapsed() < Duration::from_secs(60), "its outcome was forgotten");
    }
    assert_eq!(slow.count(), 1);
}

#[test]
fn a_write_goes_on_when_its_caller_goes_away() {
    let slow = Slow::start(Duration::from_millis(400));
    let bench = Bench::of(TOOLS, &slow.config(), None);
    let exec = Function::named("tool_exec").unwrap();
    let gone = bench.wait(async {
        tokio::time::timeout(Duration::from_millis(150), exec.call(&bench.context, call("k"))).await
    });
    assert!(gone.is_err());
    slow.wait_for(1);
    let answer = bench.exec(call("k"));
    assert_eq!((&answer["result"]["id"], &answer["meta"]["replayed"]), (&json!("task_1"), &json!(true)));
    assert_eq!(slow.count(), 1);
}

#[test]
fn a_call_that_never_reached_its_backend_has_not_used_its_key() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!("[exec]\nallow = \"write\"\n[server.api]\nurl = \"http://{free}\"\nretries = 0\n");
    let bench = Bench::of(TOOLS, &config, None);
    let first = bench.exec(call("k"));
    assert_eq!(code(&first), "BACKEND_ERROR", "{first}");
    let again = bench.exec(call("k"));
    assert_eq!((code(&again), again["meta"].get("replayed")), ("BACKEND_ERROR", None), "{again}");
}

#[test]
fn what_is_still_running_is_waited_for_and_then_said_to_be() {
    let slow = Slow::start(Duration::from_secs(3));
    let config = slow.config().replace("[exec]\n", "[exec]\ncall_seconds = 1\n");
    let bench = Bench::of(TOOLS, &config, None);
    let first = bench.exec(call("k"));
    assert_eq!(code(&first), "BACKEND_TIMEOUT", "{first}");
    assert_eq!(first["error"]["details"]["may_have_run"], true);
    let again = bench.exec(call("k"));
    assert_eq!(code(&again), "OUTCOME_UNKNOWN", "{again}");
    assert_eq!(slow.count(), 1);
}

fn post(server: &Server, key: &str) -> Value {
    server.post("tool_exec", call(key).to_string()).json().unwrap()
}

#[test]
#[ignore = "slow"]
fn a_server_that_is_killed_runs_a_key_once() {
    let slow = Slow::start(Duration::from_millis(600));
    let config = format!("{}\n[state]\nurl = \"state.db\"\n", slow.config());
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let start = || Server::process(fixture::text(folder.path()), &[], &[]);
    client();

    // Killed while it runs: nobody knows.
    let server = start();
    let url = server.url("/v1/tool_exec");
    let asking = std::thread::spawn(move || client().post(url).body(call("during").to_string()).send());
    slow.wait_for(1);
    drop(server);
    assert!(asking.join().unwrap().is_err());
    let server = start();
    let answer = post(&server, "during");
    assert_eq!(code(&answer), "OUTCOME_UNKNOWN", "{answer}");
    assert_eq!(slow.count(), 1);

    // Killed after the answer: it is given again.
    let first = post(&server, "after");
    assert_eq!((first["ok"].clone(), slow.count()), (json!(true), 2), "{first}");
    drop(server);
    let server = start();
    let again = post(&server, "after");
    assert_eq!((&again["result"], &again["meta"]["replayed"]), (&first["result"], &json!(true)), "{again}");
    assert_eq!(slow.count(), 2);
}

#[test]
fn a_header_says_the_key_too() {
    let slow = Slow::start(Duration::ZERO);
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &slow.config())]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let post = |path: &str, key: &str, body: Value| -> Value {
        let asking = client().post(server.url(path)).header("content-type", "application/json");
        asking.header("idempotency-key", key).body(body.to_string()).send().unwrap().json().unwrap()
    };
    let first = post("/v1/tools/create_task", "\"k-1\"", json!({"title": "Buy nails"}));
    assert_eq!(first["result"]["id"], "task_1", "{first}");
    let call = json!({"op": "create_task", "args": {"title": "Buy nails"}});
    let again = post("/v1/tool_exec", "k-1", call);
    assert_eq!((&again["result"], &again["meta"]["replayed"]), (&first["result"], &json!(true)), "{again}");
    let call = json!({"op": "create_task", "args": {"title": "Buy nails"}, "idempotency_key": null});
    assert_eq!(post("/v1/tool_exec", "k-1", call)["meta"]["replayed"], true);
    // A key that would be overlooked is refused.
    let odd = post("/v1/tools/create_task", "schl\u{fc}ssel", json!({"title": "Buy nails"}));
    assert_eq!(code(&odd), "VALIDATION_ERROR", "{odd}");
    let several = post("/v1/tool_batch", "k-3", json!({"calls": [self::call("k-4")]}));
    assert_eq!((code(&several), slow.count()), ("VALIDATION_ERROR", 1), "{several}");
    let own = post("/v1/tool_exec", "k-1", self::call("k-2"));
    assert_eq!((own["meta"]["replayed"].clone(), slow.count()), (Value::Null, 2), "{own}");
}

#[test]
fn a_change_that_was_answered_is_in_the_trace_of_a_server_that_is_killed() {
    let slow = Slow::start(Duration::ZERO);
    let config = format!("{}\n[state]\nurl = \"state.db\"\n", slow.config());
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let server = Server::process(fixture::text(folder.path()), &[], &[]);
    let call = json!({"op": "create_task", "args": {"title": "Buy nails"}});
    for _ in 0..5 {
        let answer: Value = server.post("tool_exec", call.to_string()).json().unwrap();
        assert_eq!(answer["ok"], true, "{answer}");
    }
    drop(server);
    let db = rusqlite::Connection::open(folder.path().join("state.db")).unwrap();
    let told: i64 = db.query_row("SELECT count(*) FROM tool_executions", [], |row| row.get(0)).unwrap();
    assert_eq!(told, 5);
}

#[test]
fn a_change_whose_trace_cannot_be_written_says_so() {
    let slow = Slow::start(Duration::from_millis(1_500));
    let config = format!("{}\n[state]\nurl = \"state.db\"\n", slow.config());
    let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
    let server = Server::start(fixture::text(folder.path()), &[], &[]);
    let call = json!({"op": "create_task", "args": {"title": "Buy nails"}});
    let url = server.url("/v1/tool_exec");
    let asking = std::thread::spawn(move || client().post(url).body(call.to_string()).send().unwrap().text());
    slow.wait_for(1);
    let other = rusqlite::Connection::open(folder.path().join("state.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE;").unwrap();
    let answer: Value = serde_json::from_str(&asking.join().unwrap().unwrap()).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(answer["meta"]["warnings"].to_string().contains("may be missing from the trace"), "{answer}");
}

#[test]
fn a_write_without_a_place_to_be_written_down_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let tools = fixture::folder(&[("tools.json", super::TOOLS), ("toolcrib.toml", super::WRITES)]);
    let state = Arc::new(StateStore::open(&file).unwrap());
    let bench = Bench::at(tools, None, state);
    assert_eq!(bench.run("create_task", json!({"project_id": "p", "title": "Buy nails"}))["ok"], true);
    bench.wait(bench.state.flush()).unwrap();
    let ran = json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails"}, "idempotency_key": "ran"});
    assert_eq!(bench.exec(ran.clone())["ok"], true);
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE;").unwrap();
    let keyed = json!({"op": "create_task", "args": {"project_id": "p", "title": "Buy nails"}, "idempotency_key": "k"});
    assert_eq!(code(&bench.exec(keyed)), "STATE_UNAVAILABLE");
    assert_eq!(bench.exec(ran)["meta"]["replayed"], true, "what was run is answered without a write");
    assert_eq!(
        code(&bench.run("create_task", json!({"project_id": "p", "title": "Buy nails"}))),
        "STATE_UNAVAILABLE"
    );
    assert_eq!(bench.run("tasks", json!({}))["ok"], true);
}
