//! All connections of a program: one [`Connection`] for each server, for lists and for calls.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::client::ClientSession;
use super::connection::{Connection, Listener};
use super::endpoint::{Endpoint, endpoints};
use super::server_problem::{Away, ServerProblem};
use super::server_state::LiveServer;
use super::session::Session;
use super::starts::Starts;
use crate::credentials::Credentials;
use toolcrib_catalog::config::{Config, Environment, Server, Workspace};
use toolcrib_catalog::sources::listings::{Awaited, Listing, Listings, NoList};
use toolcrib_definition::guard::locked;

/// Longest wait for servers to end when they are no longer needed.
pub(super) const ENDING: Duration = Duration::from_secs(6);
/// Connections of single callers and clients that are kept.
const MAX_PRIVATE: usize = 64;
/// Shortest and longest wait for a server after the others have listed their tools, where nothing is configured.
const SHORTEST_WAIT: Duration = Duration::from_millis(1_250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Longest wait for the first list of any server where there is no other tool, and beside tools that are not of servers.
const NOTHING_LISTED: Duration = Duration::from_secs(30);
const BESIDE_OWN_TOOLS: Duration = Duration::from_secs(2);

/// The connections of a program to MCP servers, shared by everything that lists their tools or calls them.
#[derive(Default)]
pub struct Connections {
    credentials: Arc<Credentials>,
    /// Runs the connections: the runtime of the program, or one of their own.
    handle: Option<Handle>,
    own: Mutex<Option<Runtime>>,
    /// The connections; the private one that was used last is at the end.
    connections: Mutex<Vec<Arc<Connection>>>,
    /// The tasks of connections, and of dropped ones until they have ended.
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// The folder of remembered lists.
    remembered: Option<PathBuf>,
    /// Called when a list changes.
    listener: Listener,
    /// The only client of the process, once it is known.
    client: watch::Sender<Option<Arc<ClientSession>>>,
    /// Whether that client has not spoken yet.
    awaits_client: watch::Sender<bool>,
    starts: Arc<Starts>,
}

impl Connections {
    /// No connections yet. They get secrets from this environment, and a runtime of their own.
    pub fn new(environment: Environment) -> Self {
        Self::default().with_credentials(Arc::new(Credentials::new(environment)))
    }

    /// The same, on the runtime of the program: what runs there reaches a server without waking a thread.
    pub fn on(environment: Environment, runtime: Handle) -> Self {
        let mut connections = Self::new(environment);
        connections.handle = Some(runtime);
        connections
    }

    /// Starts no server before the only client of the process has spoken: what servers may ask it is declared when they start.
    pub fn awaiting_client(self) -> Self {
        self.awaits_client.send_replace(true);
        self
    }

    /// Remembers the lists of servers in this folder, and reads there what they listed last.
    pub fn remember_in(mut self, folder: PathBuf) -> Self {
        self.remembered = Some(folder);
        self
    }

    /// The same with these tokens for servers.
    pub fn with_credentials(mut self, credentials: Arc<Credentials>) -> Self {
        self.credentials = credentials;
        self
    }

    /// The tokens for servers.
    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// Opens connections for the only client of the process from now on, and again where servers may ask it.
    pub fn serve_client(&self, client: &Arc<ClientSession>) {
        self.client.send_replace(Some(Arc::clone(client)));
        self.begin();
    }

    /// Starts the servers: the only client of the process has spoken.
    pub fn begin(&self) {
        self.awaits_client.send_if_modified(std::mem::take);
    }

    pub fn environment(&self) -> &Environment {
        self.credentials.environment()
    }

    /// Sets the function that is called when a list changes, or when a server goes away or comes back.
    pub fn on_change(&self, changed: impl Fn() + Send + Sync + 'static) {
        *locked(&self.listener) = Some(Arc::new(changed));
    }

    /// An open session with a server. Starts a server that does not run.
    pub async fn session(&self, endpoint: &Endpoint) -> Result<Arc<Session>, Away> {
        self.connection(endpoint)?.session().await
    }

    /// The servers whose tools are listed, in the order in which they were first named.
    pub fn servers(&self) -> Vec<LiveServer> {
        let connections = locked(&self.connections);
        let is_shared = |connection: &&Arc<Connection>| !connection.endpoint.is_private();
        let listed = connections.iter().filter(is_shared).filter(|connection| connection.is_listed());
        let server = |connection: &Arc<Connection>| LiveServer {
            endpoint: connection.endpoint.clone(),
            state: connection.state().clone(),
        };
        listed.map(server).collect()
    }

    /// Asks all servers for their lists again; one that is away is tried at once.
    pub fn ask_again(&self) {
        locked(&self.connections).iter().for_each(|connection| connection.ask_again());
    }

    /// The current lists of the servers of a workspace. New servers get this long to answer, unless `is_needless` says
    /// that nobody waits for them; servers that are gone from the workspace are dropped.
    pub fn listings(
        &self,
        workspace: &Workspace,
        patience: Duration,
        is_needless: &dyn Fn() -> bool,
    ) -> Listings {
        let wanted: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
        self.keep_only(&workspace.config, &wanted);
        let found: Vec<_> =
            wanted.iter().map(|(index, endpoint)| (*index, self.connection(endpoint))).collect();
        let connections = || found.iter().filter_map(|(_, found)| found.as_ref().ok());
        connections().for_each(|connection| connection.set_listed(true));
        let is_settled = |found: &Arc<Connection>| {
            let wait = found.endpoint.server.wait().unwrap_or(patience).min(patience);
            let state = found.state();
            state.listing.is_some() || state.listed_since.is_none_or(|since| since.elapsed() >= wait)
        };
        while !connections().all(is_settled) && !is_needless() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut listings = Listings::default();
        let last_listed = connections().filter_map(|connection| connection.state().first_listed()).max();
        let has_own_tools = workspace.config.sources.iter().any(|source| source.mcp.is_none());
        let longest = if has_own_tools { BESIDE_OWN_TOOLS } else { NOTHING_LISTED };
        for (index, found) in found {
            let listing = match found {
                Ok(found) => {
                    let listing = found.listing().unwrap_or_else(|| {
                        wait_for(&found, &mut listings.awaited, last_listed, longest);
                        Listing::problem(NoList::Other("it has not answered yet".into()))
                    });
                    self.of_clients(&found.endpoint).iter().fold(listing, Listing::with_more)
                }
                Err(problem) => Listing::problem(problem.no_list()),
            };
            listings.by_source.insert(index, listing);
        }
        listings
    }

    /// The lists that a server has announced to single clients.
    fn of_clients(&self, shared: &Endpoint) -> Vec<Listing> {
        let connections = locked(&self.connections);
        let is_of_client = |connection: &&Arc<Connection>| {
            let Endpoint { name, server, .. } = &connection.endpoint;
            (name, server) == (&shared.name, &shared.server) && connection.endpoint.is_of_client()
        };
        let own = connections.iter().filter(is_of_client).filter(|connection| connection.is_kept());
        own.filter_map(|connection| connection.listing()).collect()
    }

    /// Closes all connections; servers get a short time to end.
    pub async fn close(&self) {
        let _ = timeout(ENDING, join_all(self.drop_all())).await;
    }

    fn drop_all(&self) -> Vec<JoinHandle<()>> {
        let mut connections = locked(&self.connections);
        connections.drain(..).for_each(|connection| connection.end_within(Duration::ZERO));
        std::mem::take(&mut *locked(&self.tasks))
    }

    /// Drops the connections of servers that are no longer configured.
    fn keep_only(&self, config: &Config, listed: &[(usize, Endpoint)]) {
        locked(&self.connections).retain(|connection| {
            let endpoint = &connection.endpoint;
            let is_kept = is_configured(&endpoint.server, config);
            if !is_kept {
                connection.end_within(Duration::MAX);
            } else if !endpoint.is_private() && !listed.iter().any(|(_, listed)| listed == endpoint) {
                connection.set_listed(false);
            }
            is_kept
        });
    }

    /// The connection to a server, and its task.
    fn connection(&self, endpoint: &Endpoint) -> Result<Arc<Connection>, ServerProblem> {
        let mut connections = locked(&self.connections);
        let is_private = endpoint.is_private();
        if let Some(at) = connections.iter().position(|known| known.endpoint == *endpoint) {
            let found = if is_private { connections.remove(at) } else { Arc::clone(&connections[at]) };
            if found.is_kept() {
                if is_private {
                    connections.push(Arc::clone(&found));
                }
                return Ok(found);
            }
        }
        let handle = self.runtime()?;
        if is_private {
            make_room(&mut connections);
        }
        let folder = if is_private { None } else { self.remembered.clone() };
        let client = match &endpoint.user.client {
            Some(client) => watch::channel(Some(Arc::clone(client))).1,
            None => self.client.subscribe(),
        };
        let credentials = Arc::clone(&self.credentials);
        let listener = Arc::clone(&self.listener);
        let turns = (Arc::clone(&self.starts), self.awaits_client.subscribe());
        let connection =
            Arc::new(Connection::new(endpoint.clone(), credentials, folder, client, turns, listener));
        connections.push(Arc::clone(&connection));
        let mut tasks = locked(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(handle.spawn(Arc::clone(&connection).keep()));
        Ok(connection)
    }

    fn runtime(&self) -> Result<Handle, ServerProblem> {
        if let Some(handle) = &self.handle {
            return Ok(handle.clone());
        }
        let mut own = locked(&self.own);
        let own = match &mut *own {
            Some(own) => own,
            none => none.insert(runtime()?),
        };
        Ok(own.handle().clone())
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        let tasks = self.drop_all();
        let Some(runtime) = locked(&self.own).take() else { return };
        // A thread that runs tasks must not wait; the runtime then ends by itself.
        if Handle::try_current().is_ok() {
            return runtime.shutdown_background();
        }
        let _ = runtime.block_on(async { timeout(ENDING, join_all(tasks)).await });
        // Tasks that have not ended by now are dropped, with their processes.
        runtime.shutdown_timeout(Duration::from_millis(250));
    }
}

/// Drops the private connections that have not been used for the longest time, so that one more can be kept.
fn make_room(connections: &mut Vec<Arc<Connection>>) {
    connections.retain(|connection| !connection.state().status.is_ended());
    let private = connections.iter().filter(|connection| connection.endpoint.is_private()).count();
    let excess = (private + 1).saturating_sub(MAX_PRIVATE);
    let private = connections.extract_if(.., |connection| connection.endpoint.is_private());
    private.take(excess).for_each(|connection| connection.end_within(Duration::MAX));
}

/// Adds a server to those that are waited for. A server is waited for as long as nothing is listed, and then for the
/// configured time after the last other server has listed its tools: one that hangs must not delay the others. On a slow
/// machine all of them take long, so that the wait is by default as long as the others took.
fn wait_for(
    connection: &Connection,
    awaited: &mut Option<Awaited>,
    last_listed: Option<tokio::time::Instant>,
    longest: Duration,
) {
    let Some(since) = connection.state().listed_since else { return };
    let configured = connection.endpoint.server.wait();
    let until = match last_listed {
        Some(last) => {
            let as_long = || last.saturating_duration_since(since).clamp(SHORTEST_WAIT, LONGEST_WAIT);
            last.max(since) + configured.unwrap_or_else(as_long)
        }
        None if configured == Some(Duration::ZERO) => since,
        None => since + configured.unwrap_or_default().max(longest),
    };
    let until = until.into_std();
    if until > Instant::now() {
        let awaited = awaited.get_or_insert(Awaited { servers: Vec::new(), until });
        awaited.servers.push(connection.endpoint.name.clone());
        awaited.until = awaited.until.max(until);
    }
}

fn is_configured(server: &Server, config: &Config) -> bool {
    let live = config.sources.iter().filter_map(|source| source.mcp.as_ref());
    config.servers.values().chain(live).any(|configured| configured == server)
}

/// A runtime for connections, where the program has none that they could use.
pub(super) fn runtime() -> Result<Runtime, ServerProblem> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}").into())
}
