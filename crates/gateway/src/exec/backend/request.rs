//! The request of an admitted call for its backend, and the response.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::Value;

use super::mcp_answer::McpAnswer;
use crate::caller::Caller;
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::Config;
use toolcrib_definition::Backend;
use toolcrib_definition::document::{MAX_OTHERS_VALUES, has_too_many_values};
use toolcrib_definition::secret::SecretPolicy;

/// An admitted call, for its backend.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest<'o> {
    pub tool: &'o Tool,
    /// The backend that runs it.
    pub backend: &'o Backend,
    /// The configuration, with its servers.
    pub config: &'o Config,
    /// The arguments, valid by the canonical schema.
    pub arguments: &'o Value,
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// Longest silence of the backend, unless its server or program has a limit of its own.
    pub longest_silence: Duration,
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
    /// The unchanged answer of an MCP server.
    pub original: Option<McpAnswer>,
}

impl BackendRequest<'_> {
    pub(super) fn secrets(&self) -> SecretPolicy<'_> {
        SecretPolicy::new(&self.config.state.redact)
    }

    /// The arguments without secrets.
    pub(super) fn redacted(&self) -> Value {
        self.secrets().redacted(self.tool.input.parameters.schema(), self.arguments)
    }
}

impl BackendResponse {
    pub(crate) fn new(content: Value) -> Self {
        Self { content, warnings: Vec::new(), original: None }
    }

    /// With a warning, if there is one.
    pub(super) fn warning(mut self, warning: Option<String>) -> Self {
        self.warnings.extend(warning);
        self
    }
}

/// The warning about an answer that stays text, since it has more values than are read.
pub(super) fn too_many_values(text: &[u8]) -> Option<String> {
    let warning =
        || format!("the answer has more than {MAX_OTHERS_VALUES} values and stays text; ask for less");
    has_too_many_values(text).then(warning)
}
