//! One line of a trace: what a caller searched, read, expanded or called, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::Effect;

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its number; given when it is written.
    pub id: i64,
    /// When, in milliseconds of Unix time; now, where it is zero when the event is recorded.
    pub at: i64,
    /// What the answer is known by.
    pub trace_id: String,
    /// Who asked; empty where everybody may come in.
    pub caller: String,
    /// In which session.
    pub session: Option<String>,
    /// What kind of thing.
    pub kind: EventKind,
    /// The function that was called.
    pub function: String,
    /// The op that it was about.
    pub op: Option<String>,
    /// The tool behind it.
    pub tool: Option<String>,
    /// What was given, without what is secret: the query, the arguments.
    pub input: Value,
    /// The ops that were found, best first.
    pub found: Vec<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// What the error says.
    pub error: Option<String>,
    /// Whether the arguments were checked; for calls (CALL-3).
    pub validated: Option<bool>,
    /// How far a call without a schema might go.
    pub no_schema_mode: Option<String>,
    /// How far the tool may reach; for calls.
    pub effect: Option<Effect>,
    /// Whether nothing was run on purpose.
    pub dry_run: bool,
    /// How long it took, in microseconds.
    pub latency_us: i64,
    /// What else there is to say, such as the version of a doc or the new context.
    pub detail: Value,
}

/// The longest that an error may say, in bytes.
const ERROR: usize = 2 << 10;

impl Event {
    /// As it is written: with the time, and no longer than it may be.
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

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Tools were looked for.
    Search,
    /// A doc or help was read.
    Read,
    /// A tool was expanded.
    Expand,
    /// A tool was called.
    #[default]
    Call,
    /// A result changed what the session is about.
    ContextShift,
    /// A person was asked, or has decided.
    Approval,
}

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Of this session; of all when there is none.
    pub session: Option<String>,
    /// Of this caller; of all when there is none.
    pub caller: Option<String>,
    /// Those with a larger number.
    pub after: i64,
    /// At most so many; all when it is zero.
    pub limit: usize,
}

impl EventQuery {
    /// How many, as databases count.
    pub(super) fn rows(&self) -> i64 {
        i64::try_from(self.limit).ok().filter(|limit| *limit > 0).unwrap_or(i64::MAX)
    }
}

/// A session that something happened in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Whose; empty where everybody may come in.
    pub caller: String,
    /// As the caller calls it.
    pub session: String,
    /// When it began, in milliseconds of Unix time.
    pub since: i64,
    /// When something happened last.
    pub until: i64,
    /// How many events there are.
    pub events: u64,
    /// How many of them are calls of tools.
    pub calls: u64,
    /// How many calls failed.
    pub failed: u64,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 6] = [
        EventKind::Search,
        EventKind::Read,
        EventKind::Expand,
        EventKind::Call,
        EventKind::ContextShift,
        EventKind::Approval,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Search => "search",
            EventKind::Read => "read",
            EventKind::Expand => "expand",
            EventKind::Call => "call",
            EventKind::ContextShift => "context_shift",
            EventKind::Approval => "approval",
        }
    }

    /// The kind that is written so.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}
