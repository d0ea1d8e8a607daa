//! All connections of a program: one for each server, for lists and for calls.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::connection::{Connection, Status, Surroundings};
use super::endpoint::Endpoint;
use super::problem::Problem;
use super::remembered::Remembered;
use super::request_origin::ClientSession;
use super::session::Session;
use super::{ENDING, Environment, endpoints, runtime};
use crate::config::{Config, Server, Workspace};
use crate::credentials::Credentials;
use crate::sources::listings::{Awaited, Listing, Listings};

/// Connections of single callers and clients that are kept.
const MAX_PRIVATE: usize = 64;
/// Longest wait for the first list of a new server before the catalog is read without it.
const MIN_LISTING_INTERVAL: Duration = Duration::from_secs(2);

/// The connections of a program to MCP servers, shared by everything that lists their tools or calls them.
pub struct Connections {
    credentials: Arc<Credentials>,
    /// Runs the connections: the runtime of the program, or one of their own.
    handle: Option<Handle>,
    own: Mutex<Option<Runtime>>,
    known: Mutex<Known>,
    /// The folder of remembered lists.
    remembered: Option<Remembered>,
    /// Called when a list changes.
    listener: Arc<Mutex<Option<Listener>>>,
    /// The only client of the process, once it is known.
    client: watch::Sender<Option<Arc<ClientSession>>>,
}

type Listener = Arc<dyn Fn() + Send + Sync>;

/// The connections; the private one that was used last is at the end.
#[derive(Default)]
struct Known {
    connections: Vec<Arc<Connection>>,
    /// The tasks of connections, and of dropped ones until they have ended.
    tasks: Vec<JoinHandle<()>>,
}

/// The state of a server.
#[derive(Clone, Debug)]
pub struct ServerState {
    /// The name of the server, as findings have it after `mcp:`.
    pub name: String,
    /// Whether it runs.
    pub status: Status,
    /// The time since then.
    pub since: Duration,
    /// Number of tools that it listed last; `None` for one that was not listed.
    pub tools: Option<usize>,
    pub(crate) endpoint: Endpoint,
}

impl ServerState {
    /// The way to the server: `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        self.endpoint.transport()
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Connections")
    }
}

impl Connections {
    /// No connections yet. They get secrets from this environment, and a runtime of their own.
    pub fn new(environment: Environment) -> Self {
        let (own, known, listener) = Default::default();
        let client = watch::Sender::new(None);
        let credentials = Arc::new(Credentials::new(environment));
        Self { credentials, handle: None, own, known, remembered: None, listener, client }
    }

    /// The same, on the runtime of the program: what runs there reaches a server without waking a thread.
    pub fn on(environment: Environment, runtime: Handle) -> Self {
        let mut connections = Self::new(environment);
        connections.handle = Some(runtime);
        connections
    }

    /// Remembers the lists of servers in this folder, and reads there what they listed last.
    pub fn remember_in(mut self, folder: PathBuf) -> Self {
        self.remembered = Some(Remembered::new(folder));
        self
    }

    /// The same with these tokens for servers.
    pub fn with_credentials(mut self, credentials: Arc<Credentials>) -> Self {
        self.credentials = credentials;
        self
    }

    /// The tokens for servers.
    pub(crate) fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// Opens connections for the only client of the process from now on, and again where servers may ask it.
    pub(crate) fn serve_client(&self, client: &Arc<ClientSession>) {
        self.client.send_replace(Some(Arc::clone(client)));
    }

    /// The environment.
    pub(crate) fn environment(&self) -> &Environment {
        self.credentials.environment()
    }

    /// Sets the function that is called when a list changes, or when a server goes away or comes back.
    pub fn on_change(&self, changed: impl Fn() + Send + Sync + 'static) {
        *locked(&self.listener) = Some(Arc::new(changed));
    }

    /// An open session with a server. Starts a server that does not run.
    pub(crate) async fn session(&self, endpoint: &Endpoint) -> Result<Arc<Session>, Problem> {
        let connection = self.connection(endpoint)?;
        connection.session().await
    }

    /// The servers whose tools are listed, in the order in which they were first named.
    pub fn servers(&self) -> Vec<ServerState> {
        let known = self.known();
        known.connections.iter().filter(|connection| connection.is_listed()).map(state).collect()
    }

    /// The current lists of the servers of a workspace. New servers get a moment to answer, unless `is_needless` says
    /// that it is not needed; servers that are gone from the workspace are dropped.
    pub fn listings(&self, workspace: &Workspace, is_needless: &dyn Fn() -> bool) -> Listings {
        let wanted: Vec<(usize, Endpoint)> = endpoints(workspace).collect();
        self.keep_only(&workspace.config, &wanted);
        let found: Vec<_> =
            wanted.iter().map(|(index, endpoint)| (*index, self.connection(endpoint))).collect();
        found.iter().filter_map(|(_, found)| found.as_ref().ok()).for_each(|found| found.set_listed(true));
        let is_settled = |found: &Arc<Connection>| {
            let wait = found.endpoint.server.wait().min(MIN_LISTING_INTERVAL);
            found.listing().is_some() || found.listed_for() >= wait
        };
        while !found.iter().flat_map(|(_, found)| found).all(is_settled) && !is_needless() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut listings = Listings::default();
        for (index, found) in found {
            let listing = match &found {
                Ok(found) => found.listing(),
                Err(problem) => Some(Listing::problem(problem.to_string())),
            };
            if let (None, Ok(found)) = (&listing, &found) {
                listings.awaited = awaited(listings.awaited, found);
            }
            let listing = listing.unwrap_or_else(|| Listing::problem("it has not answered yet"));
            listings.by_source.insert(index, listing);
        }
        listings
    }

    /// The reason why a server whose tools are listed is away.
    pub fn problem(&self, server: &str) -> Option<Problem> {
        let known = self.known();
        let mut listed = known.connections.iter().filter(|connection| connection.is_listed());
        match listed.find(|connection| connection.endpoint.name == server)?.status().0 {
            Status::Failed(problem) => Some(problem),
            _ => None,
        }
    }

    /// Closes all connections; servers get a short time to end.
    pub async fn close(&self) {
        let tasks = self.drop_all();
        let ended = async {
            for task in tasks {
                let _ = task.await;
            }
        };
        let _ = timeout(ENDING, ended).await;
    }

    fn drop_all(&self) -> Vec<JoinHandle<()>> {
        let known = std::mem::take(&mut *self.known());
        known.connections.iter().for_each(|connection| connection.drop_within(Duration::ZERO));
        known.tasks
    }

    /// Drops the connections of servers that are no longer configured.
    fn keep_only(&self, config: &Config, listed: &[(usize, Endpoint)]) {
        let mut known = self.known();
        known.connections.retain(|connection| {
            let endpoint = &connection.endpoint;
            let is_kept = is_configured(&endpoint.server, config);
            if !is_kept {
                connection.drop_within(endpoint.timeout);
            } else if !listed.iter().any(|(_, listed)| listed == endpoint) {
                connection.set_listed(false);
            }
            is_kept
        });
    }

    /// The connection to a server, and its task.
    fn connection(&self, endpoint: &Endpoint) -> Result<Arc<Connection>, Problem> {
        let mut known = self.known();
        if let Some(at) = known.connections.iter().position(|known| known.endpoint == *endpoint) {
            let found = Arc::clone(&known.connections[at]);
            let is_kept = found.last_use.is_kept();
            if endpoint.is_private() {
                known.connections.remove(at);
            }
            if is_kept {
                if endpoint.is_private() {
                    known.connections.push(Arc::clone(&found));
                }
                return Ok(found);
            }
        }
        let handle = self.runtime()?;
        if endpoint.is_private() {
            known.make_room();
        }
        let remembered = self.remembered.as_ref().filter(|_| !endpoint.is_private());
        let listing = remembered.and_then(|remembered| remembered.read(endpoint));
        let connection = Arc::new(Connection::new(endpoint.clone(), listing, &self.credentials));
        known.connections.push(Arc::clone(&connection));
        known.tasks.retain(|task| !task.is_finished());
        known.tasks.push(handle.spawn(Arc::clone(&connection).keep(self.surroundings(endpoint))));
        Ok(connection)
    }

    fn surroundings(&self, endpoint: &Endpoint) -> Surroundings {
        let listener = Arc::clone(&self.listener);
        let changed = move || {
            let listener = locked(&listener).clone();
            if let Some(listener) = listener {
                listener();
            }
        };
        let (credentials, remembered) = (Arc::clone(&self.credentials), self.remembered.clone());
        let client = match &endpoint.client {
            Some(client) => watch::channel(Some(Arc::clone(client))).1,
            None => self.client.subscribe(),
        };
        Surroundings { credentials, changed: Arc::new(changed), remembered, client }
    }

    fn runtime(&self) -> Result<Handle, Problem> {
        if let Some(handle) = &self.handle {
            return Ok(handle.clone());
        }
        let mut own = locked(&self.own);
        if own.is_none() {
            *own = Some(runtime()?);
        }
        own.as_ref().map(|runtime| runtime.handle().clone()).ok_or_else(|| "there is no runtime".into())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        locked(&self.known)
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
        let ended = async {
            for task in tasks {
                let _ = task.await;
            }
        };
        let _ = runtime.block_on(async { timeout(ENDING, ended).await });
        // Tasks that have not ended by now are dropped, with their processes.
        runtime.shutdown_timeout(Duration::from_millis(250));
    }
}

impl Known {
    /// Drops the private connections that have not been used for the longest time, so that one more can be kept.
    fn make_room(&mut self) {
        self.connections.retain(|connection| !connection.last_use.has_ended());
        let private = self.connections.iter().filter(|connection| connection.endpoint.is_private()).count();
        let mut excess = (private + 1).saturating_sub(MAX_PRIVATE);
        self.connections.retain(|connection| {
            let is_excess = excess > 0 && connection.endpoint.is_private();
            if is_excess {
                excess -= 1;
                connection.drop_within(connection.endpoint.timeout);
            }
            !is_excess
        });
    }
}

/// The servers that are waited for, with one more.
fn awaited(others: Option<Awaited>, connection: &Connection) -> Option<Awaited> {
    let wait = connection.endpoint.server.wait().checked_sub(connection.listed_for());
    let Some(until) = wait.map(|wait| Instant::now() + wait) else { return others };
    let mut awaited = others.unwrap_or(Awaited { servers: Vec::new(), until });
    awaited.servers.push(connection.endpoint.name.clone());
    awaited.until = awaited.until.max(until);
    Some(awaited)
}

fn state(connection: &Arc<Connection>) -> ServerState {
    let (status, since) = connection.status();
    let endpoint = connection.endpoint.clone();
    let tools = connection.listing().and_then(|listing| listing.tools.map(|_| listing.count));
    ServerState { name: endpoint.name.clone(), status, since, tools, endpoint }
}

fn is_configured(server: &Server, config: &Config) -> bool {
    let live = config.sources.iter().filter_map(|source| source.mcp.as_ref());
    config.servers.values().chain(live).any(|configured| configured == server)
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
