//! One line of a trace: what a caller searched, read, expanded or called, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its number; given when it is written.
    pub id: i64,
    /// When, in milliseconds of Unix time.
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
    /// Whether the arguments were checked; for calls (CALL-3).
    pub validated: Option<bool>,
    /// How far a call without a schema might go.
    pub no_schema_mode: Option<String>,
    /// Whether nothing was run on purpose.
    pub dry_run: bool,
    /// How long it took, in microseconds.
    pub latency_us: i64,
    /// What else there is to say, such as the version of a doc or the new context.
    pub detail: Value,
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
pub struct Events {
    /// Of this session; of all when there is none.
    pub session: Option<String>,
    /// Of this caller; of all when there is none.
    pub caller: Option<String>,
    /// Those with a larger number.
    pub after: i64,
    /// At most so many.
    pub limit: usize,
}
