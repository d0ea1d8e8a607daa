//! Live MCP servers as sources: what they list is read like a dump of `tools/list`.
//!
//! 1. [`endpoint`] is how a server is reached: a command with its environment, or a URL with its headers.
//! 2. [`session`] connects, in either era of the protocol, and lists all pages within limits.
//! 3. [`list_all`] does that once, for all servers of a workspace at the same time; [`Servers`] goes on, and keeps what
//!    a server listed last while it is away.
//!    [`keys`] are looked at before the SDK reads a line.
//! 4. A [`Session`] also calls tools, for those who run them ([`call`]).
//! 5. [`answers`] are the [`Listings`] as documents, like those of files.

mod call;
mod endpoint;
mod follow;
mod line_check;
mod process;
mod secrets;
mod session;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::config::{Source, Workspace};
use crate::finding::{Code, Document, Finding, Format, Limits, Place};

pub(crate) use call::McpCallError;
pub(crate) use endpoint::{Endpoint, inherited};
pub use follow::Servers;
pub(crate) use line_check::{BadLine, LineCheck, LineProblem, problem_of};
pub(crate) use secrets::{Missing, Secrets};
pub(crate) use session::Session;

/// How long servers have to end when nobody needs them any more.
const ENDING: Duration = Duration::from_secs(6);

/// Where environment variables come from. What it tells is for servers, and shown to nobody.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// The variables that this function knows.
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }
}

impl Default for Environment {
    /// No variables at all.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Environment")
    }
}

/// What one server listed, and why it does not answer now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Listing {
    /// What it listed last, as a dump.
    tools: Option<Arc<str>>,
    /// What it calls itself.
    server: Option<String>,
    problem: Option<String>,
}

impl Listing {
    fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

/// What the live servers of a workspace listed, by the number of their source. None: nobody was asked.
#[derive(Clone, Debug, Default)]
pub struct Listings(BTreeMap<usize, Listing>);

/// The servers of a workspace that can be reached at all.
fn endpoints(workspace: &Workspace) -> impl Iterator<Item = (usize, Endpoint)> {
    let sources = workspace.config.sources.iter().enumerate();
    sources.filter_map(|(index, source)| {
        let server = source.mcp.as_ref().filter(|server| server.problem().is_none())?;
        Some((index, Endpoint::new(server, &workspace.root)))
    })
}

/// Asks all servers of a workspace at the same time, and lets them go.
pub fn list_all(workspace: &Workspace, environment: &Environment) -> Listings {
    let servers: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
    let mut listings = Listings::default();
    if servers.is_empty() {
        return listings;
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(problem) => {
            listings.0.extend(servers.into_iter().map(|(index, _)| (index, Listing::problem(&problem))));
            return listings;
        }
    };
    listings.0 = runtime.block_on(async {
        let mut asked = JoinSet::new();
        for (index, endpoint) in servers {
            let environment = environment.clone();
            asked.spawn(async move { (index, list_once(&endpoint, &environment).await) });
        }
        asked.join_all().await.into_iter().collect()
    });
    runtime.shutdown_timeout(ENDING);
    listings
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}"))
}

async fn list_once(endpoint: &Endpoint, environment: &Environment) -> Listing {
    let asked = async {
        let mut session = Session::open(endpoint, environment).await?;
        let listed = session.list().await;
        session.close().await;
        listed.map(|listed| listed.listing)
    };
    match tokio::time::timeout(endpoint.timeout, asked).await {
        Ok(Ok(listing)) => listing,
        Ok(Err(problem)) => Listing::problem(problem),
        Err(_) => Listing::problem(endpoint.too_slow()),
    }
}

/// What one source gives.
pub(super) struct ServerListing {
    /// The number of the source.
    pub(super) index: usize,
    /// The source, with the server's own name if it has no other.
    pub(super) source: Source,
    /// The tools, as a dump, or why there are none.
    pub(super) document: Result<Document, Finding>,
    /// Why they may be out of date.
    pub(super) stale: Option<Finding>,
}

/// The listings as documents, like those of files.
pub(super) fn answers(workspace: &Workspace, listings: &Listings, limits: &Limits) -> Vec<ServerListing> {
    let live = |(index, _)| answer(workspace, listings, limits, index);
    endpoints(workspace).map(live).collect()
}

fn answer(workspace: &Workspace, listings: &Listings, limits: &Limits, index: usize) -> ServerListing {
    let mut source = workspace.config.sources.get(index).cloned().unwrap_or_default();
    let name = format!("mcp:{}", source.server.clone().unwrap_or_else(|| (index + 1).to_string()));
    let found = |code: Code, message: String| {
        let finding = Finding::new(code, message);
        match &workspace.document {
            Some(config) => finding.at(Place::new(&config.file, format!("/source/{index}/mcp"))),
            None => finding,
        }
    };
    let Some(listing) = listings.0.get(&index) else {
        let finding = found(Code::SourceUnreachable, format!("{name} was not contacted"));
        let document =
            Err(finding.help("its tools are there when nothing forbids contact, as --offline does"));
        return ServerListing { index, source, document, stale: None };
    };
    source.server = source.server.or_else(|| listing.server.clone());
    let problem = listing.problem.as_deref().unwrap_or("no answer");
    let Some(tools) = &listing.tools else {
        let document = Err(found(Code::SourceUnreachable, format!("{name} gives no tools: {problem}")));
        return ServerListing { index, source, document, stale: None };
    };
    let stale = listing.problem.as_ref().map(|problem| {
        let message = format!("{name} is away, and its last known tools are kept: {problem}");
        found(Code::SourceStale, message)
    });
    let document = Document::parse(&name, tools.as_bytes().to_vec(), Format::Json, limits);
    ServerListing { index, source, document, stale }
}
