//! The arguments of a call: read, coerced to the schema of its tool and validated; else explained, and corrected.
//!
//! 1. [`read`] reads arguments from an object or JSON text, and keeps all digits of numbers.
//! 2. [`coerce`] changes values and names into the one valid thing that they can mean, and refuses a null that may mean
//!    something.
//! 3. The canonical schema decides ([`validate()`]).
//! 4. [`mod@validate`] says which fields do not fit, and [`correct`] makes arguments that do, or asks a model.

mod coerce;
mod correct;
mod read;
#[cfg(test)]
mod tests;
pub mod validate;

pub use coerce::{Repair, RepairKind, coerce_to_schema};
pub use validate::FieldError;

pub use crate::schema::until_stopped;
pub use coerce::{Coercion, Reading, WRAPPERS, has_property, respelled};
pub use correct::{Corrected, RepairQuestion, corrected, with_placeholders};
pub use read::{ArgumentReader, decoded, exactly, holds_float, make_object};
pub use validate::{InvalidArguments, MAX_EXPLAINED, and_more, in_words, validate};
