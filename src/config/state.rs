//! Where what outlives a call is kept: idempotency keys, approvals, sessions, traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where what outlives a call is kept. Without `at` it is in memory, and gone when the process ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct State {
    /// A file for SQLite, relative to the configuration, or `postgres://...`, in which `${NAME}` stands for the
    /// environment variable `NAME`.
    pub url: Option<String>,
    /// For how long it is kept.
    #[schemars(range(min = 1))]
    pub days: u64,
    /// Names of arguments that are not written down, beside those that are plainly secret; `*` stands for anything.
    pub redact: Vec<String>,
    /// What becomes of calls while nothing can be written down.
    pub when_unwritable: WhenUnwritable,
}

/// What becomes of calls while nothing can be written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenUnwritable {
    /// Calls that change something are refused.
    #[default]
    RefuseWrites,
    /// They run, and are missing from the trace; those with an idempotency key are refused all the same.
    GoOn,
}

impl Default for State {
    fn default() -> Self {
        Self { url: None, days: 30, redact: Vec::new(), when_unwritable: WhenUnwritable::RefuseWrites }
    }
}
