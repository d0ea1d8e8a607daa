//! Calls in: the calls of a response, read leniently, then validated by the canonical schema.
//!
//! 1. A wire takes the calls out of a response ([`super::wire`]).
//! 2. [`parser`] finds the tool that each name means.
//! 3. It turns arguments from the provider's terms into canonical ones; [`crate::arguments`] reads, coerces and
//!    validates them.
//! 4. A configured model may repair an invalid call, once.
//! 5. The outcome is a [`CallEntry`]: a [`ValidCall`], or an error and the next step.

mod entry;
mod parser;

pub use entry::{CallEntry, CallError, CallErrorCode, ParseError, ValidCall};
pub use parser::Parser;
