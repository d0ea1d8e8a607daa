//! A call of a tool: checked, gated, run, and wrapped (EXEC-1..6). Which door it came through is not known here.
//!
//! 1. [`Caller`] is who calls, in which session, and how far that may go.
//! 2. [`backend`] runs a call that has passed.

pub mod backend;
mod caller;

pub use caller::Caller;
