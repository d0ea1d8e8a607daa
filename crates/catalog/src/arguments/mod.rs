//! The arguments of a call: read, coerced to the schema of its tool and validated; else explained, and corrected.
//!
//! 1. [`read`] reads arguments from an object or JSON text, and keeps all digits of numbers ([`exact_numbers`]); [`text`]
//!    reads what models write in place of one JSON object, and [`rewrite`] makes it JSON.
//! 2. [`coerce`] changes values and [`respell`] names into the one valid thing that they can mean; [`nulls`] refuses a null that
//!    may mean something.
//! 3. The canonical schema decides ([`validate()`]).
//! 4. [`invalid`] explains which fields do not fit, and [`correct`] makes arguments that do, or asks a model ([`model_repair`]).

mod coerce;
mod correct;
mod exact_numbers;
mod field_error;
mod integers;
mod invalid;
mod model_repair;
mod nulls;
mod object;
mod properties;
mod read;
mod repair;
mod respell;
mod rewrite;
#[cfg(test)]
mod tests;
mod text;
mod validate;

pub use crate::schema::until_stopped;
pub use coerce::{Coercion, Reading, coerce_to_schema};
pub use correct::{Corrected, corrected, with_placeholders};
pub use exact_numbers::holds_float;
pub use field_error::{FieldError, MAX_EXPLAINED, and_more, in_words};
pub use invalid::InvalidArguments;
pub use model_repair::{RepairError, RepairQuestion};
pub use object::make_object;
pub use properties::{WRAPPERS, has_property};
pub use read::{ArgumentReader, exactly};
pub use repair::{Repair, RepairKind};
pub use respell::respelled;
pub use text::{Unreadable, arguments_in_text, value_in_text};
pub use validate::validate;
