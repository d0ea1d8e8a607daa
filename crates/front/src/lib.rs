//! In front of servers: their sessions, their registries, the credentials that they want, and when what a catalog is made of
//! changes.

pub mod address;
mod apart;
pub mod credentials;
pub mod mcp;
pub mod telemetry;
pub mod watch;

pub use apart::apart;
