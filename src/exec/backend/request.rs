//! Requests to backends, and their responses.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::Value;

use crate::catalog::Tool;
use crate::config::Config;
use crate::exec::Caller;
use crate::secret::Policy as Secrets;
use crate::tool::Backend;

/// A call that has passed, on its way to a backend.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest<'o> {
    /// The tool.
    pub tool: &'o Tool,
    /// The backend that runs it.
    pub backend: &'o Backend,
    /// The configuration, with its servers.
    pub config: &'o Config,
    /// The arguments, as the canonical schema wants them.
    pub arguments: &'o Value,
    /// The caller.
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// The longest time that it may take.
    pub timeout: Duration,
    /// Marked before anything leaves.
    pub begun: &'o Begun,
}

/// Whether something may have left for what runs a call.
#[derive(Debug, Default)]
pub struct Begun(AtomicBool);

impl Begun {
    /// From now on it may have.
    pub fn mark(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it may have.
    pub fn is_marked(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The answer of a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendResponse {
    /// The result: JSON where it was JSON, else text.
    pub content: Value,
    /// Warnings to the caller about how it came about.
    pub warnings: Vec<String>,
}

impl BackendRequest<'_> {
    pub(super) fn secrets(&self) -> Secrets<'_> {
        Secrets::new(&self.config.state.redact)
    }

    /// The arguments without secrets.
    pub(super) fn shown(&self) -> Value {
        self.secrets().shown(self.tool.parameters.schema(), self.arguments)
    }
}

impl BackendResponse {
    pub(in crate::exec) fn new(content: Value) -> Self {
        Self { content, warnings: Vec::new() }
    }
}
