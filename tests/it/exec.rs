//! Calls of tools through `tool_exec` and its like: what is run, what is refused, and what the refusals teach.

mod approvals;
mod arguments;
mod batch;
mod buildos;
mod composites;
mod corrected;
mod damage;
mod errors;
mod frozen;
mod gates;
pub mod idempotency;
mod own_functions;
mod results;
mod session;
mod steps;
mod unreadable;

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolcrib::exec::Caller;
use toolcrib::functions::{CatalogView, Function, FunctionContext, Services};
use toolcrib::render::Templates;
use toolcrib::state::StateStore;

use crate::fixture;

/// Tools that answer with what stands here.
pub const TOOLS: &str = r#"[
  {"name": "list_tasks", "op": "onto.task.list", "aliases": ["tasks"], "effect": "read", "description": "List tasks.",
   "parameters": {"type": "object", "properties": {"project_id": {"type": "string"}, "state_key": {"enum": ["to_do", "in_progress", "done"]}, "limit": {"type": "integer", "minimum": 1}}, "additionalProperties": false},
   "backend": {"type": "static", "content": {"tasks": [{"id": "task_1"}, {"id": "task_2"}]}}},
  {"name": "create_task", "op": "onto.task.create", "effect": "write", "description": "Create a task.",
   "parameters": {"type": "object", "properties": {"project_id": {"type": "string"}, "title": {"type": "string", "minLength": 3}, "state_key": {"enum": ["to_do", "in_progress", "done"]}, "api_token": {"type": "string", "minLength": 20}, "place": {"type": "object", "properties": {"room_no": {"type": "integer"}}, "additionalProperties": false}}, "required": ["project_id", "title"], "additionalProperties": false},
   "examples": [{"arguments": {"project_id": "proj_atlas", "title": "Draft pricing"}}],
   "backend": {"type": "static", "content": {"id": "task_9"}}},
  {"name": "delete_task", "op": "onto.task.delete", "effect": "destructive", "description": "Delete a task.",
   "parameters": {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"], "additionalProperties": false},
   "backend": {"type": "static", "content": "gone"}},
  {"name": "open_note", "op": "onto.note.get", "effect": "read", "description": "Open a note.",
   "parameters": {"type": "object", "properties": {"note_id": {"type": "string"}, "args": {"type": "string"}}},
   "backend": {"type": "static", "content": "a note"}},
  {"name": "reorganize", "op": "onto.project.reorganize", "effect": "write", "dry_run": true, "description": "Reorganize it all.",
   "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
   "backend": {"type": "static", "content": "done"}},
  {"name": "pay", "op": "util.pay", "effect": "write", "approval": true, "description": "Pay somebody.",
   "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}, "password": {"type": "string"}}, "required": ["amount"], "additionalProperties": false},
   "backend": {"type": "static", "content": "paid"}},
  {"name": "free_read", "op": "util.free.read", "effect": "read", "description": "Read freely.", "allow_no_schema": true, "no_schema_mode": "read-only",
   "backend": {"type": "static", "content": 1}},
  {"name": "free_write", "op": "util.free.write", "effect": "write", "description": "Write freely.", "allow_no_schema": true, "no_schema_mode": "read-only",
   "backend": {"type": "static", "content": 2}},
  {"name": "free_full", "op": "util.free.full", "effect": "write", "description": "Do freely.", "allow_no_schema": true, "no_schema_mode": "full",
   "backend": {"type": "static", "content": 3}},
  {"name": "free_ask", "op": "util.free.ask", "effect": "write", "description": "Do it when asked.", "allow_no_schema": true, "no_schema_mode": "human-approval",
   "backend": {"type": "static", "content": 4}},
  {"name": "open_project", "op": "onto.project.open", "effect": "read", "context_shift": "/project", "description": "Open a project.",
   "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
   "backend": {"type": "static", "content": {"project": {"id": "proj_atlas"}}}},
  {"name": "elsewhere", "op": "util.elsewhere", "effect": "write", "description": "Run by somebody else.",
   "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}},
  {"name": "search_ours", "op": "util.search", "effect": "read", "description": "Search tools as a tool.",
   "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
   "backend": {"type": "builtin", "function": "tool_search"}},
  {"name": "loop_ours", "op": "util.loop", "effect": "read", "description": "A tool that calls tools.",
   "parameters": {"type": "object", "properties": {"op": {"type": "string"}}},
   "backend": {"type": "builtin", "function": "tool_exec"}},
  {"name": "admins_only", "op": "admin.wipe", "effect": "read", "description": "For admins.", "allowed_roles": ["admin"], "when_forbidden": "visible",
   "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": 1}},
  {"name": "hidden_tool", "op": "admin.hide", "effect": "read", "description": "Hidden.", "allowed_roles": ["admin"],
   "parameters": {"type": "object", "properties": {}}, "backend": {"type": "static", "content": 1}}
]"#;

/// A catalog whose functions can be called.
pub struct Bench {
    pub context: FunctionContext,
    pub state: Arc<StateStore>,
    runtime: Runtime,
    _folder: TempDir,
}

impl Bench {
    /// [`TOOLS`] with this configuration, for a caller with these roles.
    pub fn new(config: &str) -> Self {
        Self::of(TOOLS, config, None)
    }

    pub fn of(tools: &str, config: &str, roles: Option<&[String]>) -> Self {
        let folder = fixture::folder(&[("tools.json", tools), ("toolcrib.toml", config)]);
        Self::at(folder, roles, Arc::new(StateStore::in_memory()))
    }

    pub fn at(folder: TempDir, roles: Option<&[String]>, state: Arc<StateStore>) -> Self {
        let checked = fixture::open(folder.path());
        assert!(!checked.lost_input(), "{:#?}", checked.findings);
        let profile = checked.catalog.config.profiles.keys().next().cloned();
        let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
        let view = CatalogView::new(&checked.catalog, profile.as_deref(), roles, templates).unwrap();
        let backends = toolcrib::exec::backend::Backends::new(folder.path(), environment());
        let services = Services { state: Arc::clone(&state), backends, ..Services::default() };
        let caller = Arc::new(Caller { roles: roles.map(<[String]>::to_vec), ..Caller::default() });
        let context =
            FunctionContext { services: Arc::new(services), caller, ..FunctionContext::of(Arc::new(view)) };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { context, state, runtime, _folder: folder }
    }

    /// The same for a caller in a session.
    pub fn in_session(mut self, id: &str) -> Self {
        self.context = self.session(id);
        self
    }

    pub fn session(&self, id: &str) -> FunctionContext {
        let caller = Caller { session: Some(Arc::from(id)), ..(*self.context.caller).clone() };
        FunctionContext { caller: Arc::new(caller), ..self.context.clone() }
    }

    pub fn call(&self, function: &str, input: Value) -> Value {
        self.call_in(&self.context, function, input)
    }

    pub fn call_in(&self, context: &FunctionContext, function: &str, input: Value) -> Value {
        let function = Function::named(function).unwrap();
        // Each call is a request of its own.
        let context = &FunctionContext { trace: Default::default(), ..context.clone() };
        let answer = self.runtime.block_on(function.call(context, input));
        let body = Value::Object(answer.body());
        assert_eq!(body["ok"], answer.is_ok(), "{body}");
        assert_eq!(body["error"]["code"].as_str(), answer.error().map(|code| code.as_str()), "{body}");
        body
    }

    pub fn exec(&self, input: Value) -> Value {
        let answer = self.call("tool_exec", input);
        check(&answer);
        answer
    }

    /// A call of an op.
    pub fn run(&self, op: &str, args: Value) -> Value {
        self.exec(json!({"op": op, "args": args}))
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

fn environment() -> toolcrib::mcp::Environment {
    Default::default()
}

/// Checks the fields of every envelope.
#[track_caller]
pub fn check(answer: &Value) {
    assert!(answer["op"].is_string(), "{answer}");
    let meta = &answer["meta"];
    assert!(meta["trace_id"].as_str().unwrap().starts_with("tr_"), "{answer}");
    assert!(meta["latency_ms"].is_number() && meta["warnings"].is_array(), "{answer}");
    assert!(meta["registry_version"].is_string(), "{answer}");
    if answer["ok"] == true {
        assert!(answer.get("result").is_some() && answer.get("error").is_none(), "{answer}");
        return;
    }
    let error = &answer["error"];
    for field in ["code", "message", "help_path", "next_action"] {
        assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {answer}");
    }
    assert!(error["details"]["field_errors"].is_array(), "{answer}");
}

#[track_caller]
pub fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[track_caller]
pub fn warned(answer: &Value, words: &str) {
    let warnings = answer["meta"]["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|one| one.as_str().unwrap().contains(words)), "{words}: {answer}");
}

pub const WRITES: &str = "[exec]\nallow = \"destructive\"\n";

#[test]
fn every_name_of_a_tool_runs_it() {
    let bench = Bench::new("");
    for name in ["onto.task.list", "list_tasks", "tasks", " onto.task.list "] {
        let answer = bench.run(name, json!({}));
        assert_eq!((&answer["op"], &answer["ok"]), (&json!("onto.task.list"), &json!(true)), "{answer}");
        assert_eq!(answer["result"]["tasks"][1]["id"], "task_2");
        assert_eq!(answer["meta"]["warnings"], json!([]));
    }
}
