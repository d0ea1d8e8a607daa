//! The schema of a tool's arguments: repaired and compiled, or the reason why it cannot be.
//!
//! 1. [`mod@repair`] replaces what JSON Schema does not know, and [`descriptions`] adds those of a docstring.
//! 2. [`compiled`] is the validator, within limits ([`validation_cost`], [`patterns`]); [`portable`] repairs patterns.
//! 3. [`mod@check`] does both for a definition, and [`parameters`] is the result.

mod check;
mod compiled;
mod descriptions;
mod parameters;
mod patterns;
mod portable;
mod repair;
mod validation_cost;

pub(crate) use check::check;
pub(crate) use compiled::is_compilable;
pub use compiled::result_fits;
pub(crate) use descriptions::{properties, tells};
pub(crate) use parameters::text_bytes;
pub use parameters::{Callable, Parameters, until_stopped};
pub(crate) use patterns::pattern_work;
pub(crate) use repair::{Repairs, repair};
