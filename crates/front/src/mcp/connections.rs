//! All connections of a program: one for each server, for lists and for calls.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::connection::{Connection, Status, Surroundings};
use super::endpoint::{Endpoint, Problem};
use super::requests::ClientSession;
use super::session::{MAX_BYTES, MAX_TOOLS, Session};
use super::{ENDING, Environment, endpoints, runtime};
use crate::credentials::{self, Credentials, acts_as};
use toolcrib_catalog::config::{Config, Server, Workspace};
use toolcrib_catalog::sources::listings::{Awaited, Listing, Listings};
use toolcrib_definition::guard::locked;
use toolcrib_definition::private_file;

/// Connections of single callers and clients that are kept.
const MAX_PRIVATE: usize = 64;
/// Shortest and longest wait for a server after the others have listed their tools, where nothing is configured.
const SHORTEST_WAIT: Duration = Duration::from_millis(1_250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Longest wait for the first list of any server where there is no other tool, and beside tools that are not of servers.
const NOTHING_LISTED: Duration = Duration::from_secs(30);
const BESIDE_OWN_TOOLS: Duration = Duration::from_secs(2);

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
    /// The time since its tools were last asked for.
    pub asked: Option<Duration>,
    /// Number of times that the connection ended, or could not be made.
    pub ends: u64,
    /// The reason for the last time.
    pub last_problem: Option<String>,
    pub(crate) endpoint: Endpoint,
}

impl ServerState {
    /// The way to the server: `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        self.endpoint.transport()
    }

    /// The sign-in with which the server is called, in words; `None` where it needs none.
    pub fn sign_in(&self, credentials: &Credentials) -> Option<String> {
        let server = &self.endpoint.server;
        acts_as(server)?;
        if let Some(identity) = credentials::identity(server) {
            return Some(identity);
        }
        Some(match credentials.sign_in_to((&self.name, server)) {
            Ok(None) => "nobody has signed in".into(),
            Ok(Some(sign_in)) if sign_in.is_active() => format!("signed in at {}", sign_in.issuer),
            Ok(Some(sign_in)) if sign_in.is_refreshable() => {
                format!("signed in at {}, renewed at the next use", sign_in.issuer)
            }
            Ok(Some(sign_in)) => format!("the sign-in at {} has ended", sign_in.issuer),
            Err(error) => error.to_string(),
        })
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
        Self {
            credentials: Arc::new(Credentials::new(environment)),
            handle: None,
            own: Mutex::default(),
            known: Mutex::default(),
            remembered: None,
            listener: Arc::default(),
            client: watch::Sender::new(None),
        }
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
    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// Opens connections for the only client of the process from now on, and again where servers may ask it.
    pub fn serve_client(&self, client: &Arc<ClientSession>) {
        self.client.send_replace(Some(Arc::clone(client)));
    }

    /// The environment.
    pub fn environment(&self) -> &Environment {
        self.credentials.environment()
    }

    /// Sets the function that is called when a list changes, or when a server goes away or comes back.
    pub fn on_change(&self, changed: impl Fn() + Send + Sync + 'static) {
        *locked(&self.listener) = Some(Arc::new(changed));
    }

    /// An open session with a server. Starts a server that does not run.
    pub async fn session(&self, endpoint: &Endpoint) -> Result<Arc<Session>, Problem> {
        let connection = self.connection(endpoint)?;
        connection.session().await
    }

    /// The servers whose tools are listed, in the order in which they were first named.
    pub fn servers(&self) -> Vec<ServerState> {
        let known = locked(&self.known);
        known
            .connections
            .iter()
            .filter(|connection| connection.is_listed())
            .map(|connection| connection.server_state())
            .collect()
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
        found.iter().filter_map(|(_, found)| found.as_ref().ok()).for_each(|found| found.set_listed(true));
        let is_settled = |found: &Arc<Connection>| {
            let wait = found.endpoint.server.wait().unwrap_or(patience).min(patience);
            found.listing().is_some() || found.listed_for() >= wait
        };
        while !found.iter().flat_map(|(_, found)| found).all(is_settled) && !is_needless() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut listings = Listings::default();
        let last_listed = found.iter().filter_map(|(_, found)| found.as_ref().ok()?.listed_at().0).max();
        let has_own_tools = workspace.config.sources.iter().any(|source| source.mcp.is_none());
        let longest = if has_own_tools { BESIDE_OWN_TOOLS } else { NOTHING_LISTED };
        for (index, found) in found {
            let listing = match &found {
                Ok(found) => found.listing(),
                Err(problem) => Some(Listing::problem(problem.to_string())),
            };
            if let (None, Ok(found)) = (&listing, &found) {
                listings.awaited = awaited(listings.awaited, found, last_listed, longest);
            }
            let listing = listing.unwrap_or_else(|| Listing::problem("it has not answered yet"));
            listings.by_source.insert(index, listing);
        }
        listings
    }

    /// The reason why a server whose tools are listed is away.
    pub fn problem(&self, server: &str) -> Option<Problem> {
        let known = locked(&self.known);
        let mut listed = known.connections.iter().filter(|connection| connection.is_listed());
        match listed.find(|connection| connection.endpoint.name == server)?.status() {
            Status::Failed(problem) => Some(problem),
            _ => None,
        }
    }

    /// Closes all connections; servers get a short time to end.
    pub async fn close(&self) {
        let tasks = self.drop_all();
        let _ = timeout(ENDING, join_all(tasks)).await;
    }

    fn drop_all(&self) -> Vec<JoinHandle<()>> {
        let known = std::mem::take(&mut *locked(&self.known));
        known.connections.iter().for_each(|connection| connection.drop_within(Duration::ZERO));
        known.tasks
    }

    /// Drops the connections of servers that are no longer configured.
    fn keep_only(&self, config: &Config, listed: &[(usize, Endpoint)]) {
        let mut known = locked(&self.known);
        known.connections.retain(|connection| {
            let endpoint = &connection.endpoint;
            let is_kept = is_configured(&endpoint.server, config);
            if !is_kept {
                connection.drop_within(Duration::MAX);
            } else if !listed.iter().any(|(_, listed)| listed == endpoint) {
                connection.set_listed(false);
            }
            is_kept
        });
    }

    /// The connection to a server, and its task.
    fn connection(&self, endpoint: &Endpoint) -> Result<Arc<Connection>, Problem> {
        let mut known = locked(&self.known);
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
        let connection = Arc::new(Connection::new(endpoint.clone(), listing, self.surroundings(endpoint)));
        known.connections.push(Arc::clone(&connection));
        known.tasks.retain(|task| !task.is_finished());
        known.tasks.push(handle.spawn(Arc::clone(&connection).keep()));
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
        let client = match &endpoint.user.client {
            Some(client) => watch::channel(Some(Arc::clone(client))).1,
            None => self.client.subscribe(),
        };
        Surroundings {
            credentials: Arc::clone(&self.credentials),
            changed: Box::new(changed),
            remembered: self.remembered.clone(),
            client,
        }
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
                connection.drop_within(Duration::MAX);
            }
            !is_excess
        });
    }
}

/// The servers that are waited for, with one more. A server is waited for as long as nothing is listed, and then for the
/// configured time after the last other server has listed its tools: one that hangs must not delay the others. On a slow
/// machine all of them take long, so that the wait is by default as long as the others took.
fn awaited(
    others: Option<Awaited>,
    connection: &Connection,
    last_listed: Option<tokio::time::Instant>,
    longest: Duration,
) -> Option<Awaited> {
    let (_, Some(since)) = connection.listed_at() else { return others };
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
    if until <= Instant::now() {
        return others;
    }
    let mut awaited = others.unwrap_or(Awaited { servers: Vec::new(), until });
    awaited.servers.push(connection.endpoint.name.clone());
    awaited.until = awaited.until.max(until);
    Some(awaited)
}

fn is_configured(server: &Server, config: &Config) -> bool {
    let live = config.sources.iter().filter_map(|source| source.mcp.as_ref());
    config.servers.values().chain(live).any(|configured| configured == server)
}

// The lists of servers, remembered in files, so that a catalog is whole before its servers have started.
//
// A file is named by the hash of the server's configuration, without values of variables and headers. It has a line with
// facts about the list, and the list as the server gave it. Another program may have written it: it counts only if
// nobody else can write to it, its hash fits, and it is a list of tools.

/// Most lists that are remembered; the ones written first are forgotten.
const MAX_FILES: usize = 256;
/// Most bytes of a file: a list, with its commas and its first line.
const MAX_FILE: u64 = (MAX_BYTES + MAX_TOOLS * 2 + 4096) as u64;

/// A folder with remembered lists.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    folder: PathBuf,
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The format of the file.
    version: u32,
    /// The server's own name.
    server: Option<String>,
    /// The server's title.
    #[serde(default)]
    title: Option<String>,
    /// Whether the server speaks the older protocol.
    is_older: bool,
    /// The hash of the list.
    hash: String,
}

const VERSION: u32 = 1;

impl Remembered {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The list of a server, as it was last.
    pub(super) fn read(&self, endpoint: &Endpoint) -> Option<Listing> {
        let text = private_file::read(&self.file(endpoint), MAX_FILE).ok()?;
        let (head, tools) = text.split_once('\n')?;
        let head: Head = serde_json::from_str(head).ok()?;
        let is_ours = head.version == VERSION && head.hash == hash(tools);
        let count = is_ours.then(|| number_of_tools(tools)).flatten()?;
        let Head { server, title, is_older, .. } = head;
        let tools = Some(tools.into());
        Some(Listing { tools, count, server, title, is_older, ..Listing::default() })
    }

    /// Writes the list of a server, whole or not at all.
    pub(super) fn write(&self, endpoint: &Endpoint, listing: &Listing) -> io::Result<()> {
        let Some(tools) = &listing.tools else { return Ok(()) };
        let server = listing.server.clone();
        let title = listing.title.clone();
        let is_older = listing.is_older;
        let head = Head { version: VERSION, server, title, is_older, hash: hash(tools) };
        let file = self.file(endpoint);
        private_file::create_folder(&self.folder)?;
        if !file.exists() {
            self.make_room()?;
        }
        private_file::write(&file, format!("{}\n{tools}", serde_json::to_string(&head)?).as_bytes())
    }

    fn file(&self, endpoint: &Endpoint) -> PathBuf {
        self.folder.join(format!("{}.tools", identity(endpoint)))
    }

    /// Forgets the oldest lists, so that there is room for one more.
    fn make_room(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)?
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let excess = (files.len() + 1).saturating_sub(MAX_FILES);
        files.iter().take(excess).for_each(|(_, file)| _ = fs::remove_file(file));
        Ok(())
    }
}

/// A hash of everything that decides which server it is. Values of variables and headers may be secrets.
fn identity(endpoint: &Endpoint) -> String {
    let server = &endpoint.server;
    let facts = serde_json::json!({
        "command": server.command,
        "env": server.env.keys().collect::<Vec<_>>(),
        "cwd": endpoint.folder(),
        "url": server.url,
        "headers": server.headers.keys().collect::<Vec<_>>(),
    });
    blake3::hash(facts.to_string().as_bytes()).to_hex().to_string()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Number of tools in a list; `None` if the text is not a tool list.
fn number_of_tools(text: &str) -> Option<usize> {
    let listed: Value = serde_json::from_str(text).ok()?;
    let tools = listed.get("tools")?.as_array()?;
    let is_tool = |tool: &Value| tool.get("name").is_some_and(Value::is_string);
    (tools.len() <= MAX_TOOLS && tools.iter().all(is_tool)).then_some(tools.len())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use toolcrib_catalog::config::Server;

    const TOOLS: &str = "{\"tools\": [\n{\"name\":\"x\"}\n]}\n";

    fn endpoint(token: &str) -> Endpoint {
        let mut server = Server { url: Some("http://127.0.0.1/mcp".into()), ..Server::default() };
        server.headers.insert("Authorization".into(), token.into());
        Endpoint::new("sky", &server, Path::new("/x"))
    }

    fn listing() -> Listing {
        Listing {
            tools: Some(TOOLS.into()),
            count: 1,
            server: Some("weather".into()),
            is_older: true,
            ..Listing::default()
        }
    }

    #[test]
    fn a_list_is_remembered_whatever_the_token_and_its_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(folder.path().join("servers"));
        assert_eq!(remembered.read(&endpoint("one")), None);
        remembered.write(&endpoint("one"), &listing()).unwrap();
        assert_eq!(remembered.read(&endpoint("two")), Some(listing()));
        let files: Vec<PathBuf> =
            fs::read_dir(&remembered.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(&files[0]).unwrap().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(&remembered.folder).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_file_that_was_damaged_or_written_by_others_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(folder.path().to_path_buf());
        let file = remembered.file(&endpoint("x"));
        remembered.write(&endpoint("x"), &listing()).unwrap();
        let whole = fs::read_to_string(&file).unwrap();
        let (head, _) = whole.split_once('\n').unwrap();
        let forged = |tools: &str| {
            let head =
                Head { version: VERSION, server: None, title: None, is_older: false, hash: hash(tools) };
            format!("{}\n{tools}", serde_json::to_string(&head).unwrap())
        };
        for text in [
            "",
            "{}",
            head,
            &whole[..whole.len() - 2],
            &whole.replace('x', "y"),
            &forged("[]"),
            &forged("{}"),
            &forged("{\"tools\": [1]}"),
            &forged("not json"),
            &forged("{\"tools\": [{\"name\": 1}]}"),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(remembered.read(&endpoint("x")), None, "{text}");
        }
        fs::write(&file, &whole).unwrap();
        assert!(remembered.read(&endpoint("x")).is_some());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
            assert_eq!(remembered.read(&endpoint("x")), None);
        }
    }

    #[test]
    fn the_oldest_lists_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let remembered = Remembered::new(folder.path().to_path_buf());
        for number in 0..MAX_FILES + 3 {
            fs::write(folder.path().join(format!("{number}.tools")), "").unwrap();
        }
        remembered.write(&endpoint("x"), &listing()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_FILES);
    }
}
