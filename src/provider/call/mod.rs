//! Calls in: what a response asks for, read leniently, then checked against the canonical schema.

use serde_json::Value;

/// One call as it stands in a response, before its arguments are read.
#[derive(Debug, Default)]
pub(super) struct RawCall {
    /// The name that the model used; none when the provider says that a call was malformed.
    pub(super) name: Option<String>,
    /// The namespace that must be sent back with the result.
    pub(super) namespace: Option<String>,
    /// What the result refers to.
    pub(super) call_id: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub(super) signature: Option<String>,
    /// What stands where arguments are due, if anything does.
    pub(super) arguments: Option<Value>,
    /// What the provider says is wrong with the call.
    pub(super) malformed: Option<String>,
}
