//! Servers that are asked again when they say that their tools have changed, and reached again when they were away.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::endpoint::Endpoint;
use super::session::Session;
use super::{ENDING, Environment, Listing, Listings, endpoints, runtime};
use crate::config::Workspace;

/// How long to wait before a server is tried again: at first, and at most.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_secs(10);
/// How long to wait for further changes when a server tells of one.
const GATHERING: Duration = Duration::from_millis(100);
/// How often a server is asked that says nothing of when to ask it: a connection can be dead without a sign.
const USUALLY: Duration = Duration::from_secs(60);
/// How often it is asked at most, whatever it says.
const AT_MOST: Duration = Duration::from_secs(2);
/// How often to look whether the connection is still there.
const GLANCE: Duration = Duration::from_millis(250);

/// The live servers of a workspace, with a connection to each.
pub struct Servers {
    environment: Environment,
    changed: Arc<dyn Fn() + Send + Sync>,
    runtime: Option<Runtime>,
    followed: Vec<Followed>,
}

struct Followed {
    endpoint: Endpoint,
    state: State,
    task: AbortHandle,
}

/// What a server listed, or did not; none until it was asked.
type State = Arc<Mutex<Option<Listing>>>;

impl Servers {
    /// No servers yet. `changed` is called when one of them lists something else, goes away, or comes back.
    pub fn new(environment: Environment, changed: impl Fn() + Send + Sync + 'static) -> Self {
        Self { environment, changed: Arc::new(changed), runtime: None, followed: Vec::new() }
    }

    /// What the servers of a workspace list now. Those that are new are asked, for as long as they may take, unless
    /// there is no need any more; those that it no longer has are let go.
    pub fn listings(&mut self, workspace: &Workspace, is_needless: &dyn Fn() -> bool) -> Listings {
        let wanted: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
        self.followed.retain(|followed| {
            let stays = wanted.iter().any(|(_, endpoint)| *endpoint == followed.endpoint);
            if !stays {
                followed.task.abort();
            }
            stays
        });
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
        while self.followed.iter().any(|followed| lock(&followed.state).is_none()) && !is_needless() {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (index, endpoint) in wanted {
            let followed = self.followed.iter().find(|followed| followed.endpoint == endpoint);
            listings.0.extend(followed.and_then(|followed| Some((index, lock(&followed.state).clone()?))));
        }
        listings
    }

    fn follow(&mut self, endpoint: &Endpoint) {
        let Some(runtime) = &self.runtime else { return };
        if self.followed.iter().any(|followed| followed.endpoint == *endpoint) {
            return;
        }
        let state = State::default();
        let follower = Follower {
            endpoint: endpoint.clone(),
            environment: self.environment.clone(),
            state: state.clone(),
            changed: self.changed.clone(),
        };
        let task = runtime.spawn(follower.run()).abort_handle();
        self.followed.push(Followed { endpoint: endpoint.clone(), state, task });
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.followed.iter().for_each(|followed| followed.task.abort());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(ENDING);
        }
    }
}

struct Follower {
    endpoint: Endpoint,
    environment: Environment,
    state: State,
    changed: Arc<dyn Fn() + Send + Sync>,
}

impl Follower {
    /// Without end; whoever started it ends it.
    async fn run(self) {
        let mut pause = SOON;
        loop {
            let start = Instant::now();
            let problem = match timeout(self.endpoint.patience, self.open()).await {
                Ok(Ok(session)) => self.stay(session).await,
                Ok(Err(problem)) => problem,
                Err(_) => self.endpoint.too_slow(),
            };
            let last = lock(&self.state).clone().unwrap_or_default();
            // One that stayed for a while is soon back; one that dies at once is not worth a process a second.
            if last.problem.is_none() && last.tools.is_some() && start.elapsed() > A_WHILE {
                pause = SOON;
            }
            self.publish(Listing { problem: Some(problem), ..last });
            sleep(pause).await;
            pause = (pause * 2).min(AT_LAST);
        }
    }

    async fn open(&self) -> Result<Session, String> {
        Session::open(&self.endpoint, &self.environment).await
    }

    /// Lists for as long as there is a connection; then, why there is none.
    async fn stay(&self, mut session: Session) -> String {
        let mut subscription = None;
        loop {
            // Before listing, so that no change falls between.
            if subscription.is_none() {
                subscription = timeout(self.endpoint.patience, session.subscribe()).await.ok().flatten();
            }
            let listed = match timeout(self.endpoint.patience, session.list()).await {
                Ok(Ok(listed)) => listed,
                Ok(Err(problem)) => {
                    session.close().await;
                    return problem;
                }
                Err(_) => {
                    session.close().await;
                    return self.endpoint.too_slow();
                }
            };
            self.publish(listed.listing);
            let usually = listed.holds.map_or(USUALLY, |holds| holds.clamp(AT_MOST, USUALLY));
            let next = async {
                match &mut subscription {
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
                () = closed => {
                    let problem = session.farewell().await;
                    session.close().await;
                    return problem;
                }
            };
            if !is_subscribed {
                subscription = None;
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

fn lock(state: &State) -> std::sync::MutexGuard<'_, Option<Listing>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
