//! Calls in: the calls of a response, read leniently, then validated by the canonical schema.
//!
//! 1. A wire takes the calls out of a response ([`super::raw_call`]).
//! 2. [`parser`] finds the tool that each name means.
//! 3. [`bound_terms`] turns arguments from the provider's terms into canonical ones; [`crate::arguments`] reads, coerces and
//!    validates them.
//! 4. A configured model may [`repair`] an invalid call, once.
//! 5. The outcome is a [`CallEntry`]: a [`ValidCall`], or an error and the next step.

mod bound_terms;
mod call_entry;
mod error;
mod parser;
mod repair;
mod result;
mod valid_call;

pub use call_entry::CallEntry;
pub use error::{CallError, CallErrorCode, ParseError};
pub use parser::Parser;
pub use valid_call::{ArgumentsError, FromCall, ValidCall};
