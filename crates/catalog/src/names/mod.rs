//! Names between tools: canonical names, safe names, ops and aliases.

mod canonical;
mod lookup;
mod op;
mod servers;
mod unique;

pub(crate) use canonical::{canonical, clean};
pub(crate) use lookup::lookup;
pub(crate) use op::{OpGroups, op_parts, written_op};
pub(crate) use servers::{ServerNames, is_live};
pub(crate) use unique::assign_unique;

#[cfg(test)]
mod tests;
