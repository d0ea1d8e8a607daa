//! One line of a trace: a search, a doc that was read, a tool that was expanded or called, and the outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;

use super::{Session, StateError, StateStore};
use crate::tool::Effect;

/// One event of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its number; assigned when it is written.
    pub id: i64,
    /// Time in milliseconds of Unix time; zero is replaced by the current time when the event is recorded.
    pub at: i64,
    /// Id of the answer.
    pub trace_id: String,
    /// The caller; empty where everybody may come in.
    pub caller: String,
    /// The session.
    pub session: Option<String>,
    /// Kind of the event.
    pub kind: EventKind,
    /// The function that was called.
    pub function: String,
    /// The op.
    pub op: Option<String>,
    /// The tool of the op.
    pub tool: Option<String>,
    /// The query or the arguments, with secrets redacted.
    pub input: Value,
    /// The ops that were found, best first.
    pub found: Vec<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// Message of the error.
    pub error: Option<String>,
    /// The profile of the caller; for calls.
    pub profile: Option<String>,
    /// Version of the catalog that the caller saw; for calls.
    pub registry_version: Option<String>,
    /// Version of the tool's doc; for calls.
    pub doc_version: Option<String>,
    /// Whether the arguments were checked; for calls.
    pub validated: Option<bool>,
    /// No-schema mode of a call without a schema.
    pub no_schema_mode: Option<String>,
    /// Effect of the tool; for calls.
    pub effect: Option<Effect>,
    /// Whether nothing was run on purpose.
    pub dry_run: bool,
    /// Duration in microseconds.
    pub latency_us: i64,
    /// Further data, such as the version of a doc or the new context.
    pub detail: Value,
}

/// Longest message of an error, in bytes.
const ERROR: usize = 2 << 10;

impl Event {
    /// The event as it is written: with the time, and with long texts cut.
    pub(super) fn stamped(mut self) -> Self {
        if self.at == 0 {
            self.at = super::now();
        }
        if let Some(error) = &mut self.error {
            error.truncate(error.floor_char_boundary(ERROR));
        }
        self
    }
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A search for tools.
    Search,
    /// A doc or help was read.
    Read,
    /// A tool was expanded.
    Expand,
    /// A tool was called.
    #[default]
    Call,
    /// A result changed the session's context.
    ContextShift,
    /// A person was asked, or has decided.
    Approval,
}

/// Filter of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Session; any when absent.
    pub session: Option<String>,
    /// Caller; any when absent.
    pub caller: Option<String>,
    /// Least number, exclusive.
    pub after: i64,
    /// The number of events to leave out, the first in the order.
    pub skip: i64,
    /// Most events; all when zero.
    pub limit: usize,
    /// Whether the newest come first, so that a limit leaves the oldest out.
    pub newest_first: bool,
}

impl EventQuery {
    /// The events of a session.
    pub fn of(session: &Session) -> Self {
        let (session, caller) = (Some(session.id.to_string()), Some(session.caller.to_string()));
        Self { session, caller, ..Self::default() }
    }
}

/// Events read at a time: bounds the answers of a database.
const PAGE: usize = 1_000;

/// All events of a query, whatever its limit.
pub async fn every_event(state: &StateStore, mut wanted: EventQuery) -> Result<Vec<Event>, StateError> {
    let mut events = Vec::new();
    wanted.limit = PAGE;
    loop {
        let page = state.events(&wanted).await?;
        let is_last = page.len() < PAGE;
        wanted.after = page.last().map_or(wanted.after, |event| event.id);
        events.extend(page);
        if is_last {
            return Ok(events);
        }
    }
}

/// A session with events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The caller; empty where everybody may come in.
    pub caller: String,
    /// Name of the session, chosen by the caller.
    pub session: String,
    /// Time of its first event, in milliseconds of Unix time.
    pub since: i64,
    /// Time of its last event.
    pub until: i64,
    /// Number of events.
    pub events: u64,
    /// Number of calls of tools.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
}

impl EventKind {
    /// Every kind.
    pub const ALL: &[EventKind] = Self::VARIANTS;

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
