//! Servers, asked once: their lists, and the time and the way in which they answered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connections::{ENDING, runtime};
use super::endpoint::{Endpoint, endpoints, name};
use super::remembered_lists;
use super::server_problem::ServerProblem;
use super::session::Session;
use crate::credentials::Credentials;
use toolcrib_catalog::config::Workspace;
use toolcrib_catalog::sources::{Listing, Listings};

/// One server, asked once.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The name of the server, for people.
    pub name: String,
    /// Position of its source in the configuration.
    source: usize,
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
    remembered: Option<PathBuf>,
    waiting: &dyn Fn(&[String]),
) -> Listings {
    let (examined, mut listings) = examine(workspace, credentials, waiting);
    let Some(folder) = remembered else { return listings };
    for Examined { source, endpoint, outcome, .. } in &examined {
        match outcome {
            // A list that cannot be kept is of use now.
            Ok(listing) => _ = remembered_lists::write(&folder, endpoint, listing),
            Err(problem) if problem.no_token().is_some() => {
                if let Some(known) = remembered_lists::read(&folder, endpoint) {
                    let listing = listings.by_source.entry(*source).or_default();
                    *listing = Listing { problem: listing.problem.take(), ..known };
                }
            }
            Err(_) => {}
        }
    }
    listings
}

/// The same, with facts about each server, in the order of the configuration.
pub fn examine(
    workspace: &Workspace,
    credentials: &Arc<Credentials>,
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
                servers = runtime.block_on(ask_all(servers, credentials, waiting));
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

/// Asks all servers at the same time.
async fn ask_all(
    servers: Vec<Examined>,
    credentials: &Arc<Credentials>,
    waiting: &dyn Fn(&[String]),
) -> Vec<Examined> {
    let named = servers.iter().map(|server| (server.source, server.name.clone()));
    let mut names: BTreeMap<usize, String> = named.collect();
    let ask = |server: Examined| {
        let credentials = Arc::clone(credentials);
        async move {
            let start = Instant::now();
            let outcome = list_once(&server.endpoint, &credentials).await;
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

async fn list_once(endpoint: &Endpoint, credentials: &Arc<Credentials>) -> Result<Listing, ServerProblem> {
    let asked = async {
        let session = Session::open(endpoint, credentials, &watch::channel(None).1, false).await?;
        let listed = session.list().await;
        session.close().await;
        Ok(listed?.0)
    };
    tokio::time::timeout(endpoint.timeout, asked).await.unwrap_or_else(|_| Err(endpoint.too_slow()))
}
