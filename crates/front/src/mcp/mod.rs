//! Live MCP servers as sources: their lists are read like dumps of `tools/list`.
//!
//! 1. [`endpoint`] is the address of a server: a command with its environment ([`stdio`]), or a URL with its headers
//!    ([`http`]). A [`Problem`] is the reason why it cannot be used.
//! 2. A [`Session`] is one open connection, in either version of the protocol: it calls tools, lists them page by page within
//!    limits, and follows changes.
//! 3. [`list_all`] lists the tools once, of all servers of a workspace at the same time.
//! 4. [`Connections`] stay: each [`connection`] is opened again after it has ended, and keeps the last list of a server
//!    while it is away; the next program reads that list too ([`connections`]).
//! 5. [`requests`] sends all other requests of clients, and takes messages of servers back to their clients.
//! 6. [`Listings`] are read like dumps.

mod connection;
mod connections;
mod endpoint;
mod http;
mod message;
mod requests;
mod secrets;
mod session;
mod stdio;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::credentials::Credentials;
use connections::Remembered;
use toolcrib_catalog::config::{Server, Workspace};
use toolcrib_catalog::sources::{Listing, Listings, live_servers};
use toolcrib_definition::clean_line;

pub use connection::Status;
pub use connections::{Connections, ServerState};
pub use endpoint::Problem;
pub use endpoint::{Endpoint, EndpointUser, inherited};
pub use requests::{ClientInput, ClientSession, RequestOrigin};
pub use requests::{ServerList, ServerMessage, ask, bound, to_client};
pub use secrets::{FilledSecrets, Missing};
pub use session::SessionFacts;
pub use session::{Changes, McpCallError, Session};
pub use stdio::{BadLine, Line, LineCheck, LineProblem, problem_of, with_its_children};
pub use toolcrib_catalog::config::Environment;

/// Longest wait for servers to end when they are no longer needed.
const ENDING: Duration = Duration::from_secs(6);

/// The servers of a workspace whose address is complete.
fn endpoints(workspace: &Workspace) -> impl Iterator<Item = (usize, Endpoint)> {
    live_servers(workspace).map(|(index, server)| {
        let given = workspace.config.sources.get(index).and_then(|source| source.server.clone());
        let name = given.unwrap_or_else(|| (index + 1).to_string());
        (index, Endpoint::new(&name, server, &workspace.root))
    })
}

/// Names of the live servers of a workspace, for people.
pub fn server_names(workspace: &Workspace) -> Vec<String> {
    live_servers(workspace).map(|(index, server)| name(workspace, index, server)).collect()
}

/// The name that the configuration gives a server; otherwise its address or command.
fn name(workspace: &Workspace, index: usize, server: &Server) -> String {
    let given = workspace.config.sources.get(index).and_then(|source| source.server.as_deref());
    given.map_or_else(|| server.shown(), clean_line)
}

fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}").into())
}

// Servers, asked once: their lists, and the time and the way in which they answered.

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
    let Some(remembered) = remembered.map(Remembered::new) else { return listings };
    for asked in &examined {
        let endpoint = endpoints(workspace).find(|(index, _)| *index == asked.source);
        let (Some((_, endpoint)), Some(listing)) = (endpoint, listings.by_source.get_mut(&asked.source))
        else {
            continue;
        };
        let wants_sign_in = asked.outcome.as_ref().is_err_and(|why| why.sign_in.is_some());
        if asked.outcome.is_ok() {
            // A list that cannot be kept is of use now.
            let _ = remembered.write(&endpoint, listing);
        } else if let Some(known) = remembered.read(&endpoint).filter(|_| wants_sign_in) {
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
        Ok((facts, listed?.listing))
    };
    tokio::time::timeout(endpoint.timeout, asked).await.unwrap_or_else(|_| Err(endpoint.too_slow().into()))
}
