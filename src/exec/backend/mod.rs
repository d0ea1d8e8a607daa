//! What runs a tool: one file for each kind of backend. A call that comes here has been checked, and may be run.

use std::time::Duration;

use serde_json::Value;

use super::Caller;
use crate::catalog::Tool;
use crate::config::Config;
use crate::tool::Backend;

/// A call that has passed, on its way to a backend.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    /// The tool.
    pub tool: &'o Tool,
    /// What runs it.
    pub backend: &'o Backend,
    /// Where servers are configured.
    pub config: &'o Config,
    /// The arguments, as the canonical schema wants them.
    pub arguments: &'o Value,
    /// Who calls.
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// What the answer is known by.
    pub trace_id: &'o str,
    /// How long it may take.
    pub time: Duration,
}

/// What a backend answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The result: JSON where it was JSON, else text.
    pub content: Value,
    /// What the caller should know of how it came about.
    pub warnings: Vec<String>,
}

/// Why a backend has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of thing.
    pub kind: FaultKind,
    /// In one line, without secrets or addresses.
    pub message: String,
    /// What the backend said: a status, a body. Cut where it is long.
    pub detail: Option<Value>,
    /// What the caller can do.
    pub next_action: String,
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing says how to reach what runs the tool, or something it needs is missing here.
    Unconfigured,
    /// The caller has not brought what the backend needs, such as a token.
    Missing,
    /// It was not reached: nothing was run.
    NotSent,
    /// It answered, with an error.
    Failed,
    /// It was asked, and there is no answer: it may have been run.
    Lost,
    /// It was asked, and did not answer in time: it may have been run.
    TimedOut,
}
