//! The calls of a model, counted, and their tokens where the server reports them.

use serde::Serialize;

/// Calls of a model so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelUsage {
    /// Number of calls.
    pub calls: u64,
    /// Number of those that failed.
    pub failed: u64,
    /// Tokens that the model has read; 0 where the server does not report them.
    pub input_tokens: u64,
    /// Tokens that the model has written.
    pub output_tokens: u64,
}
