//! The arguments of a call: read, coerced to the schema of its tool and validated; else explained, and corrected.
//!
//! 1. [`read`] reads arguments from an object or JSON text; [`exact_numbers`] keeps all digits.
//! 2. [`names`] looks names up in a schema, and finds arguments below a wrapper.
//! 3. [`coerce`] changes values, and [`names`] changes names, into the one valid thing that they can mean.
//! 4. The canonical schema decides ([`validate()`]); [`repair`] refuses a null that may mean something.
//! 5. [`mod@validate`] says which fields do not fit, and [`correct`] makes arguments that do; [`repair`] asks a model.

mod coerce;
mod correct;
mod exact_numbers;
mod names;
mod read;
mod repair;
mod validate;

pub use coerce::coerce_to_schema;
pub use repair::{Repair, RepairKind};
pub use validate::FieldError;

pub(crate) use coerce::{Coercion, Reading};
pub(crate) use correct::{Corrected, corrected, with_placeholders};
pub(crate) use exact_numbers::holds_float;
pub(crate) use names::{WRAPPERS, has_property};
pub(crate) use read::{ArgumentReader, decoded, exactly, make_object};
pub(crate) use repair::RepairQuestion;
pub(crate) use validate::{InvalidArguments, fits_at_a_glance, in_words, validate};
