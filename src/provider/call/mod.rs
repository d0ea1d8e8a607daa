//! Calls in: what a response asks for, read leniently, then checked against the canonical schema.
//!
//! 1. A wire takes the calls out of a response ([`super::raw_call`]).
//! 2. [`parser`] finds the tool that each name means.
//! 3. [`bound_terms`] turns arguments from the provider's terms into canonical ones; [`crate::arguments`] reads, coerces and
//!    validates them.
//! 4. A model may [`repair`] what does not fit, once, where one is configured.
//! 5. What comes out is a [`CallEntry`]: a valid [`ValidCall`], or what is wrong and what to read next.

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
