//! The connection to one server, kept by a task: a [`Session`] is opened when it is wanted, listed where the tools of the server
//! are, and opened again after it has ended.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::client::{CurrentClient, until_client};
use super::endpoint::Endpoint;
use super::remembered_lists;
use super::server_problem::{Away, ServerProblem};
use super::server_state::{ServerState, Status, UNUSED};
use super::session::Session;
use super::starts::Starts;
use crate::credentials::{Credentials, SignInVersion};
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
/// Pause before a server is started again: at first, and at most; and the time after which a connection counts as
/// stable.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);
/// Longest wait for the first words of the only client.
const HANDSHAKE: Duration = Duration::from_secs(2);
const A_WHILE: Duration = Duration::from_secs(10);

/// The function that is called when a list changes, once there is one.
pub(super) type Listener = Arc<Mutex<Option<Arc<dyn Fn() + Send + Sync>>>>;

/// A connection, open or not.
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    state: watch::Sender<ServerState>,
    /// Wakes the task of the connection: a session is wanted, or the list.
    wanted: Notify,
    /// Wakes the task to list the server again.
    asked: Notify,
    /// Held by each call that waits for a session.
    waiting: Arc<()>,
    credentials: Arc<Credentials>,
    /// The folder of remembered lists.
    remembered: Option<PathBuf>,
    /// The client of the connection, once it is known, where it has one for itself.
    client: CurrentClient,
    /// The turns at starting, and whether the only client of the process has not spoken yet.
    turns: (Arc<Starts>, watch::Receiver<bool>),
    /// Called when the list of the server changes, or when it goes away or comes back.
    listener: Listener,
}

impl Connection {
    /// A connection that is not open, with the list that is remembered.
    pub(super) fn new(
        endpoint: Endpoint,
        credentials: Arc<Credentials>,
        remembered: Option<PathBuf>,
        client: CurrentClient,
        turns: (Arc<Starts>, watch::Receiver<bool>),
        listener: Listener,
    ) -> Self {
        let listing = remembered.as_ref().and_then(|folder| remembered_lists::read(folder, &endpoint));
        let state = watch::Sender::new(ServerState::new(listing));
        let (wanted, asked, waiting) = Default::default();
        Self { endpoint, state, wanted, asked, waiting, credentials, remembered, client, turns, listener }
    }

    pub(super) fn state(&self) -> watch::Ref<'_, ServerState> {
        self.state.borrow()
    }

    pub(super) fn is_listed(&self) -> bool {
        self.state().is_listed()
    }

    /// The last list, or the reason why there could be no list; `None` until the server was asked.
    pub(super) fn listing(&self) -> Option<Listing> {
        self.state().listing.clone()
    }

    /// Sets whether the list of the server is wanted.
    pub(super) fn set_listed(&self, is_listed: bool) {
        if self.is_listed() != is_listed {
            self.state.send_modify(|state| state.listed_since = is_listed.then(Instant::now));
            self.wanted.notify_one();
        }
    }

    /// Has the server listed again, if its list is wanted.
    pub(super) fn ask_again(&self) {
        if self.is_listed() {
            self.asked.notify_one();
        }
    }

    /// The open session. Starts a server that does not run; one that has failed often is left alone for a while.
    pub(super) async fn session(&self) -> Result<Arc<Session>, Away> {
        self.replace_outdated();
        let mut state = self.state.subscribe();
        let failed_starts = state.borrow().failed_starts;
        let mut waiting = None;
        loop {
            {
                let state = state.borrow_and_update();
                if let Some(session) = state.session() {
                    return Ok(Arc::clone(session));
                }
                let is_later = |away: &Away| away.retry_after().is_some_and(|left| left > AWAITED);
                match &state.status {
                    Status::Failed(away) if is_later(away) || state.failed_starts > failed_starts => {
                        return Err(away.clone());
                    }
                    Status::Ended(..) => return Err("it is stopped".into()),
                    _ => {}
                }
            }
            if waiting.is_none() {
                waiting = Some(Arc::clone(&self.waiting));
                self.wanted.notify_one();
            }
            if state.changed().await.is_err() {
                return Err(MISTAKE.into());
            }
        }
    }

    /// Notes a use; false where the connection has ended.
    pub(super) fn is_kept(&self) -> bool {
        self.state.send_if_modified(|state| {
            state.used = Instant::now();
            false
        });
        !self.state().status.is_ended()
    }

    /// Ends the connection; calls in progress get this long to end.
    pub(super) fn end_within(&self, patience: Duration) {
        self.state.send_modify(|state| state.end_within(patience));
    }

    /// Has the server contacted again, where the operator has signed in or out since.
    fn replace_outdated(&self) {
        let session = self.state().session().cloned();
        if session.is_some_and(|session| session.is_outdated()) || self.has_new_sign_in() {
            self.turn(Status::Starting(None));
            self.wanted.notify_one();
        }
    }

    /// Whether a call waits for a session.
    fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.waiting) > 1
    }

    /// The sign-in of the operator to the server, as it is now.
    fn sign_in(&self) -> Option<SignInVersion> {
        let Endpoint { name, server, .. } = &self.endpoint;
        self.credentials.sign_in_version((name, server))
    }

    /// Whether the server is away for want of a sign-in, and the operator has signed in since.
    fn has_new_sign_in(&self) -> bool {
        let known = match &*self.state() {
            ServerState { status: Status::Failed(away), sign_in, .. }
                if away.problem.no_token().is_some() =>
            {
                sign_in.clone()
            }
            _ => return false,
        };
        self.sign_in() != known
    }

    /// Keeps the connection until it is ended.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut state = self.state.subscribe();
        tokio::select! {
            () = self.open_again_and_again() => {}
            () = self.until_unused(), if self.endpoint.ends_unused() => {}
            _ = state.wait_for(|state| state.status.is_ended()) => {}
        }
        let Status::Ended(Some(session), patience) = self.state().status.clone() else { return };
        let done = async {
            while session.is_busy() && !session.is_closed() {
                sleep(GLANCE).await;
            }
        };
        let _ = timeout(patience, done).await;
        session.close().await;
    }

    /// Waits until there was no call for long, and ends the connection.
    async fn until_unused(&self) {
        let is_unused = |state: &mut ServerState| {
            let is_busy = self.is_awaited() || state.session().is_some_and(|session| session.is_busy());
            let is_unused = state.is_unused(is_busy, Instant::now());
            if is_unused {
                state.end_within(Duration::ZERO);
            }
            is_unused
        };
        while !self.state.send_if_modified(is_unused) {
            let used = self.state().used;
            sleep_until(used + UNUSED).await;
        }
    }

    async fn open_again_and_again(&self) {
        // No pause after the first end, then longer ones, until a connection was stable.
        let mut backoff = Duration::ZERO;
        let mut pause = Duration::ZERO;
        loop {
            self.until_wanted(pause).await;
            let start = Instant::now();
            let Err(problem) = guarded(self.visit()).await.unwrap_or_else(|_| Err(MISTAKE.into()));
            let was_open = self.state().status.session().is_some();
            if was_open && start.elapsed() > A_WHILE {
                backoff = Duration::ZERO;
            }
            pause = if was_open { backoff } else { backoff.max(SOON) };
            backoff = (pause * 2).clamp(SOON, AT_LAST);
            let no_list = problem.no_list();
            let session = self.fail(problem, pause);
            self.publish(|last| Listing { problem: Some(no_list), ..last });
            if let Some(session) = session {
                session.close().await;
            }
        }
    }

    /// Waits until the server is to be started, for this pause at least.
    async fn until_wanted(&self, pause: Duration) {
        let now = Instant::now();
        let is_first = self.state().ends == 0;
        while !matches!(self.state().status, Status::Starting(_)) {
            let is_awaited = self.is_awaited();
            let is_wanted = is_awaited || self.state().starts_by_itself(self.endpoint.server.start);
            let start = now + if is_awaited || is_first { pause } else { pause.max(SOON) };
            tokio::select! {
                () = sleep_until(start), if is_wanted => return,
                () = async { while !self.has_new_sign_in() { sleep(SOON).await } } => return,
                () = self.wanted.notified() => {}
                () = self.asked.notified() => return,
            }
        }
    }

    /// One session, from beginning to end; returns the reason for the end.
    async fn visit(&self) -> Result<Infallible, ServerProblem> {
        let client = &self.client;
        let (starts, awaits_client) = &self.turns;
        self.turn(Status::Starting(None));
        let _ = timeout(HANDSHAKE, awaits_client.clone().wait_for(|awaits| !awaits)).await;
        loop {
            self.turn(Status::Starting(None));
            let turn = starts.turn().await;
            let has_client = client.borrow().is_some();
            let is_older = self.listing().is_some_and(|last| last.is_older && last.problem.is_none());
            let opening = Session::open(&self.endpoint, &self.credentials, client, is_older);
            let opening = turn.held_for(opening);
            let opened = tokio::select! {
                opened = timeout(self.endpoint.timeout, opening) => opened,
                () = until_client(client, |client| !has_client && client.can_answer()) => continue,
            };
            let session = Arc::new(opened.map_err(|_| self.endpoint.too_slow())??);
            self.turn(Status::Starting(Some(Arc::clone(&session))));
            tokio::select! {
                ended = self.stay(&session) => return ended,
                () = until_client(client, |client| !session.suits(client)) => self.turn(Status::Starting(None)),
                () = self.until_replaced(&session) => {}
            }
            session.close().await;
        }
    }

    /// Waits until another session is to take the place of this one.
    async fn until_replaced(&self, session: &Arc<Session>) {
        let is_replaced = |state: &ServerState| !state.holds(session);
        let _ = self.state.subscribe().wait_for(is_replaced).await;
    }

    /// Keeps a session; returns the reason for its end.
    async fn stay(&self, session: &Arc<Session>) -> Result<Infallible, ServerProblem> {
        loop {
            let interval = if self.is_listed() { Some(self.list(session).await?) } else { None };
            self.turn(Status::Ready(Arc::clone(session)));
            self.until_changed(session, interval).await?;
        }
    }

    /// Lists the tools, and publishes the list; returns the time for which it holds.
    async fn list(&self, session: &Session) -> Result<Duration, ServerProblem> {
        // Listens before listing, so that no change is missed in between.
        session.subscribe(self.endpoint.timeout.min(SOON)).await;
        let (listing, fresh_for) = loop {
            let answers = session.answers.load(Relaxed);
            let is_silent = || session.answers.load(Relaxed) == answers;
            let listing = timeout(self.endpoint.timeout, session.list()).await;
            // Nobody waits for this.
            self.state.send_if_modified(|state| {
                state.asked = Some(Instant::now());
                false
            });
            match listing {
                Ok(listed) => break listed?,
                Err(_) if !session.is_busy() && is_silent() => return Err(self.endpoint.too_slow()),
                // A server that is busy with a call may answer only after it.
                Err(_) => {
                    while session.is_busy() && is_silent() && !session.is_closed() {
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
    async fn until_changed(
        &self,
        session: &Session,
        interval: Option<Duration>,
    ) -> Result<(), ServerProblem> {
        let closed = async {
            while !session.is_closed() {
                tokio::select! {
                    () = sleep(GLANCE) => {}
                    () = self.wanted.notified() => if self.is_listed() && interval.is_none() { return },
                }
            }
        };
        tokio::select! {
            // A tool may have appeared for this client.
            () = session.changed() => if self.endpoint.is_of_client() { self.set_listed(true) },
            () = sleep(interval.unwrap_or_default()), if interval.is_some() => {}
            () = self.asked.notified(), if interval.is_some() => {}
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
        let is_known = self.listing().is_some_and(|known| {
            (&known.tools, &known.introduction) == (&listing.tools, &listing.introduction)
        });
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
    fn fail(&self, problem: ServerProblem, pause: Duration) -> Option<Arc<Session>> {
        let sign_in = self.sign_in();
        let next_try = Some(std::time::Instant::now() + pause);
        let mut session = None;
        self.state.send_modify(|state| {
            session = state.status.session().cloned();
            state.sign_in = sign_in;
            state.last_problem = Some(problem.clone());
            state.ends += 1;
            state.failed_starts += u64::from(session.is_none());
            state.turn(Status::Failed(Away { problem, next_try }));
        });
        session
    }

    fn turn(&self, status: Status) {
        self.state.send_modify(|state| state.turn(status));
    }

    fn publish(&self, listing: impl FnOnce(Listing) -> Listing) {
        if !self.is_listed() {
            return;
        }
        let is_new = self.state.send_if_modified(|state| {
            let listing = listing(state.listing.clone().unwrap_or_default());
            let is_new = state.listing.as_ref() != Some(&listing);
            if listing.tools.is_some() {
                state.first_listed.get_or_insert_with(Instant::now);
            }
            state.listing = Some(listing);
            is_new
        });
        let listener = locked(&self.listener).clone();
        if is_new && let Some(listener) = listener {
            listener();
        }
    }
}
