//! Whether an answer was cut off at a limit of tokens: then its last call may be half of one.

use serde_json::Value;

/// Fields that say why an answer ended.
const REASONS: [&str; 6] =
    ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "reason"];
/// Reasons that are a limit of tokens, in lower case.
const LIMITS: [&str; 5] =
    ["length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"];
/// Fields in which such a field may be.
const AROUND: [&str; 6] =
    ["choices", "candidates", "incomplete_details", "response_metadata", "kwargs", "data"];

/// Whether a response says that it was cut off at a limit of tokens.
pub(super) fn is_cut_off(response: &Value) -> bool {
    match response {
        Value::Array(items) => items.iter().any(is_cut_off),
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            let is_limit = |reason: &str| LIMITS.contains(&reason.to_lowercase().as_str());
            (REASONS.contains(&name.as_str()) && value.as_str().is_some_and(is_limit))
                || (AROUND.contains(&name.as_str()) && is_cut_off(value))
        }),
        _ => false,
    }
}
