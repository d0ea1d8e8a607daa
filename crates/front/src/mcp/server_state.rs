//! The state of a server: what its connection is doing, and what it has listed.

use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::endpoint::Endpoint;
use super::server_problem::{Away, ServerProblem};
use super::session::Session;
use crate::credentials::SignInVersion;
use toolcrib_catalog::config::Start;
use toolcrib_catalog::sources::listings::Listing;

/// Time without a call after which a caller counts as gone.
pub(super) const UNUSED: Duration = Duration::from_secs(600);

/// The status of a server.
///
/// ```text
/// NotStarted ──wanted──> Starting ──opened, listed──> Ready
///                         ^    │                        │
///                 wanted again └──failed──> Failed <──ended
/// ```
///
/// From each of them it gets to `Ended`, when its connection is dropped.
#[derive(Clone, Default)]
pub enum Status {
    /// Nobody has wanted it yet.
    #[default]
    NotStarted,
    /// It is being started. Calls use the session while its tools are listed for the first time.
    Starting(Option<Arc<Session>>),
    /// It answers.
    Ready(Arc<Session>),
    /// It is away, for this reason.
    Failed(Away),
    /// It is no longer wanted: the session that was open, and the time that its calls get.
    Ended(Option<Arc<Session>>, Duration),
}

impl Status {
    pub(super) fn session(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Starting(session) | Self::Ended(session, _) => session.as_ref(),
            Self::Ready(session) => Some(session),
            Self::NotStarted | Self::Failed(_) => None,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(..))
    }
}

/// A server whose tools are listed.
pub struct LiveServer {
    /// Its address.
    pub endpoint: Endpoint,
    /// Its state.
    pub state: ServerState,
}

impl LiveServer {
    /// What it listed last.
    pub fn listing(&self) -> Option<Listing> {
        self.state.listing.clone()
    }
}

/// The state of a server.
#[derive(Clone)]
pub struct ServerState {
    /// Whether it runs.
    pub status: Status,
    /// The time since then.
    pub since: Instant,
    /// The time at which its tools were last asked for.
    pub asked: Option<Instant>,
    /// Number of times that the connection ended, or could not be made.
    pub ends: u64,
    /// The reason for the last time.
    pub last_problem: Option<ServerProblem>,
    /// Number of starts without a connection.
    pub(super) failed_starts: u64,
    /// The sign-in of the operator when the connection ended last.
    pub(super) sign_in: Option<SignInVersion>,
    /// The last result of listing; `None` until the server was asked.
    pub(super) listing: Option<Listing>,
    /// The time from which on the list is wanted.
    pub(super) listed_since: Option<Instant>,
    /// The time at which it first listed its tools.
    pub(super) first_listed: Option<Instant>,
    /// The last time that somebody asked for a session.
    pub(super) used: Instant,
}

impl ServerState {
    /// A server that was not started, with its last list.
    pub(super) fn new(listing: Option<Listing>) -> Self {
        let now = Instant::now();
        Self {
            status: Status::NotStarted,
            since: now,
            asked: None,
            ends: 0,
            last_problem: None,
            failed_starts: 0,
            sign_in: None,
            listing,
            listed_since: None,
            first_listed: None,
            used: now,
        }
    }

    /// Number of tools that it listed last; `None` for one that was not listed.
    pub fn tools(&self) -> Option<usize> {
        self.listing.as_ref().filter(|listing| listing.tools.is_some()).map(|listing| listing.count)
    }

    /// Goes to another status; not from the last one, nor to that of a session whose place another one takes.
    pub(super) fn turn(&mut self, status: Status) {
        let is_replaced = matches!(&status, Status::Ready(session) if !self.holds(session));
        if self.status.is_ended() || is_replaced {
            return;
        }
        if discriminant(&self.status) != discriminant(&status) {
            self.since = Instant::now();
        }
        self.status = status;
    }

    /// Ends it; calls in progress get this long to end.
    pub(super) fn end_within(&mut self, patience: Duration) {
        self.turn(Status::Ended(self.status.session().cloned(), patience));
    }

    /// Whether nobody has used it for long. Calls in progress use it.
    pub(super) fn is_unused(&mut self, is_busy: bool, now: Instant) -> bool {
        if is_busy {
            self.used = now;
        }
        now >= self.used + UNUSED
    }

    /// The time at which there was first a list; a remembered one is there when it is wanted.
    pub(super) fn first_listed(&self) -> Option<Instant> {
        self.tools().and(self.first_listed.or(self.listed_since))
    }

    pub(super) fn is_listed(&self) -> bool {
        self.listed_since.is_some()
    }

    /// Whether the server is started before a call wants it.
    pub(super) fn starts_by_itself(&self, start: Start) -> bool {
        self.is_listed() && (start == Start::Eager || self.tools().is_none())
    }

    /// Whether this is its session.
    pub(super) fn holds(&self, session: &Arc<Session>) -> bool {
        self.status.session().is_some_and(|held| Arc::ptr_eq(held, session))
    }

    /// The open session, for calls.
    pub(super) fn session(&self) -> Option<&Arc<Session>> {
        let is_open = |session: &&Arc<Session>| !session.is_closed() && !self.status.is_ended();
        self.status.session().filter(is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_unused_when_its_calls_have_ended_and_the_caller_is_gone() {
        let mut state = ServerState::new(None);
        let later = state.used + UNUSED;
        assert!(!state.is_unused(true, later), "a call is in progress");
        assert!(!state.is_unused(false, later), "it has just ended");
        assert!(state.is_unused(false, later + UNUSED));
        state.end_within(Duration::ZERO);
        state.turn(Status::Starting(None));
        assert!(state.status.is_ended(), "it does not come back");
    }
}
