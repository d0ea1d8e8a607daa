//! Results out: the message that carries the results of one turn back to the model.

use serde_json::Value;

use super::Provider;

/// The result of one call.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// What the provider calls the call; none where the wire has no ids.
    pub call_id: Option<String>,
    /// The name that the provider knows the tool by.
    pub name: String,
    /// The namespace that the call had.
    pub namespace: Option<String>,
    /// The result, or what went wrong, for the model to read.
    pub content: Value,
    /// Whether it is something that went wrong.
    pub is_error: bool,
}

/// The results of one turn as the message, or messages, that a provider takes.
pub fn replies(provider: Provider, replies: &[Reply]) -> Value {
    provider.wire().replies(replies)
}
