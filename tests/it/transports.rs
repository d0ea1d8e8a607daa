//! One table of calls over every transport: the command line, HTTP and MCP give the same answers. A new function adds
//! its calls here.

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::fixture::{self, program, run};
use crate::serve::{Server, client};

/// A function, its arguments, and its error code; `None` when it succeeds.
type Row = (&'static str, Value, Option<&'static str>);

/// Calls with GitHub's tools.
fn table() -> Vec<Row> {
    let doc = "read_tool_doc";
    let mut table = vec![
        (doc, json!({"name": "get_me"}), None),
        (doc, json!({"names": ["get_me", "create_issue"]}), None),
        (doc, json!({"name": "github.create_branch"}), None),
        (doc, json!({"names": ["github.get_me", "get_me"]}), None),
        (doc, json!({"names": ["get_me", "no_such_tool"]}), None),
        (doc, json!({"names": "get_me"}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": "creat_issue"}), Some("NOT_FOUND")),
        (doc, json!({"name": "Ünïcode \u{202e}\u{0} \"quoted\""}), Some("NOT_FOUND")),
        (doc, json!({}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": 7}), Some("VALIDATION_ERROR")),
        (doc, json!({"name": "get_me", "section": "everything"}), Some("VALIDATION_ERROR")),
        (doc, json!({"nam": "get_me"}), Some("VALIDATION_ERROR")),
    ];
    for section in ["summary", "arguments", "examples", "policy", "schema", "all"] {
        table.push((doc, json!({"name": "create_issue", "section": section}), None));
    }
    table.extend([
        ("tool_search", json!({"query": "create an issue"}), None),
        (
            "tool_search",
            json!({"queries": ["create an issue", "list branches"], "limit": 2, "format": "json"}),
            None,
        ),
        ("tool_search", json!({"query": "qzxv jjkw"}), None),
        ("tool_search", json!({"query": "create", "category": "Nowhere"}), Some("UNKNOWN_PATH")),
        ("tool_search", json!({"queries": []}), Some("VALIDATION_ERROR")),
        ("tool_help", json!({}), None),
        ("tool_help", json!({"path": "Issues"}), None),
        ("tool_help", json!({"path": "create_issue", "format": "full", "include_schemas": true}), None),
        ("tool_help", json!({"paths": ["github.get_me", "github.get_mee"]}), None),
        ("tool_help", json!({"path": "github.creat_issue"}), Some("NOT_FOUND")),
        ("tool_help", json!({"path": "root", "format": "long"}), Some("VALIDATION_ERROR")),
        ("list", json!({}), None),
        ("list", json!({"path": ["github"], "limit": 3}), None),
        ("list", json!({"path": ["Isues"]}), Some("UNKNOWN_PATH")),
        ("search_nodes", json!({"query": "pull requests"}), None),
        ("search_tool_by_category", json!({"query": "merge a pull request"}), None),
        ("search_tool_by_category", json!({"query": "qzxv jjkw"}), Some("NO_MATCH_IN_CATEGORY")),
        ("expand_tool", json!({"tool_id": "create_issue"}), None),
        ("expand_tool", json!({"tool_id": "creat_issue"}), Some("TOOL_NOT_FOUND")),
        ("call_tool", json!({"tool_id": "get_me"}), Some("NO_BACKEND")),
        // Each failing call is of another op: in a session the same one is answered otherwise the second time.
        (
            "tool_exec",
            json!({"op": "create_branch", "args": {"owner": "a", "repo": "b", "branch": "c"}}),
            Some("NO_BACKEND"),
        ),
        ("tool_exec", json!({"op": "create_issue"}), Some("VALIDATION_ERROR")),
        ("tool_exec", json!({"op": "github.create_isue", "args": {}}), Some("NOT_FOUND")),
        ("tool_exec", json!({}), Some("VALIDATION_ERROR")),
        ("read_result", json!({"cursor": "made up"}), Some("VALIDATION_ERROR")),
        ("tool_exec", json!({"op": "read_tool_doc", "args": {"name": "get_me"}}), None),
        ("tool_exec", json!({"op": "tool.help", "args": {"path": "Issues"}}), None),
        ("tool_exec", json!({"op": "expand_tool", "args": {"tool_id": "get_mee"}}), Some("TOOL_NOT_FOUND")),
        ("tool.help", json!({"path": "read_tool_doc"}), None),
        ("tool.exec", json!({"op": "read_tool_doc", "args": {}}), Some("VALIDATION_ERROR")),
        (
            "tool.batch",
            json!({"calls": [{"help": "root"}, {"exec": "read_tool_doc", "args": {"name": "get_me"}}]}),
            None,
        ),
        ("call_tool", json!({"tool_id": "create_repository", "arguments": {}}), Some("VALIDATION_ERROR")),
    ]);
    table
}

/// Picks from GitHub's tools.
fn picks() -> Vec<Row> {
    let pick = "pick";
    vec![
        (pick, json!({"input": "open a pull request"}), None),
        (pick, json!({"input": "open a pull request", "max_candidates": 1, "debug": true}), None),
        (pick, json!({"input": {"task": "list the branches", "repo": ["x", 1]}, "max_effect": "read"}), None),
        (pick, json!({"input": "create_branch", "role": "nobody", "max_cost": 3, "timeout_ms": 20000}), None),
        (pick, json!({"input": "merge", "capabilities": ["streaming"]}), None),
        (pick, json!({"input": "xyzzy plugh"}), None),
        (pick, json!({"input": null, "min_score": 1, "allow_unsafe": true}), None),
        (pick, json!({}), Some("VALIDATION_ERROR")),
        (pick, json!({"input": "x", "max_candidates": 0}), Some("VALIDATION_ERROR")),
        (pick, json!({"input": "x", "max_effect": "all"}), Some("VALIDATION_ERROR")),
        (pick, json!({"input": "x", "scorer": "embedding"}), Some("VALIDATION_ERROR")),
        (pick, json!({"input": "x", "scorer": "llm"}), Some("VALIDATION_ERROR")),
        (pick, json!({"input": "x", "scorer": "tarot"}), Some("VALIDATION_ERROR")),
    ]
}

/// Calls with [`TWO_SERVERS`].
fn table_of_two_servers() -> Vec<Row> {
    let doc = "read_tool_doc";
    vec![
        (doc, json!({"name": "search"}), Some("AMBIGUOUS")),
        (doc, json!({"name": "alpha__search"}), None),
        (doc, json!({"names": ["beta__search", "search"]}), None),
        ("expand_tool", json!({"tool_id": "search"}), Some("AMBIGUOUS")),
        ("tool_help", json!({"path": "search"}), Some("AMBIGUOUS")),
        ("call_tool", json!({"tool_id": "search"}), Some("AMBIGUOUS")),
    ]
}

/// Two servers whose tools have the same name.
const TWO_SERVERS: &str = r#"{
  "alpha": [{"name": "search", "description": "Search alpha.", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}],
  "beta": [{"name": "search", "description": "Search beta.", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]
}"#;

fn github() -> String {
    fixture::text(&fixture::package().join("examples/github")).to_string()
}

/// The answer as JSON, and the exit code.
pub fn on_command_line(catalog: &str, function: &str, arguments: &Value) -> (Value, i32) {
    let said = run(&["call", function, &arguments.to_string(), catalog]);
    (serde_json::from_str(&said.stdout).unwrap(), said.code)
}

/// An answer without what differs from call to call.
fn masked(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                *field = match name.as_str() {
                    "trace_id" | "latency_ms" => Value::Null,
                    _ => masked(field.take()),
                };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = masked(item.take())),
        _ => {}
    }
    answer
}

/// The same for a text that holds it.
fn masked_text(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(answer) => masked(answer).to_string(),
        Err(_) => text.to_string(),
    }
}

fn as_client_text(result: &Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_string)
}

/// The MCP form of an answer from the other transports: the metadata is elsewhere, and a result is not wrapped.
fn shortened(function: &str, answer: &Value) -> (Vec<String>, Option<Value>) {
    let notes = |answer: &Value| {
        let warnings = answer["meta"]["warnings"].as_array().filter(|warnings| !warnings.is_empty());
        warnings.map(|warnings| json!({ "warnings": warnings }))
    };
    let mut bare = answer.clone();
    bare.as_object_mut().unwrap().shift_remove("meta");
    if function.replace('.', "_") == "tool_batch" && answer["ok"] == true {
        let shorten = |item: &Value| {
            let mut data = item.clone();
            let fields = data.as_object_mut().unwrap();
            for name in ["index", "function", "meta"] {
                fields.shift_remove(name);
            }
            let text = match fields.get("result").cloned() {
                Some(result) => {
                    fields.shift_remove("op");
                    as_client_text(&result)
                }
                None => data.to_string(),
            };
            (format!("[{}]\n{text}", item["index"]), data)
        };
        let (texts, items): (Vec<String>, Vec<Value>) =
            answer["results"].as_array().unwrap().iter().map(shorten).unzip();
        return (texts, Some(json!({ "results": items, "failed": answer["failed"] })));
    }
    match answer.get("result") {
        Some(result) => {
            let text = as_client_text(result);
            let notes = notes(answer);
            let data = notes
                .as_ref()
                .map_or_else(|| result.clone(), |notes| json!({ "result": result, "meta": notes }));
            let notes = notes.map(|notes| json!({ "meta": notes }).to_string());
            ([text].into_iter().chain(notes).collect(), Some(data).filter(|_| result.is_object()))
        }
        None => {
            let notes = notes(answer);
            bare.as_object_mut().unwrap().extend(notes.map(|notes| ("meta".to_string(), notes)));
            (vec![bare.to_string()], Some(bare))
        }
    }
}

/// The envelope of the other transports, from an MCP answer: its metadata is elsewhere, and the tool result is bare.
fn enveloped(function: &str, answer: CallToolResult) -> Value {
    let meta = answer.meta.map(|meta| meta.0).unwrap_or_default();
    let named =
        |(name, value): (&String, &Value)| Some((name.strip_prefix("toolcrib/")?.to_string(), value.clone()));
    let mut meta: serde_json::Map<String, Value> = meta.iter().filter_map(named).collect();
    meta.entry("warnings").or_insert_with(|| json!([]));
    let mut envelope = match function.replace('.', "_").as_str() {
        "tool_exec" | "call_tool" if answer.is_error != Some(true) => {
            let text = &answer.content[0].as_text().unwrap().text;
            let result = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            let name = if function == "call_tool" { "tool_id" } else { "op" };
            json!({"ok": true, name: meta["op"], "result": result})
        }
        _ => answer.structured_content.unwrap(),
    };
    envelope["meta"] = meta.into();
    envelope
}

/// The answer as a model reads it.
fn as_text(catalog: &str, function: &str, arguments: &Value) -> String {
    let arguments = arguments.to_string();
    let said = run(&["call", function, &arguments, "--text", catalog]);
    masked_text(said.stdout.trim_end())
}

/// Answers of the command line to a row.
struct Said {
    answer: Value,
    code: i32,
    text: Option<String>,
}

impl Said {
    fn of(catalog: &str, (function, arguments, _): &Row, with_text: bool) -> Self {
        let (answer, code) = on_command_line(catalog, function, arguments);
        Self { answer, code, text: with_text.then(|| as_text(catalog, function, arguments)) }
    }
}

/// A catalog with every transport open.
pub struct Transports {
    pub catalog: String,
    pub server: Server,
    pub runtime: Runtime,
    /// Each way to speak MCP.
    pub clients: Vec<(String, RunningService<RoleClient, ()>)>,
}

impl Transports {
    pub fn open(catalog: String) -> Self {
        // This also makes the TLS that MCP clients over HTTP want to have.
        client();
        let server = Server::start(&catalog, &[], &[]);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let clients = runtime.block_on(async {
            let mut clients = Vec::new();
            for (wire, mode) in [("2025-11-25", ClientLifecycleMode::Initialize), ("2026-07-28", newer)] {
                let http = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
                let http = ().serve_with_lifecycle(http, mode.clone()).await.unwrap();
                let program = program(&["serve", "--stdio", &catalog]);
                let stdio = TokioChildProcess::new(tokio::process::Command::from(program)).unwrap();
                let stdio = ().serve_with_lifecycle(stdio, mode).await.unwrap();
                for (way, client) in [("HTTP", http), ("stdio", stdio)] {
                    assert_eq!(client.peer_info().unwrap().protocol_version.as_str(), wire);
                    clients.push((format!("MCP {wire} over {way}"), client));
                }
            }
            clients
        });
        Self { catalog, server, runtime, clients }
    }

    /// Runs a talk over each transport, one after the other; returns the number of transports.
    pub fn each(&self, talk: impl Fn(&dyn Fn(&str, Value) -> Value)) -> usize {
        talk(&|function, arguments| {
            let (answer, code) = on_command_line(&self.catalog, function, &arguments);
            assert_eq!(code, i32::from(answer["ok"] != true), "{answer}");
            answer
        });
        talk(&|function, arguments| self.server.post(function, arguments.to_string()).json().unwrap());
        for (_, client) in &self.clients {
            talk(&|function, arguments| {
                let arguments = arguments.as_object().unwrap().clone();
                let call = CallToolRequestParams::new(function.to_string()).with_arguments(arguments);
                enveloped(function, self.runtime.block_on(client.call_tool(call)).unwrap())
            });
        }
        2 + self.clients.len()
    }

    pub fn compare(&self, row: Row) {
        let said = Said::of(&self.catalog, &row, true);
        self.compare_with(row, said);
    }

    /// Compares all rows. The command line has a process for each, several at a time; as text it is asked once for each
    /// function.
    pub fn compare_all(&self, rows: Vec<Row>) {
        let mut known = std::collections::HashSet::new();
        let rows: Vec<(Row, bool)> =
            rows.into_iter().map(|row| (known.insert(row.0), row)).map(|(new, row)| (row, new)).collect();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let share = rows.len().div_ceil(cores);
        std::thread::scope(|scope| {
            let asking = |rows: &[(Row, bool)]| {
                rows.iter().map(|(row, is_new)| Said::of(&self.catalog, row, *is_new)).collect::<Vec<_>>()
            };
            let asked: Vec<_> = rows.chunks(share).map(|rows| scope.spawn(move || asking(rows))).collect();
            let said = asked.into_iter().flat_map(|thread| thread.join().unwrap());
            rows.iter().zip(said).for_each(|((row, _), said)| self.compare_with(row.clone(), said));
        });
    }

    fn compare_with(&self, (function, arguments, error): Row, said: Said) {
        let Said { answer, code, text } = said;
        assert_eq!(answer["error"]["code"].as_str(), error, "{arguments}: {answer}");
        let is_ok = error.is_none();
        assert_eq!((answer["ok"].as_bool(), code), (Some(is_ok), i32::from(!is_ok)), "{arguments}");
        let answer = masked(answer);
        let text = text.unwrap_or_else(|| self.in_markdown(function, &arguments));

        let http = self.server.post(function, arguments.to_string());
        let status = match error {
            None => 200,
            Some("NOT_FOUND" | "TOOL_NOT_FOUND" | "UNKNOWN_PATH" | "NO_MATCH_IN_CATEGORY") => 404,
            Some("AMBIGUOUS") => 409,
            Some("NO_BACKEND") => 501,
            Some("PERMISSION_DENIED") => 403,
            Some(_) => 400,
        };
        assert_eq!(http.status(), status, "{arguments}");
        assert_eq!(masked(http.json().unwrap()), answer, "HTTP differs for {arguments}");
        assert_eq!(self.in_markdown(function, &arguments), text, "HTTP as markdown differs for {arguments}");

        for (transport, client) in &self.clients {
            let call =
                CallToolRequestParams::new(function).with_arguments(arguments.as_object().unwrap().clone());
            let result = self.runtime.block_on(client.call_tool(call)).unwrap();
            let result = serde_json::to_value(result).unwrap();
            assert_eq!(
                result["isError"].as_bool().unwrap_or(false),
                !is_ok,
                "{transport}, {arguments}: {result}"
            );
            let is_json = serde_json::from_str::<Value>(&text).is_ok();
            let (texts, data) =
                if is_json { shortened(function, &answer) } else { (vec![text.clone()], None) };
            let blocks = result["content"].as_array().unwrap().iter();
            let told: Vec<String> =
                blocks.map(|block| masked_text(block["text"].as_str().unwrap())).collect();
            assert_eq!(told, texts, "{transport} differs for {arguments}");
            assert_eq!(result.get("structuredContent").cloned(), data, "{transport} differs for {arguments}");
            for (name, value) in answer["meta"].as_object().into_iter().flatten() {
                let kept = result["_meta"].get(format!("toolcrib/{name}")).cloned().unwrap_or(json!([]));
                let kept = if value.is_null() { Value::Null } else { masked(kept) };
                assert_eq!(&kept, value, "{transport} lacks `{name}` of {arguments}");
            }
        }
    }

    /// The answer to a client that prefers markdown.
    fn in_markdown(&self, function: &str, arguments: &Value) -> String {
        let asking = client().post(self.server.url(&format!("/v1/{function}")));
        let asking = asking.header("accept", "text/markdown").header("content-type", "application/json");
        masked_text(asking.body(arguments.to_string()).send().unwrap().text().unwrap().trim_end())
    }

    /// The answers of HTTP and of each way to speak MCP, byte for byte.
    pub fn tell(&self, function: &'static str, arguments: &Value) -> Vec<String> {
        let http = self.server.post(function, arguments.to_string()).text().unwrap();
        let call = |client: &RunningService<RoleClient, ()>| {
            let call =
                CallToolRequestParams::new(function).with_arguments(arguments.as_object().unwrap().clone());
            let result = self.runtime.block_on(client.call_tool(call)).unwrap();
            serde_json::to_string(&result).unwrap()
        };
        let mcp = self.clients.iter().map(|(_, client)| call(client));
        mcp.chain([http, self.in_markdown(function, arguments)]).collect()
    }

    pub fn close(self) {
        for (_, client) in self.clients {
            let _ = self.runtime.block_on(client.cancel());
        }
        self.runtime.shutdown_background();
    }
}

#[test]
#[ignore = "slow"]
fn every_transport_gives_the_same_answer() {
    let transports = Transports::open(github());
    transports.compare_all(table().into_iter().chain(picks()).collect());
    transports.close();
}

#[test]
fn every_transport_runs_the_same_calls() {
    let folder = fixture::folder(&[("tools.json", crate::exec::TOOLS)]);
    let transports = Transports::open(fixture::text(folder.path()).to_string());
    let task = json!({"project_id": "p", "title": "Buy nails"});
    for row in [
        ("tool_exec", json!({"op": "tasks", "args": {"stateKey": "To do"}}), None),
        ("tool_exec", json!({"op": "create_task", "args": task, "dry_run": true}), None),
        ("tool_exec", json!({"op": "create_task", "args": task}), Some("PERMISSION_DENIED")),
        (
            "tool_batch",
            json!({"calls": [
                {"function": "tool_exec", "input": {"op": "tasks", "args": {}}},
                {"function": "tool_exec", "input": {"op": "open_note", "args": {"note_id": {"$from": "0.result.tasks[0].id"}}}},
                {"function": "tool_exec", "input": {"op": "create_task", "args": {}}},
            ]}),
            None,
        ),
        ("tool_batch", json!({"calls": []}), Some("VALIDATION_ERROR")),
    ] {
        transports.compare(row);
    }
    transports.close();
}

#[test]
fn every_transport_asks_which_of_two_tools_is_meant() {
    let folder = fixture::folder(&[("tools.json", TWO_SERVERS)]);
    let transports = Transports::open(fixture::text(folder.path()).to_string());
    table_of_two_servers().into_iter().for_each(|row| transports.compare(row));
    let answer = transports.server.get("/tools/search", &[("accept", "application/json")]);
    assert_eq!(answer.status(), 409);
    let problem: Value = answer.json().unwrap();
    assert_eq!(problem["error"]["nearest"], json!(["alpha__search", "beta__search"]), "{problem}");
    let page = transports.server.get("/tools/search", &[("accept", "text/html")]);
    assert_eq!(page.status(), 409);
    let page = page.text().unwrap();
    for tool in ["alpha__search", "beta__search"] {
        assert!(page.contains(&format!("../tools/{tool}.html")), "{page}");
    }
    transports.close();
}
