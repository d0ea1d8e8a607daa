//! Settings of state: idempotency keys, approvals, sessions, traces; and where traces are sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of state. Without `url` it is in memory, and lost when the process ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct State {
    /// A file for SQLite, relative to the configuration, or `postgres://...`, in which `${NAME}` stands for the
    /// environment variable `NAME`.
    pub url: Option<String>,
    /// Most connections of this process to PostgreSQL.
    #[schemars(range(min = 1))]
    pub connections: usize,
    /// Days that state is kept.
    #[schemars(range(min = 1))]
    pub days: u64,
    /// Names of arguments whose values are not recorded, beside the plainly secret ones; `*` stands for anything.
    pub redact: Vec<String>,
    /// Behaviour of calls while the trace cannot be written.
    pub when_unwritable: WhenUnwritable,
}

/// Behaviour of calls while the trace cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenUnwritable {
    /// Calls that change something are refused.
    #[default]
    RefuseWrites,
    /// They run, and are missing from the trace; calls with an idempotency key are refused all the same.
    GoOn,
}

impl Default for State {
    fn default() -> Self {
        Self {
            url: None,
            connections: 8,
            days: 30,
            redact: Vec::new(),
            when_unwritable: WhenUnwritable::RefuseWrites,
        }
    }
}

/// Traces and metrics of OpenTelemetry. Needs a toolcrib that was built with the feature `otel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Telemetry {
    /// The address of an OTLP receiver over HTTP, such as `http://localhost:4318`.
    pub otlp: Option<String>,
}
