//! Tool definitions for agents: documentation on disk, the smallest payload, and the rest on demand.

pub mod finding;
pub mod tool;
