//! Results of calls: the [part](select) that somebody wants, the [shape] of the whole, and [references](mod@reference) of calls to
//! results of earlier ones.

mod json_length;
mod reference;
mod select;
mod shape;

pub use json_length::{is_longer_json, length};
pub use reference::{Answers, ReferenceError, needed_calls};
pub use select::{SelectError, check_found, check_select, selected};
pub use shape::{shape_of, shape_of_schema};
