//! Tasks: what somebody wants, and the calls that solve it. A file has one task a line, as JSON; a recorded session is a
//! task of the calls that ran well.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolcrib::Effect;
use toolcrib::catalog::{self, Catalog, Resolved, Tool};
use toolcrib::config;
use toolcrib::state::{Event, EventKind, EventQuery, every_event, open};

use crate::Result;

/// What somebody wants, in words, and the calls that solve it, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Task {
    pub task: String,
    pub calls: Vec<TaskCall>,
}

/// A call of a task. Without a recorded result it returns `{"ok":true}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskCall {
    pub name: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
    #[serde(default)]
    pub result: Option<Value>,
}

/// Reads a file of tasks.
pub fn read(path: &Path) -> Result<Vec<Task>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let task = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let form = r#"{"task": "...", "calls": [{"name": "...", "arguments": {...}}]}"#;
            format!("{shown}:{}: not a task: {error}\n  help: a task is {form}", index + 1).into()
        })
    };
    lines.map(task).collect()
}

/// Every event of a state file, or of a `postgres://` address.
pub async fn events(state: &str) -> Result<Vec<Event>> {
    let is_file = !state.contains("://");
    if is_file && !Path::new(state).exists() {
        return Err(format!("there is no state at {state}").into());
    }
    #[expect(clippy::disallowed_methods, reason = "this is the command line")]
    let state = open(Some(state), 1, Path::new(""), |name| std::env::var(name).ok())?;
    Ok(every_event(&state, EventQuery::default()).await?)
}

/// One task for each session with a call that ran well. Results are not recorded.
pub fn recorded(events: &[Event]) -> Vec<Task> {
    let mut sessions: IndexMap<(&str, &str), Task> = IndexMap::new();
    for event in events {
        let Some(session) = &event.session else { continue };
        let task = sessions.entry((&event.caller, session)).or_default();
        if let (true, EventKind::Search, Value::String(query)) =
            (task.task.is_empty(), event.kind, &event.input)
        {
            task.task.clone_from(query);
        }
        task.calls.extend(call_of(event));
    }
    sessions.into_values().filter(|task| !task.calls.is_empty()).collect()
}

/// The call of an event, if the agent made it and it ran well.
fn call_of(event: &Event) -> Option<TaskCall> {
    let is_step = event.detail.get("step_of").is_some();
    if event.kind != EventKind::Call || event.outcome != "ok" || event.dry_run || is_step {
        return None;
    }
    let name = event.tool.clone().or_else(|| event.op.clone())?;
    let arguments = event.input.as_object().cloned().unwrap_or_default();
    Some(TaskCall { name, arguments, result: None })
}

/// Opens a catalog whose tools all return `{"ok":true}`, and may all be called.
pub fn catalog(path: &Path) -> Result<Catalog> {
    if !path.exists() {
        return Err(format!("there is no catalog at {}", path.display()).into());
    }
    let mut workspace = config::read(path);
    let overlay = json!({
        "match": "*", "backend": { "type": "static", "content": { "ok": true } }, "approval": false, "dry_run": false,
    });
    workspace.overlays.push(serde_json::from_value(overlay)?);
    workspace.config.exec.allow = Some(Effect::Destructive);
    Ok(catalog::open(workspace).catalog)
}

/// A catalog of `size` tools: those of the tasks at any size, then others of the catalog, then tools of other catalogs, in
/// turn from each. A tool whose name is taken stays out.
pub fn resized(catalog: &Catalog, others: &[Catalog], tasks: &[Task], size: usize) -> Catalog {
    let names = |tool: &Tool| [tool.names.canonical.clone(), tool.names.safe.clone(), tool.names.op.clone()];
    let calls = tasks.iter().flat_map(|task| &task.calls);
    let needed: HashSet<&str> = calls.filter_map(|call| name_of(catalog, &call.name)).collect();
    let mut room = size.saturating_sub(needed.len());
    let mut tools = catalog.tools.clone();
    tools.retain(|tool| {
        let is_needed = needed.contains(tool.names.canonical.as_str());
        let is_taken = is_needed || room > 0;
        room -= usize::from(is_taken && !is_needed);
        is_taken
    });
    let mut taken: HashSet<String> = catalog.tools.iter().flat_map(|tool| names(tool)).collect();
    let longest = others.iter().map(|other| other.tools.len()).max().unwrap_or(0);
    let in_turn =
        (0..longest).flat_map(|index| others.iter().filter_map(move |other| other.tools.get(index)));
    for tool in in_turn.take_while(|_| size > catalog.tools.len()) {
        if tools.len() < size && names(tool).iter().all(|name| !taken.contains(name)) {
            taken.extend(names(tool));
            tools.push(Arc::clone(tool));
        }
    }
    catalog.with_tools(tools)
}

/// The canonical name of a tool.
pub fn name_of<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c str> {
    match catalog.resolve(name) {
        Resolved::Tool(tool) => Some(tool.names.canonical.as_str()),
        _ => None,
    }
}
