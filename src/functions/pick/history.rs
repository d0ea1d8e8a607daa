//! The tools that were tried before a pick, as the caller or its session's trace has them, and the question before.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::functions::{ErrorCode, Function, FunctionContext};
use crate::search::pick::{Input, Tried};
use crate::state::{Event, EventKind, EventQuery};
use crate::tool::clean_line;

/// Newest events of a session that are read.
const MAX_EVENTS: usize = 200;
/// Longest wait for the session's last events to be written.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most characters of an outcome in the caller's words.
const MAX_CHARS: usize = 100;

/// A tool that the caller has tried.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum GivenTry {
    /// By any of its names.
    Name(String),
    /// With its outcome.
    Outcome {
        /// Any of its names.
        tool: String,
        /// `ok`, the code of an error, or other words.
        outcome: Option<String>,
    },
}

impl FunctionContext {
    /// The tools that the caller says were tried, and the names that no tool here has.
    pub fn given_tries(&self, given: &[GivenTry]) -> (Vec<Tried>, Vec<String>) {
        let (mut tried, mut unknown) = (Vec::new(), Vec::new());
        for given in given {
            let (name, outcome) = match given {
                GivenTry::Name(name) => (name, None),
                GivenTry::Outcome { tool, outcome } => (tool, outcome.as_deref()),
            };
            let place = self.view.resolve(name.trim()).ok();
            match place.and_then(|place| self.view.catalog().tools.get(place)) {
                Some(tool) => tried.push(given_try(tool.name.clone(), outcome)),
                None => unknown.push(clean_line(name).chars().take(MAX_CHARS).collect()),
            }
        }
        // The last word on a tool counts.
        tried.reverse();
        (tried, unknown)
    }

    /// The tools that were tried, those of the session included, and the session's question before this one, unless
    /// its job is done.
    pub(super) async fn with_session(
        &self,
        mut tried: Vec<Tried>,
        input: &Value,
    ) -> (Vec<Tried>, Option<String>) {
        let Some(session) = self.caller.chosen_session() else { return (tried, None) };
        let state = &self.services.state;
        let wanted = EventQuery { limit: MAX_EVENTS, newest_first: true, ..EventQuery::of(&session) };
        // The last calls may still be on their way to the trace. A trace that cannot be read prevents no pick.
        let _ = tokio::time::timeout(PATIENCE, state.flush()).await;
        let events = state.events(&wanted).await.unwrap_or_default();
        for event in events.iter().filter(|event| event.kind == EventKind::Call) {
            let tool = event.tool.as_deref().filter(|name| self.view.catalog().position(name).is_some());
            if let Some(tool) = tool.filter(|name| !tried.iter().any(|known| known.tool == *name))
                && !event.dry_run
            {
                let (tool, outcome) = (tool.to_string(), event.outcome.clone());
                let goes_down = code(&outcome).is_some_and(is_lasting) && !may_be_the_arguments(event);
                tried.push(Tried { tool, outcome: Some(outcome), goes_down });
            }
        }
        (tried, question_before(&events, Input::new(input.clone()).text()))
    }
}

fn given_try(tool: String, outcome: Option<&str>) -> Tried {
    let outcome: Option<String> = outcome.map(|words| clean_line(words).chars().take(MAX_CHARS).collect());
    let outcome = outcome.map(|words| words.trim().to_string()).filter(|words| !words.is_empty());
    let goes_down = match outcome.as_deref() {
        Some("ok") => false,
        Some(word) => code(word).is_none_or(|code| rules_out(code) || is_lasting(code)),
        None => true,
    };
    Tried { tool, outcome, goes_down }
}

/// Whether other arguments may go better: the backend has answered, and not that it is broken.
fn may_be_the_arguments(event: &Event) -> bool {
    let status = event.detail.get("status").and_then(Value::as_u64);
    event.outcome == ErrorCode::BackendError.as_str()
        && event.detail.get("source").is_some()
        && status.is_none_or(|status| status < 500)
}

fn code(word: &str) -> Option<ErrorCode> {
    ErrorCode::ALL.iter().copied().find(|code| code.as_str() == word)
}

/// Whether a caller says with this code that the tool cannot be used. In a trace, the first is said of a thing that the
/// backend does not have, and the second of a call that the host runs itself.
fn rules_out(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::NoBackend)
}

/// Whether another try would get the same error, whatever its arguments.
fn is_lasting(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ToolNotFound
            | ErrorCode::NotAuthorized
            | ErrorCode::PermissionDenied
            | ErrorCode::BackendError
            | ErrorCode::Internal
    )
}

/// The last other question of the session, unless a tool that it found has since been called and was ok. `events` are
/// newest first.
fn question_before(events: &[Event], text: &str) -> Option<String> {
    let mut done: HashSet<&str> = HashSet::new();
    for event in events.iter().filter(|event| event.outcome == "ok") {
        match event.kind {
            EventKind::Call if !event.dry_run => done.extend(event.op.as_deref()),
            EventKind::Search => {
                let Some(question) = question(event).filter(|question| question != text) else { continue };
                let is_done = event.found.iter().any(|op| done.contains(op.as_str()));
                return (!is_done).then_some(question);
            }
            _ => {}
        }
    }
    None
}

/// The one question of a pick or a search.
fn question(event: &Event) -> Option<String> {
    let asked = match &event.input {
        Value::String(query) if event.function == Function::tool_search().name() => {
            return Some(query.clone());
        }
        Value::Object(fields) if event.function == "pick" => fields.get("input")?,
        Value::Object(fields) if event.function == Function::tool_search().name() => fields.get("query")?,
        _ => return None,
    };
    let text = Input::new(asked.clone()).text().to_string();
    (!text.is_empty()).then_some(text)
}
