//! Calls in: what a response asks for, read leniently, then checked against the canonical schema.
//!
//! 1. A wire takes the calls out of a response ([`raw`]).
//! 2. [`parser`] finds the tool that each name means.
//! 3. [`reading`] makes an object of what stands where arguments are due; [`digits`] keeps numbers whole.
//! 4. [`fit`] lets the canonical schema decide, and repairs what is plainly meant otherwise.
//! 5. A model may [`repair`] what does not fit, once, where one is configured.
//! 6. What comes out is an [`Entry`]: a valid [`Call`], or what is wrong and what to read next.

mod digits;
mod entry;
mod error;
mod fit;
mod parser;
mod raw;
mod reading;
mod repair;
mod valid;

pub use entry::{Entry, Repair, RepairKind};
pub use error::{CallError, CallErrorCode, FieldError, ParseError};
pub use fit::fitted;
pub use parser::Parser;
pub use valid::{ArgumentsError, Call, FromCall};

pub(super) use raw::{Calls, RawCall, calls_of, objects, take, take_list, take_object, take_text};
pub(super) use reading::exactly;
