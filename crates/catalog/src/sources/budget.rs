//! The memory that the schemas of one document may take.

use serde_json::Value;

/// Estimated memory that the tools of one document may take, in bytes.
pub(super) const TOTAL_BUDGET: usize = 256 << 20;

/// The same limit for one tool: about 1 MB of JSON.
pub(super) const TOOL_BUDGET: usize = 4 << 20;

/// Estimated bytes of memory of a value.
pub(super) fn weight(value: &Value) -> usize {
    64 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| 32 + key.len() + weight(value)).sum(),
        _ => 0,
    }
}
