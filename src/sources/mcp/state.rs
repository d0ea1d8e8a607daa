//! The state of a connection.

use std::sync::Arc;

use tokio::time::Instant;

use super::problem::Problem;
use super::session::Session;
use crate::sources::listings::Listing;

/// The state of a connection.
pub(super) struct State {
    pub(super) session: Option<Arc<Session>>,
    /// The last result of listing; `None` until the server was asked.
    pub(super) listing: Option<Listing>,
    pub(super) status: Status,
    pub(super) since: Instant,
    /// Number of times that the connection ended, and of starts without a connection.
    pub(super) ends: u64,
    pub(super) failed_starts: u64,
    /// The time from which on the list is wanted.
    pub(super) listed_since: Option<Instant>,
}

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nobody has wanted it yet.
    NotStarted,
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It is away, for this reason.
    Failed(Problem),
}
