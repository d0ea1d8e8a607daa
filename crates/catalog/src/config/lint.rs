//! Severities of findings, and findings to leave out.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selectors;

/// Severities of findings, and findings to leave out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Lint {
    /// Severity by finding code.
    pub severity: IndexMap<String, LintLevel>,
    /// Findings to leave out.
    pub ignore: Vec<Ignore>,
}

/// A configured severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LintLevel {
    /// `check` exits 1.
    Error,
    /// Reported.
    Warning,
    /// Reported only with `--verbose`.
    Info,
    /// Not reported.
    Off,
}

/// Findings to leave out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["code"]))]
pub struct Ignore {
    /// The finding code.
    pub code: String,
    /// The tools for which it is left out; all when empty.
    #[serde(rename = "match")]
    pub tools: Selectors,
    /// The reason, for the next reader.
    pub reason: Option<String>,
}
