//! The schema of a tool's arguments: repaired and compiled, or the reason why it cannot be.
//!
//! 1. [`repair`] replaces what JSON Schema does not know, [`described`] adds the descriptions of a docstring, and [`markup`]
//!    writes texts as Markdown.
//! 2. [`compiled`] is the validator, within limits ([`validation_cost`], [`patterns`]); [`portable`] repairs patterns.
//! 3. [`check`] does both for a definition, and [`parameters`] is the result.

mod check;
mod compiled;
mod described;
mod markup;
mod parameters;
mod patterns;
mod portable;
mod repair;
mod stop;
mod validation_cost;

pub(crate) use check::check;
pub(crate) use compiled::is_compilable;
pub use compiled::result_fits;
pub(crate) use described::{properties, tells};
pub(crate) use parameters::text_bytes;
pub use parameters::{Callable, Parameters};
pub(crate) use patterns::pattern_work;
pub(crate) use repair::{Repairs, repair};
pub use stop::until_stopped;
