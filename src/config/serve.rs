//! How a catalog is served: address, names, tokens, limits.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Effect;

/// How a catalog is served.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Serve {
    /// The address to listen on; 127.0.0.1:7878 when nothing else is said.
    pub listen: Option<String>,
    /// Names under which the server is reached, beside its address.
    pub public_hosts: Vec<String>,
    /// Who may come in; everybody when there is none.
    #[serde(rename = "token")]
    pub tokens: Vec<ServeToken>,
    /// Which functions the list of an MCP client shows.
    pub tool_list: ToolList,
    /// What the list of an MCP client shows: our functions, or the catalog's own tools.
    pub surface: ServeSurface,
    /// Whether `tool_exec` is two tools, one that reads and one that changes, so that a client can ask about the second.
    pub split_exec: bool,
    /// How much is too much.
    pub limits: ServeLimits,
}

/// What the list of an MCP client shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServeSurface {
    /// Our functions.
    #[default]
    Gateway,
    /// The catalog's tools, those that are deferred in short form, and the functions that tell of them.
    Hybrid,
    /// The catalog's tools.
    Full,
}

impl ServeSurface {
    /// Every choice.
    pub const ALL: [ServeSurface; 3] = [ServeSurface::Gateway, ServeSurface::Hybrid, ServeSurface::Full];

    /// The word used in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ServeSurface::Gateway => "gateway",
            ServeSurface::Hybrid => "hybrid",
            ServeSurface::Full => "full",
        }
    }

    /// The choice with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == name)
    }
}

/// Which functions a list shows. Every function can be called, whichever are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolList {
    /// Search, help, calls and batches.
    #[default]
    Gateway,
    /// The discovery protocol, and docs.
    Discovery,
    /// Every function.
    All,
}

impl ToolList {
    /// Every choice.
    pub const ALL: [ToolList; 3] = [ToolList::Gateway, ToolList::Discovery, ToolList::All];

    /// The word used in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolList::Gateway => "gateway",
            ToolList::Discovery => "discovery",
            ToolList::All => "all",
        }
    }

    /// The choice with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|listed| listed.as_str() == name)
    }
}

/// A bearer token. The token itself is in the environment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["env"]))]
pub struct ServeToken {
    /// The environment variable that holds it.
    pub env: String,
    /// What whoever shows it is called in traces; the variable's name when absent.
    pub name: Option<String>,
    /// The most that its calls may change, where that is less than `[exec] allow`.
    pub allow: Option<Effect>,
    /// The roles of who shows it: tools with `allowed_roles` are there for those roles only. `*` is every role, and lets
    /// the caller read what is wrong with the catalog.
    pub roles: Vec<String>,
}

/// How much is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServeLimits {
    /// The longest body of a request.
    #[schemars(range(min = 1))]
    pub body_bytes: usize,
    /// Connections at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: usize,
    /// Calls of functions at once.
    #[schemars(range(min = 1))]
    pub calls: usize,
    /// How long a connection may be idle, and the head of a request take to arrive.
    #[schemars(range(min = 1, max = 86_400))]
    pub idle_seconds: u64,
    /// How long the body of a request may take to arrive.
    #[schemars(range(min = 1, max = 86_400))]
    pub body_seconds: u64,
    /// How long a call may take.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: u64,
    /// How long a client may read nothing of what it is sent.
    #[schemars(range(min = 1, max = 86_400))]
    pub write_seconds: u64,
    /// How long a server that is told to stop finishes what it has begun.
    #[schemars(range(min = 0, max = 86_400))]
    pub stop_seconds: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            connections: 1024,
            calls: 64,
            idle_seconds: 30,
            body_seconds: 15,
            call_seconds: 30,
            write_seconds: 30,
            stop_seconds: 10,
        }
    }
}

impl ServeLimits {
    /// How long the body of a request may take to arrive.
    pub fn body_time(&self) -> Duration {
        Duration::from_secs(self.body_seconds)
    }

    /// How long a call may take.
    pub fn call_time(&self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// How long an answer may take to begin, whatever it is.
    pub fn answer_time(&self) -> Duration {
        self.body_time() + self.call_time()
    }
}
