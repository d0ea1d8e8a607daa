//! The schema of a tool's arguments: repaired and compiled, or the reason why it cannot be.
//!
//! 1. [`mod@repair`] replaces what JSON Schema does not know, and [`descriptions`] adds those of a docstring.
//! 2. [`compiled`] is the validator, within limits ([`validation_cost`], [`patterns`]); [`portable`] repairs patterns.
//! 3. [`mod@check`] does both for a definition, and [`parameters`] is the result.
//! 4. [`set_arguments`](mod@set_arguments) takes out what the operator sets, before all that. [`mistakes`] are those of a schema
//!    that compiles.

mod check;
mod compiled;
mod descriptions;
mod mistakes;
mod parameters;
mod patterns;
mod portable;
mod repair;
mod set_arguments;
mod validation_cost;

pub(crate) use check::{check, report_repairs};
pub(crate) use compiled::is_compilable;
pub use compiled::{contradicts, result_fits};
pub(crate) use descriptions::tells;
pub(crate) use mistakes::report_mistakes;
pub(crate) use parameters::text_bytes;
pub use parameters::{Callable, Parameters, until_stopped};
pub(crate) use patterns::{PatternWork, compiled_patterns, pattern_work};
pub(crate) use repair::{Repairs, repair, repair_in_document};
pub use set_arguments::ToolArgument;
pub(crate) use set_arguments::{has_argument, set_arguments};
