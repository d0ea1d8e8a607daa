//! Requests to backends, and their responses.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::Value;

use super::mcp_answer::McpAnswer;
use crate::catalog::Tool;
use crate::config::Config;
use crate::exec::Caller;
use crate::secret::SecretPolicy;
use crate::tool::Backend;

/// An admitted call, for its backend.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest<'o> {
    /// The tool.
    pub tool: &'o Tool,
    /// The backend that runs it.
    pub backend: &'o Backend,
    /// The configuration, with its servers.
    pub config: &'o Config,
    /// The arguments, valid by the canonical schema.
    pub arguments: &'o Value,
    /// The caller.
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// The timeout.
    pub timeout: Duration,
    /// Marked before anything is sent.
    pub begun: &'o Begun,
}

/// Whether a call may have been sent to its backend.
#[derive(Debug, Default)]
pub struct Begun(AtomicBool);

impl Begun {
    /// Marks the call, before it is sent.
    pub fn mark(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the call may have been sent.
    pub fn is_marked(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The answer of a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendResponse {
    /// The result: JSON, or text where it was no JSON.
    pub content: Value,
    /// Warnings to the caller, such as a cut.
    pub warnings: Vec<String>,
    /// The answer of an MCP server as it came.
    pub original: Option<McpAnswer>,
}

impl BackendRequest<'_> {
    pub(super) fn secrets(&self) -> SecretPolicy<'_> {
        SecretPolicy::new(&self.config.state.redact)
    }

    /// The arguments without secrets.
    pub(super) fn redacted(&self) -> Value {
        self.secrets().redacted(self.tool.parameters.schema(), self.arguments)
    }
}

impl BackendResponse {
    pub(in crate::exec) fn new(content: Value) -> Self {
        Self { content, warnings: Vec::new(), original: None }
    }
}
