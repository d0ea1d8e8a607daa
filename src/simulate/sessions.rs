//! Tasks from recorded sessions: a session is one task, with its calls that ran well, in order.
//!
//! A trace has no results: such a call returns the stub. Secrets are redacted and long texts cut; a value is played as it
//! was recorded.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Task, TaskCall};
use crate::secret::REDACTED;
use crate::state::{Event, EventKind};
use crate::tool::clean_line;

/// Tasks of recorded sessions, and counts of what has become no task.
#[derive(Debug, Default)]
pub struct Recorded {
    pub tasks: Vec<Task>,
    /// Sessions without a call that ran well.
    pub idle: usize,
    /// Calls that ran well outside of any session.
    pub alone: usize,
    /// Calls with a redacted value among their arguments.
    pub redacted: usize,
    /// Names of all tools that were called, also those of failed calls and of steps.
    pub called: BTreeSet<String>,
}

impl Recorded {
    /// The tasks of these events, in the order of their first ones.
    pub fn of(events: &[Event]) -> Self {
        let mut recorded = Self::default();
        let mut sessions: IndexMap<(&str, &str), Task> = IndexMap::new();
        for event in events {
            let call = call_of(event);
            recorded.called.extend((event.kind == EventKind::Call).then(|| event.tool.clone()).flatten());
            let Some(session) = &event.session else {
                recorded.alone += usize::from(call.is_some());
                continue;
            };
            let task = sessions.entry((&event.caller, session)).or_default();
            if let (true, EventKind::Search, Value::String(query)) =
                (task.task.is_empty(), event.kind, &event.input)
            {
                task.task = clean_line(query);
            }
            if let Some(call) = call {
                let has_redacted = call.arguments.values().any(|value| value.to_string().contains(REDACTED));
                recorded.redacted += usize::from(has_redacted);
                task.calls.push(call);
            }
        }
        let all = sessions.len();
        recorded.tasks = sessions.into_values().filter(|task| !task.calls.is_empty()).collect();
        recorded.idle = all - recorded.tasks.len();
        recorded
    }

    /// The assumptions, for people.
    pub fn note(&self) -> String {
        let Self { tasks, idle, alone, redacted, .. } = self;
        let mut parts = vec![format!("{} sessions are tasks", tasks.len())];
        let mut say = |count: usize, text: &str| parts.extend((count > 0).then(|| format!("{count} {text}")));
        say(*idle, "sessions have no call that ran well");
        say(*alone, "calls outside of sessions are left out");
        say(*redacted, "calls are played with redacted values");
        format!("{}; results are not recorded: a call returns {}", parts.join(", "), super::STUB)
    }
}

/// The call of an event, if it is one that the agent made and that ran well.
fn call_of(event: &Event) -> Option<TaskCall> {
    let is_step = event.detail.get("step_of").is_some();
    if event.kind != EventKind::Call || event.outcome != "ok" || event.dry_run || is_step {
        return None;
    }
    let name = event.tool.clone().or_else(|| event.op.clone())?;
    let arguments = event.input.as_object().cloned().unwrap_or_else(Map::new);
    Some(TaskCall { name, arguments, result: None })
}
