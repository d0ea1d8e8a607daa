//! Calls in: the calls of a response, read leniently, then validated by the canonical schema.
//!
//! 1. A format takes the calls out of a response ([`mod@super::format`]).
//! 2. A [`Parser`] finds the tool that each name means.
//! 3. It turns arguments from the provider's terms into canonical ones; [`toolcrib_catalog::arguments`] reads, coerces and
//!    validates them.
//! 4. A configured model may repair an invalid call, once.
//! 5. The outcome is a [`CallEntry`]: a [`ValidCall`], or an error and the next step.

pub(crate) mod entry;
pub(crate) mod parser;

pub use entry::{CallEntry, CallError, CallErrorCode, ValidCall};
pub use parser::{ParseError, Parser};
