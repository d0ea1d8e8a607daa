//! The state of a server, for people.

use std::time::Duration;

use super::endpoint::Endpoint;
use super::server_problem::Problem;
use crate::credentials::{self, Credentials, acts_as};

/// The status of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nobody has wanted it yet.
    #[default]
    NotStarted,
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It is away, for this reason.
    Failed(Problem),
}

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
