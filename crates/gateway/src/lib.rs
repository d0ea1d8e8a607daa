//! A call is checked, gated, run, recorded and wrapped; and the functions through which agents make it.
//!
//! 1. [`functions`] are what agents call: `read_tool_doc`, search, help, `tool_exec`, batches, the discovery protocol.
//! 2. [`exec`] takes one call through all its phases to a backend.
//! 3. [`context`] is what each call gets: its [`caller`], the part of the catalog that it may see, shared services.
//! 4. [`state`] keeps what outlives a call: keys, approvals, sessions, traces, long results.
//! 5. [`ToolError`](tool_error::ToolError) is the reason why a call has no result.

mod caller;
mod context;
pub mod exec;
mod fields;
pub mod functions;
pub mod state;
pub mod tool_error;
