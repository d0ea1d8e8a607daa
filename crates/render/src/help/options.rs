//! The length and the parts of an answer.

use serde::Deserialize;

/// Length of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The facts that a call needs.
    #[default]
    Short,
    /// Everything.
    Full,
}

/// Tokens of a short answer on an op, unless the facts that every call needs take more.
pub const SHORT_TOKENS: usize = 600;

/// Options of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HelpOptions {
    /// Length of the answer.
    pub format: Format,
    pub examples: bool,
    /// With JSON schemas.
    pub schemas: bool,
    /// Most o200k tokens of a short answer on an op, unless the facts that every call needs take more.
    pub short_tokens: usize,
}
