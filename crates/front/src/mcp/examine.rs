//! Servers, asked once: their lists, and the time and the way in which they answered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connections::{ENDING, runtime};
use super::endpoint::{Endpoint, endpoints, name};
use super::remembered_lists;
use super::server_problem::ServerProblem;
use super::session::Session;
use super::starts::Starts;
use crate::credentials::Credentials;
use toolcrib_catalog::config::Workspace;
use toolcrib_catalog::sources::{Listing, Listings};

/// One server, asked once.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The name of the server, for people.
    pub name: String,
    /// Position of its source in the configuration.
    pub source: usize,
    /// Its address.
    pub endpoint: Endpoint,
    /// The list of its tools, or the reason why it does not list them.
    pub outcome: Result<Listing, ServerProblem>,
    /// The time of starting, connecting and listing.
    pub took: Duration,
}

/// Lists all servers of a workspace at the same time, and disconnects. `waiting` gets the names of those that have
/// not answered yet. Each list is remembered in the folder; a server that wants a sign-in keeps its last one, so that
/// its tools are there, and calls say what to do.
pub fn list_all(
    workspace: &Workspace,
    credentials: &Arc<Credentials>,
    remembered: Option<&Path>,
    waiting: &dyn Fn(&[String]),
) -> Listings {
    let (examined, mut listings) = examine(workspace, credentials, remembered, waiting);
    let Some(folder) = remembered else { return listings };
    for Examined { source, endpoint, outcome, .. } in &examined {
        match outcome {
            // A list that cannot be kept is of use now.
            Ok(listing) => _ = remembered_lists::write(folder, endpoint, listing),
            Err(problem) if problem.no_token().is_some() => {
                if let Some(known) = remembered_lists::read(folder, endpoint) {
                    let listing = listings.by_source.entry(*source).or_default();
                    *listing = Listing { problem: listing.problem.take(), ..known };
                }
            }
            Err(_) => {}
        }
    }
    listings
}

/// The same, with facts about each server, in the order of the configuration. The folder shows which servers speak the older
/// protocol; nothing is written there.
pub fn examine(
    workspace: &Workspace,
    credentials: &Arc<Credentials>,
    remembered: Option<&Path>,
    waiting: &dyn Fn(&[String]),
) -> (Vec<Examined>, Listings) {
    let servers = endpoints(workspace).map(|(source, endpoint)| {
        let name = name(workspace, source, &endpoint.server);
        Examined { name, source, endpoint, outcome: Err("it was not asked".into()), took: Duration::ZERO }
    });
    let mut servers: Vec<Examined> = servers.collect();
    if !servers.is_empty() {
        match runtime() {
            Ok(runtime) => {
                servers = runtime.block_on(ask_all(servers, credentials, remembered, waiting));
                runtime.shutdown_timeout(ENDING);
            }
            Err(problem) => servers.iter_mut().for_each(|server| server.outcome = Err(problem.clone())),
        }
    }
    let listing = |server: &Examined| {
        let listing = server.outcome.clone();
        (server.source, listing.unwrap_or_else(|problem| Listing::problem(problem.no_list())))
    };
    let by_source = servers.iter().map(listing).collect();
    (servers, Listings { by_source, ..Listings::default() })
}

/// Asks all servers at the same time, and starts a few at once.
async fn ask_all(
    servers: Vec<Examined>,
    credentials: &Arc<Credentials>,
    remembered: Option<&Path>,
    waiting: &dyn Fn(&[String]),
) -> Vec<Examined> {
    let named = servers.iter().map(|server| (server.source, server.name.clone()));
    let mut names: BTreeMap<usize, String> = named.collect();
    let starts = Arc::<Starts>::default();
    let ask = |server: Examined| {
        let credentials = Arc::clone(credentials);
        let starts = Arc::clone(&starts);
        let known = remembered.and_then(|folder| remembered_lists::read(folder, &server.endpoint));
        let is_older = known.is_some_and(|known| known.is_older);
        async move {
            let turn = starts.turn().await;
            let start = Instant::now();
            let opening = list_once(&server.endpoint, &credentials, is_older);
            let outcome = turn.held_for(opening).await;
            Examined { outcome, took: start.elapsed(), ..server }
        }
    };
    let mut asked: JoinSet<Examined> = servers.into_iter().map(ask).collect();
    let mut answers = Vec::new();
    loop {
        waiting(&names.values().cloned().collect::<Vec<_>>());
        let Some(asked) = asked.join_next().await else { break };
        // A task that panicked has no number; its server is then one that was not contacted.
        let Ok(answer) = asked else { continue };
        names.remove(&answer.source);
        answers.push(answer);
    }
    answers.sort_by_key(|answer| answer.source);
    answers
}

/// Opens a session and lists, each within the time that `serve` gives it.
async fn list_once(
    endpoint: &Endpoint,
    credentials: &Arc<Credentials>,
    is_older: bool,
) -> Result<Listing, ServerProblem> {
    let too_slow = |_| endpoint.too_slow();
    let nobody = watch::channel(None).1;
    let opening = Session::open(endpoint, credentials, &nobody, is_older);
    let session = timeout(endpoint.timeout, opening).await.map_err(too_slow)??;
    let listed = timeout(endpoint.timeout, session.list()).await.map_err(too_slow);
    session.close().await;
    Ok(listed??.0)
}
