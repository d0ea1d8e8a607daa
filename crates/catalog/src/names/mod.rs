//! Names between tools: canonical names, safe names, ops and aliases.

mod canonical;
mod lookup;
mod op;
mod unique;

pub(crate) use canonical::{canonical, clean};
pub(crate) use lookup::lookup;
pub use lookup::without_client_prefix;
pub(crate) use op::{derived_op, op_parts, op_with_whole_name, written_op};
pub(crate) use unique::assign_unique;

#[cfg(test)]
mod tests;
