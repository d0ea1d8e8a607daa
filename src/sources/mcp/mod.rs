//! Live MCP servers as sources: their lists are read like dumps of `tools/list`.
//!
//! 1. [`endpoint`] is the address of a server: a command with its environment ([`process`]), or a URL with its headers
//!    ([`http`]). A [`Problem`] is the reason why it cannot be used.
//! 2. A [`Session`] is one open connection, in either version of the protocol: it calls tools, lists them page by page within
//!    limits, and follows changes. [`line_check`] checks lines before the SDK reads them.
//! 3. [`list_all`] lists the tools once, of all servers of a workspace at the same time ([`mod@examine`]).
//! 4. [`Connections`] stay: each [`connection`] is opened again after it has ended, and keeps the last list of a server
//!    while it is away; the next program reads that list too ([`connections`]).
//! 5. [`requests`] sends all other requests of clients, and takes messages of servers back to their clients.
//! 6. [`Listings`](super::Listings) are read like dumps.

mod connection;
mod connections;
mod endpoint;
mod examine;
mod http;
mod line_check;
mod process;
mod requests;
mod secrets;
mod session;

use std::time::Duration;

use super::listings::live_servers;
use crate::config::{Server, Workspace};
use crate::tool::clean_line;

pub use crate::config::Environment;
pub use connection::Status;
pub use connections::{Connections, ServerState};
pub use endpoint::Problem;
pub(crate) use endpoint::{Endpoint, EndpointUser, inherited};
pub use examine::{Answered, Examined, examine, list_all};
pub(crate) use line_check::{BadLine, LineCheck, LineProblem, problem_of};
pub(crate) use process::with_its_children;
pub use requests::{ClientInput, ClientSession, RequestOrigin};
pub(crate) use requests::{ServerList, ServerMessage, ask, bound, to_client};
pub(crate) use secrets::{FilledSecrets, Missing};
pub use session::SessionFacts;
pub(crate) use session::{Changes, McpCallError, Session};

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
    let shown = given.or(server.url.as_deref()).map_or_else(|| server.command.join(" "), str::to_string);
    clean_line(&shown)
}

fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}").into())
}
