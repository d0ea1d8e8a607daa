//! Pages for the people who run the server: approvals, sessions, usage, servers.

mod approvals;
mod layout;
mod servers;
mod sessions;
mod usage;

pub use approvals::ApprovalView;
pub use servers::ServerView;
pub use sessions::{Filter, MAX_SKIPPED};
