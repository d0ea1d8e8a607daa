//! The connection to one server, kept by a task: a [`Session`] is opened when it is wanted, listed where the tools of the server
//! are, and opened again after it has ended.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::client::{CurrentClient, until_client};
use super::endpoint::Endpoint;
use super::last_use::LastUse;
use super::remembered_lists;
use super::server_problem::Problem;
use super::server_state::{ServerState, Status};
use super::session::{InProgress, Session};
use crate::credentials::{Credentials, SignInVersion};
use toolcrib_catalog::config::Start;
use toolcrib_catalog::sources::listings::Listing;
use toolcrib_definition::guard::{MISTAKE, guarded, locked};

/// Longest pause that a call waits for.
const AWAITED: Duration = Duration::from_secs(2);
/// Wait for further changes after a server announces one.
const GATHERING: Duration = Duration::from_millis(100);
/// Interval of listing for a server that suggests none: a connection can be dead without a sign.
const USUALLY: Duration = Duration::from_secs(60);
/// Shortest interval of listing, whatever the server suggests.
const AT_MOST: Duration = Duration::from_secs(2);
/// Interval of checks that the connection still exists.
const GLANCE: Duration = Duration::from_millis(250);

/// The function that is called when a list changes, once there is one.
pub(super) type Listener = Arc<Mutex<Option<Arc<dyn Fn() + Send + Sync>>>>;

/// A connection, open or not.
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    state: watch::Sender<State>,
    created: Instant,
    /// Wakes the task of the connection: a session is wanted, or the list.
    wanted: Notify,
    /// Ends the pause before the next start.
    at_once: Notify,
    /// Number of calls that wait for a session.
    waiting: AtomicUsize,
    pub(super) last_use: LastUse,
    credentials: Arc<Credentials>,
    /// The folder of remembered lists.
    remembered: Option<PathBuf>,
    /// The client of the connection, once it is known, where it has one for itself.
    client: CurrentClient,
    /// Called when the list of the server changes, or when it goes away or comes back.
    listener: Listener,
    /// Set when the connection is dropped: the time that calls in progress get.
    dropped: watch::Sender<Option<Duration>>,
}

impl Connection {
    /// A connection that is not open, with the list that is remembered.
    pub(super) fn new(
        endpoint: Endpoint,
        credentials: Arc<Credentials>,
        remembered: Option<PathBuf>,
        client: CurrentClient,
        listener: Listener,
    ) -> Self {
        let listing = remembered.as_ref().and_then(|folder| remembered_lists::read(folder, &endpoint));
        Self {
            state: watch::Sender::new(State { listing, ..State::default() }),
            created: Instant::now(),
            wanted: Notify::new(),
            at_once: Notify::new(),
            waiting: AtomicUsize::new(0),
            last_use: LastUse::now(&endpoint),
            credentials,
            remembered,
            client,
            listener,
            dropped: watch::Sender::new(None),
            endpoint,
        }
    }

    /// Sets whether the list of the server is wanted.
    pub(super) fn set_listed(&self, is_listed: bool) {
        if self.is_listed() != is_listed {
            self.state.send_modify(|state| state.listed_since = is_listed.then(Instant::now));
            self.wanted.notify_one();
        }
    }

    pub(super) fn is_listed(&self) -> bool {
        self.state.borrow().listed_since.is_some()
    }

    /// Whether the server is started before a call wants it.
    fn starts_by_itself(&self) -> bool {
        let state = self.state.borrow();
        let is_known = state.listing.as_ref().is_some_and(|listing| listing.tools.is_some());
        state.listed_since.is_some() && (self.endpoint.server.start == Start::Eager || !is_known)
    }

    /// The time at which its tools were first listed, and the time from which on they are wanted.
    pub(super) fn listed_at(&self) -> (Option<Instant>, Option<Instant>) {
        let state = self.state.borrow();
        let is_listed = state.listing.as_ref().is_some_and(|listing| listing.tools.is_some());
        let first = if is_listed { state.first_listed.or(state.listed_since) } else { None };
        (first, state.listed_since)
    }

    /// The last list, or the reason why there could be no list; `None` until the server was asked.
    pub(super) fn listing(&self) -> Option<Listing> {
        self.state.borrow().listing.clone()
    }

    /// The state of the server, for people.
    pub(super) fn server_state(&self) -> ServerState {
        let state = self.state.borrow();
        ServerState {
            name: self.endpoint.name.clone(),
            status: state.status.clone(),
            since: state.since.unwrap_or(self.created).elapsed(),
            tools: state.listing.as_ref().and_then(|listing| listing.tools.as_ref().map(|_| listing.count)),
            asked: state.asked.map(|asked| asked.elapsed()),
            ends: state.ends,
            last_problem: state.last_problem.clone(),
            endpoint: self.endpoint.clone(),
        }
    }

    /// The open session. Starts a server that does not run; one that has failed often is left alone for a while.
    pub(super) async fn session(&self) -> Result<Arc<Session>, Problem> {
        self.replace_outdated();
        if let Some(session) = self.open() {
            return Ok(session);
        }
        let _waiting = InProgress::start(&self.waiting);
        let mut state = self.state.subscribe();
        let failed_starts = state.borrow().failed_starts;
        self.wanted.notify_one();
        loop {
            if let Some(session) = self.open() {
                return Ok(session);
            }
            if let Status::Failed(problem) = &state.borrow_and_update().status {
                let is_later = problem.retry_after().is_some_and(|left| left > AWAITED);
                if is_later || self.state.borrow().failed_starts > failed_starts {
                    return Err(problem.clone());
                }
            }
            if state.changed().await.is_err() {
                return Err(MISTAKE.into());
            }
        }
    }

    fn open(&self) -> Option<Arc<Session>> {
        let state = self.state.borrow();
        state.session.as_ref().filter(|session| session.is_usable()).map(Arc::clone)
    }

    /// Has the server contacted again, where the operator has signed in or out since.
    fn replace_outdated(&self) {
        let open = self.open();
        match open.filter(|session| session.is_outdated()) {
            Some(session) => session.replace(),
            None if self.has_new_sign_in() => {
                self.set_status(Status::Starting);
                self.at_once.notify_one();
            }
            None => {}
        }
    }

    /// The sign-in of the operator to the server, as it is now.
    fn sign_in(&self) -> Option<SignInVersion> {
        let Endpoint { name, server, .. } = &self.endpoint;
        self.credentials.sign_in_version((name, server))
    }

    /// Whether the server is away for want of a sign-in, and the operator has signed in since.
    fn has_new_sign_in(&self) -> bool {
        let known = match &*self.state.borrow() {
            State { status: Status::Failed(Problem { sign_in: Some(_), .. }), sign_in, .. } => {
                sign_in.clone()
            }
            _ => return false,
        };
        self.sign_in() != known
    }

    /// Waits until the operator signs in to the server, if it is away for want of that.
    async fn until_new_sign_in(&self) {
        while !self.has_new_sign_in() {
            sleep(SOON).await;
        }
    }

    fn is_busy(&self) -> bool {
        self.waiting.load(Relaxed) > 0 || self.open().is_some_and(|session| session.is_busy())
    }

    /// Drops the connection; calls in progress get this long to end.
    pub(super) fn drop_within(&self, patience: Duration) {
        self.dropped.send_replace(Some(patience));
    }

    /// Keeps the connection until it is dropped.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut dropped = self.dropped.subscribe();
        tokio::select! {
            () = self.open_again_and_again() => {}
            () = self.last_use.until_unused(|| self.is_busy()) => {}
            _ = dropped.wait_for(Option::is_some) => {}
        }
        let patience = dropped.borrow().unwrap_or_default();
        if let Some(session) = self.fail("it is stopped".into(), AT_LAST) {
            let done = async {
                while session.is_busy() && !session.is_closed() {
                    sleep(GLANCE).await;
                }
            };
            let _ = timeout(patience, done).await;
            session.close().await;
        }
    }

    async fn open_again_and_again(&self) {
        // No pause after the first end, then longer ones, until a connection was stable.
        let mut backoff = Duration::ZERO;
        let mut pause = Duration::ZERO;
        loop {
            self.until_wanted(pause).await;
            let start = Instant::now();
            self.set_status(Status::Starting);
            let Err(problem) = guarded(self.visit()).await.unwrap_or_else(|_| Err(MISTAKE.into()));
            let was_open = self.state.borrow().session.is_some();
            if was_open && start.elapsed() > A_WHILE {
                backoff = Duration::ZERO;
            }
            pause = if was_open { backoff } else { backoff.max(SOON) };
            backoff = (pause * 2).clamp(SOON, AT_LAST);
            let session = self.fail(problem.clone(), pause);
            self.publish(|last| Listing { problem: Some(problem.to_string()), ..last });
            if let Some(session) = session {
                session.close().await;
            }
        }
    }

    /// Waits until the server is to be started, for this pause at least.
    async fn until_wanted(&self, pause: Duration) {
        let now = Instant::now();
        let is_first = self.state.borrow().ends == 0;
        loop {
            let is_awaited = self.waiting.load(Relaxed) > 0;
            let start = now + if is_awaited || is_first { pause } else { pause.max(SOON) };
            tokio::select! {
                () = sleep_until(start), if is_awaited || self.starts_by_itself() => return,
                () = self.at_once.notified() => return,
                () = self.until_new_sign_in() => return,
                () = self.wanted.notified() => {}
            }
        }
    }

    /// One session, from beginning to end; returns the reason for the end.
    async fn visit(&self) -> Result<Infallible, Problem> {
        let client = &self.client;
        loop {
            let has_client = client.borrow().is_some();
            let is_older = self.listing().is_some_and(|last| last.is_older && last.problem.is_none());
            let opening = Session::open(&self.endpoint, &self.credentials, client, is_older);
            let opened = tokio::select! {
                opened = timeout(self.endpoint.timeout, opening) => opened,
                () = until_client(client, |client| !has_client && client.can_answer()) => continue,
            };
            let session = Arc::new(opened.map_err(|_| self.endpoint.too_slow())??);
            self.state.send_modify(|state| state.session = Some(Arc::clone(&session)));
            tokio::select! {
                ended = self.stay(&session) => return ended,
                () = until_client(client, |client| !session.suits(client)) => {}
                () = session.until_replaced() => {}
            }
            self.state.send_modify(|state| state.session = None);
            session.close().await;
        }
    }

    /// Keeps a session; returns the reason for its end.
    async fn stay(&self, session: &Session) -> Result<Infallible, Problem> {
        loop {
            let interval = if self.is_listed() { Some(self.list(session).await?) } else { None };
            self.set_status(Status::Ready);
            self.until_changed(session, interval).await?;
        }
    }

    /// Lists the tools, and publishes the list; returns the time for which it holds.
    async fn list(&self, session: &Session) -> Result<Duration, Problem> {
        // Listens before listing, so that no change is missed in between.
        session.subscribe(self.endpoint.timeout.min(SOON)).await;
        let (listing, fresh_for) = loop {
            let answers = session.answers.load(Relaxed);
            let listing = timeout(self.endpoint.timeout, session.list()).await;
            // Nobody waits for this.
            self.state.send_if_modified(|state| {
                state.asked = Some(Instant::now());
                false
            });
            match listing {
                Ok(listed) => break listed?,
                Err(_) if !session.is_busy() && session.answers.load(Relaxed) == answers => {
                    return Err(self.endpoint.too_slow().into());
                }
                // A server that is busy with a call may answer only after it.
                Err(_) => {
                    while session.is_busy()
                        && session.answers.load(Relaxed) == answers
                        && !session.is_closed()
                    {
                        sleep(GLANCE).await;
                    }
                }
            }
        };
        self.remember(&listing);
        self.publish(|_| listing);
        Ok(fresh_for.map_or(USUALLY, |holds| holds.clamp(AT_MOST, USUALLY)))
    }

    /// Waits until the server is to be listed; the reason, where the connection ended.
    async fn until_changed(&self, session: &Session, interval: Option<Duration>) -> Result<(), Problem> {
        let closed = async {
            while !session.is_closed() {
                tokio::select! {
                    () = sleep(GLANCE) => {}
                    () = self.wanted.notified() => if self.is_listed() && interval.is_none() { return },
                }
            }
        };
        tokio::select! {
            () = session.changed() => {}
            () = sleep(interval.unwrap_or_default()), if interval.is_some() => {}
            () = closed => {}
        }
        if session.is_closed() {
            return Err(session.end_message().await);
        }
        if interval.is_some() {
            sleep(GATHERING).await;
        }
        Ok(())
    }

    /// Writes a list to the folder of remembered lists, unless it is the one that is known.
    fn remember(&self, listing: &Listing) {
        let is_known = self
            .listing()
            .is_some_and(|known| (&known.tools, &known.server) == (&listing.tools, &listing.server));
        if let Some(folder) = self.remembered.clone()
            && !is_known
        {
            let endpoint = self.endpoint.clone();
            let listing = listing.clone();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = remembered_lists::write(&folder, &endpoint, &listing) {
                    tracing::warn!(server = endpoint.name, %error, "its list of tools cannot be remembered");
                }
            });
        }
    }

    /// Takes the session out: the server is away, and started again after this pause at the earliest.
    fn fail(&self, problem: Problem, pause: Duration) -> Option<Arc<Session>> {
        let mut session = None;
        let sign_in = self.sign_in();
        self.state.send_modify(|state| {
            (session, state.sign_in) = (state.session.take(), sign_in);
            state.last_problem = Some(problem.to_string());
            state.status = Status::Failed(problem.until(std::time::Instant::now() + pause));
            (state.since, state.ends) = (Some(Instant::now()), state.ends + 1);
            state.failed_starts += u64::from(session.is_none());
        });
        session
    }

    fn set_status(&self, status: Status) {
        self.state.send_if_modified(|state| {
            let is_new = state.status != status;
            if is_new {
                (state.status, state.since) = (status, Some(Instant::now()));
            }
            is_new
        });
    }

    fn publish(&self, listing: impl FnOnce(Listing) -> Listing) {
        if !self.is_listed() {
            return;
        }
        let is_new = self.state.send_if_modified(|state| {
            let listing = Some(listing(state.listing.clone().unwrap_or_default()));
            let is_new = state.listing != listing;
            if listing.as_ref().is_some_and(|listing| listing.tools.is_some()) {
                state.first_listed.get_or_insert_with(Instant::now);
            }
            state.listing = listing;
            is_new
        });
        let listener = locked(&self.listener).clone();
        if is_new && let Some(listener) = listener {
            listener();
        }
    }
}

/// Pause before a server is started again: at first, and at most; and the time after which a connection counts as
/// stable.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_secs(10);

/// The state of a connection.
#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    /// The last result of listing; `None` until the server was asked.
    listing: Option<Listing>,
    status: Status,
    since: Option<Instant>,
    /// Number of times that the connection ended, and of starts without a connection.
    ends: u64,
    failed_starts: u64,
    /// The time at which its tools were last asked for, and the reason for its last end.
    asked: Option<Instant>,
    last_problem: Option<String>,
    /// The time from which on the list is wanted.
    listed_since: Option<Instant>,
    /// The time at which it first listed its tools.
    first_listed: Option<Instant>,
    /// The sign-in of the operator when the connection ended last.
    sign_in: Option<SignInVersion>,
}
