//! Warnings that hold for every call of a tool, or for every call on this server: a session needs each only once.

/// The trace may lack this call.
pub(in crate::exec) const NOT_RECORDED: &str =
    "this call may be missing from the trace, which cannot be written to";
/// Keys are lost when the server stops.
pub(in crate::exec) const KEY_IN_MEMORY: &str =
    "the idempotency key is kept in memory only, until the server stops";
/// The tool has no schema.
pub(in crate::exec) const NOT_CHECKED: &str = "this tool has no schema: its arguments were not checked";
/// The tool is a read.
pub(in crate::exec) const CHANGES_NOTHING: &str = "this op changes nothing; tool_exec_read runs it too";

/// The op of a standing warning about a tool, and no op for one about the server; `None` for a warning about one call.
pub fn standing_scope<'o>(warning: &str, op: &'o str) -> Option<&'o str> {
    match warning {
        NOT_RECORDED | KEY_IN_MEMORY => Some(""),
        NOT_CHECKED | CHANGES_NOTHING => Some(op),
        _ => None,
    }
}
