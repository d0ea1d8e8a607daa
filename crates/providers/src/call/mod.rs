//! Calls in: the calls of a response, read leniently, then validated by the canonical schema.
//!
//! 1. A format takes the calls out of a response ([`mod@super::format`]); [`in_text`] finds those that a model left in its text.
//! 2. A [`Parser`] finds the tool that each name means.
//! 3. It turns arguments from the provider's terms into canonical ones; [`toolcrib_catalog::arguments`] reads, coerces and
//!    validates them.
//! 4. A configured model may repair an invalid call, once.
//! 5. The outcome is a [`CallEntry`]: a [`ValidCall`], or an error and the next step.

mod cut_off;
pub(crate) mod entry;
mod in_text;
pub(crate) mod parser;

pub use entry::{CallEntry, CallError, CallErrorCode, ValidCall};
pub use parser::{ParseError, Parser};
