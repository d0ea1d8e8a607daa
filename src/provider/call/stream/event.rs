//! One event of a stream.

/// The end of a stream in server-sent events, which is no JSON.
pub(super) const DONE: &str = "[DONE]";

/// One event: JSON, or another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) data: String,
}

/// The text of an event.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| format!("it is no UTF-8: {error}"))
}
