//! In front of servers: their sessions, their registries, the credentials that they want, and when what a catalog is made of
//! changes.

pub mod address;
pub mod credentials;
pub mod long_work;
pub mod mcp;
pub mod shares;
pub mod telemetry;
pub mod watch;
