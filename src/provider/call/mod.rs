//! Calls in: what a response asks for, read leniently, then checked against the canonical schema.
//!
//! 1. A wire takes the calls out of a response ([`raw`]).
//! 2. [`parser`] finds the tool that each name means.
//! 3. [`reader`] makes an object of what stands where arguments are due; [`exact_numbers`] keeps numbers whole.
//! 4. [`coerce`] lets the canonical schema decide, and repairs what is plainly meant otherwise.
//! 5. A model may [`repair`] what does not fit, once, where one is configured.
//! 6. What comes out is a [`CallEntry`]: a valid [`ValidCall`], or what is wrong and what to read next.

mod call_entry;
mod coerce;
mod error;
mod exact_numbers;
mod parser;
mod raw;
mod reader;
mod repair;
mod valid_call;

pub use call_entry::{CallEntry, Repair, RepairKind};
pub use coerce::coerce_to_schema;
pub use error::{CallError, CallErrorCode, FieldError, ParseError};
pub use parser::Parser;
pub use valid_call::{ArgumentsError, FromCall, ValidCall};

pub(super) use raw::{Calls, RawCall, calls_of, objects, take, take_list, take_object, take_text};
pub(super) use reader::exactly;
