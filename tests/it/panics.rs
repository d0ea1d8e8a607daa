//! A panic behind a call ends that call alone, on any transport: the call is answered and counted, and gives back its
//! place and its key.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Once};
use std::time::Duration;

use rusqlite::types::Value as SqlValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Runtime;
use toolcrib::config::ServeLimits;
use toolcrib::exec::backend::Backends;
use toolcrib::functions::Services;
use toolcrib::mcp::Environment;
use toolcrib::server::http::{Hosts, HttpService, Listener};
use toolcrib::server::live::ServeOptions;
use toolcrib::server::{LiveCatalog, mcp};
use toolcrib::state::{Access, Database, Row, Sql, Sqlite, StateError, StateStore, Transaction};

use crate::exec::idempotency::Slow;
use crate::fixture;
use crate::mcp::templates;
use crate::serve::client;

/// Tries for each way to call.
const TIMES: usize = 200;

/// `early` panics before anything is sent, `late` after its server has answered.
const TOOLS: &str = r#"[
  {"name": "fine", "effect": "read", "description": "Answers.", "parameters": {"type": "object", "properties": {}},
   "backend": {"type": "static", "content": "well"}},
  {"name": "peek", "effect": "read", "description": "Panics.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
   "backend": {"type": "http", "server": "early", "method": "GET", "path": "/peek"}},
  {"name": "early", "effect": "write", "description": "Panics.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
   "backend": {"type": "http", "server": "early", "method": "POST", "path": "/early"}},
  {"name": "late", "effect": "write", "description": "Panics.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
   "backend": {"type": "http", "server": "late", "method": "POST", "path": "/late"}}
]"#;

fn on_purpose() -> ! {
    panic!("on purpose")
}

/// Keeps what tests panic with from stderr.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.payload().downcast_ref::<&str>() != Some(&"on purpose") {
                loud(panic);
            }
        }));
    });
}

/// State that panics where a long result is to be kept, and where something is written of the session `broken`.
#[derive(Debug)]
struct Breaking(Sqlite);

impl Database for Breaking {
    fn run(&self, access: Access, transaction: Transaction<'_>) -> Result<(), StateError> {
        self.0.run(access, &mut |sql| transaction(&mut BreakingSql(sql)))
    }

    fn is_volatile(&self) -> bool {
        self.0.is_volatile()
    }
}

struct BreakingSql<'a>(&'a mut dyn Sql);

impl Sql for BreakingSql<'_> {
    fn rows(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<Row>, StateError> {
        let is_broken = |value: &SqlValue| *value == SqlValue::from("broken".to_string());
        if sql.starts_with("INSERT INTO tool_results") || values.iter().any(is_broken) {
            on_purpose();
        }
        self.0.rows(sql, values)
    }

    fn lock(&mut self, name: &str) -> Result<(), StateError> {
        self.0.lock(name)
    }
}

/// Serves a catalog from this process, with room for so many calls at once; its address.
pub fn serve(live: &Arc<LiveCatalog>, calls: usize) -> (SocketAddr, Runtime) {
    // The stack of the program's own threads: futures are large without optimization.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(8 << 20).build().unwrap();
    let listener = runtime.block_on(Listener::bind("127.0.0.1:0".parse().unwrap())).unwrap();
    let address = listener.address();
    let limits = ServeLimits { calls, ..ServeLimits::default() };
    let service = HttpService::new(Arc::clone(live), Hosts::new(address, &[]), Default::default(), limits);
    let service = Arc::new(service.with_mcp(mcp::service(Arc::clone(live), 1 << 20)));
    runtime.spawn(listener.serve(service, std::future::pending(), || ()));
    (address, runtime)
}

/// A server in this process, with room for two calls at once.
struct Breakable {
    url: String,
    live: Arc<LiveCatalog>,
    runtime: Runtime,
    _folder: TempDir,
}

impl Breakable {
    fn start() -> Self {
        quietly();
        client();
        let slow = Slow::answering(Duration::ZERO, |_, _| format!("\"{}\"", "long ".repeat(100)));
        let config = format!(
            "[exec]\nallow = \"destructive\"\nresult_bytes = 256\nrequire_doc = \"destructive\"\n\n[server.late]\nurl = \"{0}\"\n\n\
             [server.early]\nurl = \"{0}\"\nheaders = {{ authorization = \"${{BREAK}}\" }}\n",
            slow.url
        );
        let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
        let environment = Environment::new(|name| if name == "BREAK" { on_purpose() } else { None });
        let backends = Backends::new(folder.path(), environment);
        let services = Services {
            state: Arc::new(StateStore::on(Breaking(Sqlite::in_memory()))),
            backends,
            ..Services::default()
        };
        let live =
            LiveCatalog::new(fixture::open(folder.path()), ServeOptions::default(), templates()).unwrap();
        let live = Arc::new(live.with_services(services));
        let (address, runtime) = serve(&live, 2);
        Self { url: format!("http://{address}"), live, runtime, _folder: folder }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let asking = client().post(format!("{}{path}", self.url)).header("content-type", "application/json");
        let asking = asking.header("accept", "application/json, text/event-stream");
        asking.timeout(Duration::from_secs(20)).body(body.to_string()).send().unwrap().json().unwrap()
    }

    fn exec(&self, call: Value) -> Value {
        self.post("/v1/tool_exec", &call)
    }

    /// Number of calls of a function with this outcome, from `/metrics`.
    fn counted(&self, line: &str) -> u64 {
        let page = client().get(format!("{}/metrics", self.url)).send().unwrap().text().unwrap();
        let found = page.lines().find_map(|own| own.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{line} is not in {page}")).parse().unwrap()
    }

    /// Makes one call panic again and again, then sees that another is answered.
    fn breaks(&self, call: impl Fn(&Self, &str, usize) -> Value) {
        for number in 0..TIMES {
            let answer = call(self, "early", number);
            assert_eq!(answer["error"]["code"], "INTERNAL", "{number}: {answer}");
        }
        let answer = call(self, "fine", 0);
        assert_eq!(answer["result"], "well", "{answer}");
    }
}

/// A call of MCP, and the answer in its result.
fn called(tool: &str, arguments: Value, id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn told(answer: &Value) -> Value {
    let result = &answer["result"];
    match result["isError"].as_bool() {
        Some(false) => json!({ "result": result["content"][0]["text"] }),
        _ => result["structuredContent"].clone(),
    }
}

#[test]
fn a_call_that_panics_is_answered_over_http_and_mcp() {
    let server = Breakable::start();
    server.breaks(|server, tool, number| {
        let key = (tool == "early").then(|| format!("key {number}"));
        server.exec(json!({"op": tool, "args": {}, "idempotency_key": key}))
    });
    server.breaks(|server, tool, _| server.post(&format!("/v1/tools/{tool}"), &json!({})));
    server.breaks(|server, tool, number| {
        told(&server.post("/mcp", &called("tool_exec", json!({"op": tool, "args": {}}), number)))
    });
    for parallel in [false, true] {
        server.breaks(|server, tool, _| {
            let tool = if parallel && tool == "early" { "peek" } else { tool };
            let call = |op: &str| json!({"function": "tool_exec", "input": {"op": op, "args": {}}});
            let calls = json!({"calls": [call("fine"), call(tool), call("fine")], "parallel": parallel});
            let answer = server.post("/v1/tool_batch", &calls);
            let results = answer["results"].as_array().unwrap();
            assert!(results[0]["ok"] == true && results[2]["ok"] == true, "{answer}");
            results[1].clone()
        });
    }
    let internal = |function: &str| {
        format!("toolcrib_function_calls_total{{function=\"{function}\",outcome=\"INTERNAL\"}}")
    };
    assert_eq!(server.counted(&internal("tool_exec")), 3 * TIMES as u64);
    assert_eq!(server.counted("toolcrib_executions_total{outcome=\"INTERNAL\"}"), 5 * TIMES as u64);
}

#[test]
fn a_function_that_panics_is_answered() {
    let server = Breakable::start();
    let read = |session: &str| {
        let asking =
            client().post(format!("{}/v1/read_tool_doc", server.url)).header("x-session-id", session);
        let asking =
            asking.header("content-type", "application/json").body(json!({"name": "fine"}).to_string());
        asking.send().unwrap().json::<Value>().unwrap()
    };
    for _ in 0..TIMES {
        assert_eq!(read("broken")["error"]["code"], "INTERNAL");
    }
    assert_eq!(read("whole")["ok"], true);
    // A panic while a call is recorded is not the caller's.
    let exec = json!({"op": "fine", "args": {}, "session": "broken"});
    assert_eq!(server.exec(exec)["result"], "well");
    let internal = "toolcrib_function_calls_total{function=\"read_tool_doc\",outcome=\"INTERNAL\"}";
    assert_eq!(server.counted(internal), TIMES as u64);
}

/// A client over the streams that stdio has.
struct Line {
    read: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Line {
    async fn send(&mut self, message: Value) -> io::Result<()> {
        self.write.write_all(format!("{message}\n").as_bytes()).await
    }

    async fn read(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.read.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().unwrap()).unwrap()
    }
}

#[test]
fn a_call_that_panics_is_answered_over_stdio_however_many_there_are() {
    let server = Breakable::start();
    server.runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(mcp::streams(Arc::clone(&server.live), read, write, std::future::pending()));
        let (read, write) = tokio::io::split(ours);
        let mut line = Line { read: BufReader::new(read).lines(), write };
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        line.send(json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}))
            .await
            .unwrap();
        assert!(line.read().await["result"].is_object());
        line.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await.unwrap();
        for number in 0..TIMES {
            line.send(called("tool_exec", json!({"op": "early", "args": {"n": number}}), number))
                .await
                .unwrap();
        }
        for _ in 0..TIMES {
            assert_eq!(told(&line.read().await)["error"]["code"], "INTERNAL");
        }
        line.send(called("tool_exec", json!({"op": "fine", "args": {}}), TIMES)).await.unwrap();
        assert_eq!(told(&line.read().await)["result"], "well");
    });
}

#[test]
fn a_key_is_free_after_a_panic_unless_something_may_have_been_sent() {
    let server = Breakable::start();
    let call = |op: &str| server.exec(json!({"op": op, "args": {}, "idempotency_key": op}));
    let first = call("early");
    assert_eq!(first["error"]["code"], "INTERNAL", "{first}");
    assert!(first["error"]["details"].get("may_have_run").is_none(), "{first}");
    assert_eq!(call("early")["error"]["code"], "INTERNAL", "the key is free");
    let first = call("late");
    assert_eq!(first["error"]["code"], "INTERNAL", "{first}");
    assert_eq!(first["error"]["details"]["may_have_run"], true, "{first}");
    assert_eq!(call("late")["error"]["code"], "OUTCOME_UNKNOWN");
}
