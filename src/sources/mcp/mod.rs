//! Live MCP servers as sources: their lists are read like dumps of `tools/list`.
//!
//! 1. [`endpoint`] is the address of a server: a command with its environment, or a URL with its headers.
//! 2. [`session`] connects, in either version of the protocol, with the token of the server ([`signed_client`]);
//!    [`tools`] lists all pages within limits.
//! 3. [`list_all`] does that once, for all servers of a workspace at the same time ([`mod@examine`]).
//! 4. [`Connections`] stay: each [`connection`] is opened again after it has ended, and keeps the last list of a server
//!    while it is away; the next program reads that list too ([`connections`]). [`line_check`] checks lines before the SDK
//!    reads them.
//! 5. A [`Session`] also calls tools and follows changes of lists ([`tools`]), and sends all other [`requests`]. A
//!    [`Problem`] is the reason why there is none.
//! 6. [`RequestOrigin`] is the client's request behind one of ours: [`requests`] takes messages of the
//!    server back to its client.
//! 7. [`Listings`](super::Listings) are read like dumps.

mod connection;
mod connections;
mod endpoint;
mod examine;
mod line_check;
mod process;
mod request_origin;
mod requests;
mod secrets;
mod session;
mod signed_client;
mod tools;

use std::time::Duration;

use super::listings::live_servers;
use crate::config::{Server, Workspace};
use crate::tool::clean_line;

pub use crate::config::Environment;
pub use connection::Status;
pub use connections::{Connections, ServerState};
pub use endpoint::Problem;
pub(crate) use endpoint::{Endpoint, inherited};
pub use examine::{Answered, Examined, examine, list_all};
pub(crate) use line_check::{BadLine, LineCheck, LineProblem, problem_of};
pub(crate) use process::with_its_children;
pub use request_origin::{ClientInput, ClientSession, RequestOrigin};
pub(crate) use request_origin::{ServerMessage, bound, to_client};
pub(crate) use requests::{ServerList, ask};
pub(crate) use secrets::{FilledSecrets, Missing};
pub(crate) use session::Session;
pub use session::SessionFacts;
pub(crate) use tools::{Changes, McpCallError};

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

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}"))
}
