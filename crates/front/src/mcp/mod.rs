//! Live MCP servers as sources: their lists are read like dumps of `tools/list`.
//!
//! 1. An [`Endpoint`] is the address of a server: a command with its environment ([`process`], [`stdout`]), or a URL with its
//!    headers ([`http`], [`made_headers`]). A [`ServerProblem`] is the reason why it cannot be used.
//! 2. A [`Session`] is one open connection, in either version of the protocol: it calls tools ([`tool_call`]), lists them page
//!    by page within limits ([`lists`]), and follows [`changes`].
//! 3. [`list_all`] lists the tools once, of all servers of a workspace at the same time; a few take [turns](starts) at starting.
//! 4. [`Connections`] stay: each [`connection`] goes through the states of [`ServerState`], opens a session again after it has
//!    ended, and keeps the last list of a server while it is away; the next program reads that list too ([`remembered_lists`]).
//! 5. [`requests`] sends all other requests of clients, and messages of servers go back to their [`client`].
//! 6. A faulty [`message`] is made readable, and passes the SDK [as it was written](as_written). Secrets are filled in and redacted by [`secrets`].
#![expect(deprecated, reason = "the older protocol has roots, sampling, log levels and subscriptions")]

mod as_written;
mod changes;
mod client;
mod connection;
mod connections;
mod endpoint;
mod examine;
mod http;
mod id_scanner;
mod json_lines;
mod lists;
mod made_headers;
mod message;
mod pace;
mod process;
mod remembered_lists;
mod requests;
mod secrets;
mod server_problem;
mod server_state;
mod session;
mod starts;
mod stdout;
mod tool_call;

pub use as_written::{carrying, unread, written, written_out};
pub use changes::Changes;
pub use client::{ClientInput, ClientSession, Question, RequestOrigin, ServerMessage, ask, bound, to_client};
pub use connections::Connections;
pub use endpoint::{Endpoint, EndpointUser, server_names};
pub use examine::{Examined, examine, list_all};
pub use json_lines::{BadLine, Line, LineCheck, LineProblem, problem_of};
pub use lists::ServerList;
pub use process::{inherited, kill_all, with_its_children};
pub use requests::asks_for_input;
pub use secrets::{FilledSecrets, Missing};
pub use server_problem::{Away, NoToken, ServerProblem};
pub use server_state::{LiveServer, ServerState, Status};
pub use session::Session;
pub use tool_call::McpCallError;
pub use toolcrib_catalog::config::Environment;
