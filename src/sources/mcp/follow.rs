//! Follows live servers: lists their tools again when they announce changes, and reconnects after a failure.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::service::Subscription;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::endpoint::Endpoint;
use super::session::Session;
use super::{ENDING, Environment, endpoints, runtime};
use crate::config::Workspace;
use crate::guard::{MISTAKE, guarded};
use crate::sources::listings::{Listing, Listings};

/// Longest wait for the first list of a new server; a later list is a change.
const MIN_LISTING_INTERVAL: Duration = Duration::from_secs(2);
/// Wait before a server is tried again: at first, and at most; and the time after which a connection counts as
/// stable.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_secs(10);
/// Wait for further changes after a server announces one.
const GATHERING: Duration = Duration::from_millis(100);
/// Interval of listing for a server that suggests none: a connection can be dead without a sign.
const USUALLY: Duration = Duration::from_secs(60);
/// Shortest interval of listing, whatever the server suggests.
const AT_MOST: Duration = Duration::from_secs(2);
/// Interval of checks that the connection still exists.
const GLANCE: Duration = Duration::from_millis(250);

/// The live servers of a workspace, with a connection to each.
pub struct Servers {
    environment: Environment,
    changed: Arc<dyn Fn() + Send + Sync>,
    runtime: Option<Runtime>,
    followed: Vec<Followed>,
    /// The tasks of the servers, and of dropped servers until they have ended.
    tasks: JoinSet<()>,
}

struct Followed {
    endpoint: Endpoint,
    state: SharedListing,
    since: Instant,
    /// The server is dropped with this.
    _hold: oneshot::Sender<()>,
}

impl Followed {
    /// Whether the list of the server is known, or no longer waited for.
    fn is_settled(&self) -> bool {
        lock(&self.state).is_some() || self.since.elapsed() >= MIN_LISTING_INTERVAL
    }

    fn listing(&self) -> Listing {
        lock(&self.state).clone().unwrap_or_else(|| Listing::problem("it has not answered yet"))
    }
}

/// Last result of listing a server; `None` until it was asked.
type SharedListing = Arc<Mutex<Option<Listing>>>;

impl Servers {
    /// Starts without servers. `changed` is called when the list of one changes, or when one goes away or comes back.
    pub fn new(environment: Environment, changed: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            environment,
            changed: Arc::new(changed),
            runtime: None,
            followed: Vec::new(),
            tasks: JoinSet::new(),
        }
    }

    /// The current lists of the servers of a workspace. New servers get a moment to answer, unless `is_needless` says
    /// that it is not needed; servers that are gone from the workspace are dropped.
    pub fn listings(&mut self, workspace: &Workspace, is_needless: &dyn Fn() -> bool) -> Listings {
        let wanted: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
        self.followed.retain(|followed| wanted.iter().any(|(_, endpoint)| *endpoint == followed.endpoint));
        while self.tasks.try_join_next().is_some() {}
        let mut listings = Listings::default();
        if wanted.is_empty() {
            return listings;
        }
        if self.runtime.is_none() {
            match runtime() {
                Ok(runtime) => self.runtime = Some(runtime),
                Err(problem) => {
                    let problem = |(index, _): (usize, Endpoint)| (index, Listing::problem(&problem));
                    listings.0.extend(wanted.into_iter().map(problem));
                    return listings;
                }
            }
        }
        wanted.iter().for_each(|(_, endpoint)| self.follow(endpoint));
        while !self.followed.iter().all(Followed::is_settled) && !is_needless() {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (index, endpoint) in wanted {
            let followed = self.followed.iter().find(|followed| followed.endpoint == endpoint);
            listings.0.extend(followed.map(|followed| (index, followed.listing())));
        }
        listings
    }

    fn follow(&mut self, endpoint: &Endpoint) {
        let Some(runtime) = &self.runtime else { return };
        if self.followed.iter().any(|followed| followed.endpoint == *endpoint) {
            return;
        }
        let state = SharedListing::default();
        let (hold, let_go) = oneshot::channel();
        let follower = Follower {
            endpoint: endpoint.clone(),
            environment: self.environment.clone(),
            state: state.clone(),
            changed: self.changed.clone(),
        };
        self.tasks.spawn_on(follower.run(let_go), runtime.handle());
        let endpoint = endpoint.clone();
        self.followed.push(Followed { endpoint, state, since: Instant::now(), _hold: hold });
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.followed.clear();
        if let Some(runtime) = self.runtime.take() {
            let ended = async { while self.tasks.join_next().await.is_some() {} };
            let _ = runtime.block_on(async { timeout(ENDING, ended).await });
            // Tasks that have not ended by now are dropped, with their processes.
            runtime.shutdown_timeout(GLANCE);
        }
    }
}

struct Follower {
    endpoint: Endpoint,
    environment: Environment,
    state: SharedListing,
    changed: Arc<dyn Fn() + Send + Sync>,
}

impl Follower {
    /// Runs until the server is dropped.
    async fn run(self, mut let_go: oneshot::Receiver<()>) {
        let mut pause = SOON;
        loop {
            let start = Instant::now();
            let visited = guarded(self.visit(&mut let_go)).await;
            let Some(problem) = visited.unwrap_or_else(|_| Some(MISTAKE.into())) else { return };
            let last = lock(&self.state).clone().unwrap_or_default();
            // A stable connection is retried soon; for one that dies at once, a process per second would be too many.
            if last.problem.is_none() && last.tools.is_some() && start.elapsed() > A_WHILE {
                pause = SOON;
            }
            self.publish(Listing { problem: Some(problem), ..last });
            tokio::select! {
                () = sleep(pause) => {}
                _ = &mut let_go => return,
            }
            pause = (pause * 2).min(AT_LAST);
        }
    }

    /// One connection, from beginning to end; returns the reason for the end, unless the server was dropped.
    async fn visit(&self, let_go: &mut oneshot::Receiver<()>) -> Option<String> {
        let opened = tokio::select! {
            opened = timeout(self.endpoint.timeout, Session::open(&self.endpoint, &self.environment)) => opened,
            _ = &mut *let_go => return None,
        };
        let mut session = match opened {
            Ok(Ok(session)) => session,
            Ok(Err(problem)) => return Some(problem),
            Err(_) => return Some(self.endpoint.too_slow()),
        };
        let mut subscription = None;
        let problem = tokio::select! {
            problem = self.stay(&mut session, &mut subscription) => Some(problem),
            _ = let_go => None,
        };
        // A server answers its open requests before it ends.
        if let Some(subscription) = &mut subscription {
            let _ = timeout(GLANCE, subscription.cancel()).await;
        }
        session.close().await;
        problem
    }

    /// Lists as long as the connection lasts; returns the reason why it ended.
    async fn stay(&self, session: &mut Session, subscription: &mut Option<Subscription>) -> String {
        loop {
            // Listens before listing, so that no change is missed in between.
            if subscription.is_none() {
                *subscription =
                    timeout(self.endpoint.timeout.min(SOON), session.subscribe()).await.ok().flatten();
            }
            let listed = match timeout(self.endpoint.timeout, session.list()).await {
                Ok(Ok(listed)) => listed,
                Ok(Err(problem)) => return problem,
                Err(_) => return self.endpoint.too_slow(),
            };
            self.publish(listed.listing);
            let usually = listed.fresh_for.map_or(USUALLY, |holds| holds.clamp(AT_MOST, USUALLY));
            let next = async {
                match subscription.as_mut() {
                    Some(subscription) => subscription.next().await.ok().flatten().is_some(),
                    None => std::future::pending().await,
                }
            };
            let closed = async {
                while !session.is_closed() {
                    sleep(GLANCE).await;
                }
            };
            let is_subscribed = tokio::select! {
                is_subscribed = next => is_subscribed,
                () = session.changed() => true,
                () = sleep(usually) => true,
                () = closed => return session.end_message().await,
            };
            if !is_subscribed {
                *subscription = None;
            }
            sleep(GATHERING).await;
        }
    }

    fn publish(&self, listing: Listing) {
        let mut state = lock(&self.state);
        if state.as_ref() != Some(&listing) {
            *state = Some(listing);
            drop(state);
            (self.changed)();
        }
    }
}

fn lock(state: &SharedListing) -> std::sync::MutexGuard<'_, Option<Listing>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
