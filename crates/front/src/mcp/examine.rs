//! Servers, asked once: their lists, and the time and the way in which they answered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::endpoint::Endpoint;
use super::live_servers::{endpoints, name};
use super::remembered_lists;
use super::runtime::{ENDING, runtime};
use super::server_problem::Problem;
use super::session::{Session, SessionFacts};
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
    /// The way to the server: `stdio` or `http`.
    pub transport: &'static str,
    /// Number of its tools, and facts about it; or the reason why it does not list them.
    pub outcome: Result<Answered, Problem>,
    /// The time of starting, connecting and listing.
    pub took: Duration,
}

/// The answer of a server.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Number of its tools.
    pub tools: usize,
    /// The version of the protocol, its own name and its version.
    pub facts: SessionFacts,
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
    for asked in &examined {
        let endpoint = endpoints(workspace).find(|(index, _)| *index == asked.source);
        let (Some((_, endpoint)), Some(listing)) = (endpoint, listings.by_source.get_mut(&asked.source))
        else {
            continue;
        };
        let wants_sign_in = asked.outcome.as_ref().is_err_and(|why| why.sign_in.is_some());
        if asked.outcome.is_ok() {
            // A list that cannot be kept is of use now.
            let _ = remembered_lists::write(&folder, &endpoint, listing);
        } else if wants_sign_in && let Some(known) = remembered_lists::read(&folder, &endpoint) {
            *listing = Listing { problem: listing.problem.take(), ..known };
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
    let servers: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
    let mut listings = Listings::default();
    if servers.is_empty() {
        return (Vec::new(), listings);
    }
    let answers = match runtime() {
        Ok(runtime) => {
            let answers = runtime.block_on(ask_all(workspace, servers, credentials, waiting));
            runtime.shutdown_timeout(ENDING);
            answers
        }
        Err(problem) => {
            let failed = |(source, endpoint)| ServerAnswer {
                source,
                endpoint,
                outcome: Err(problem.clone()),
                took: Duration::ZERO,
            };
            servers.into_iter().map(failed).collect()
        }
    };
    let examined = answers.into_iter().map(|ServerAnswer { source, endpoint, outcome, took }| {
        let (outcome, listing) = match outcome {
            Ok((facts, listing)) => (Ok(Answered { tools: listing.count, facts }), listing),
            Err(problem) => (Err(problem.clone()), Listing::problem(problem.to_string())),
        };
        listings.by_source.insert(source, listing);
        let name = name(workspace, source, &endpoint.server);
        Examined { name, source, transport: endpoint.transport(), outcome, took }
    });
    (examined.collect(), listings)
}

/// The answer of a server to the question for its list.
struct ServerAnswer {
    source: usize,
    endpoint: Endpoint,
    outcome: Result<(SessionFacts, Listing), Problem>,
    took: Duration,
}

/// Asks all servers at the same time.
async fn ask_all(
    workspace: &Workspace,
    servers: Vec<(usize, Endpoint)>,
    credentials: &Arc<Credentials>,
    waiting: &dyn Fn(&[String]),
) -> Vec<ServerAnswer> {
    let mut asked = JoinSet::new();
    let mut names = BTreeMap::new();
    for (source, endpoint) in servers {
        names.insert(source, name(workspace, source, &endpoint.server));
        let credentials = Arc::clone(credentials);
        asked.spawn(async move {
            let start = Instant::now();
            let outcome = list_once(&endpoint, &credentials).await;
            ServerAnswer { source, endpoint, outcome, took: start.elapsed() }
        });
    }
    let mut answers = Vec::new();
    loop {
        waiting(&names.values().cloned().collect::<Vec<_>>());
        // A task that panicked has no number; its server is then one that was not contacted.
        match asked.join_next().await {
            Some(Ok(answer)) => {
                names.remove(&answer.source);
                answers.push(answer);
            }
            Some(Err(_)) => {}
            None => break,
        }
    }
    answers.sort_by_key(|answer| answer.source);
    answers
}

async fn list_once(
    endpoint: &Endpoint,
    credentials: &Arc<Credentials>,
) -> Result<(SessionFacts, Listing), Problem> {
    let asked = async {
        let session = Session::open(endpoint, credentials, &watch::channel(None).1, false).await?;
        let listed = session.list().await;
        let facts = session.facts();
        session.close().await;
        Ok((facts, listed?.0))
    };
    tokio::time::timeout(endpoint.timeout, asked).await.unwrap_or_else(|_| Err(endpoint.too_slow().into()))
}
