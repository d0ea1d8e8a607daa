//! The state of a connection, and the pauses before a server is started again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::problem::Problem;
use super::session::Session;
use crate::sources::listings::Listing;

/// Pause before a server is started again: at first, and at most; and the time after which a connection counts as
/// stable.
pub(super) const SOON: Duration = Duration::from_secs(1);
pub(super) const AT_LAST: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_secs(10);
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

/// The pauses between starts: none after the first end, then longer ones, until a connection was stable.
#[derive(Default)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    /// The pause after a connection that lasted so long.
    pub(super) fn pause(&mut self, was_open: bool, lasted: Duration) -> Duration {
        if was_open && lasted > A_WHILE {
            self.next = Duration::ZERO;
        }
        let pause = if was_open { self.next } else { self.next.max(SOON) };
        self.next = (pause * 2).clamp(SOON, AT_LAST);
        pause
    }
}
