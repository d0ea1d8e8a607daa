//! Backends run tools: one module for each kind. A call that comes here was admitted.
//!
//! 1. [`Backends::of`] finds the backend of a tool.
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] is its dry run.
//! 3. A [`BackendResponse`] comes back, or a [`BackendError`], which [`failure_of`] turns into the error of an envelope.

mod backend_error;
mod command;
mod http;
mod mcp;
mod mcp_answer;
mod request;
mod servers;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::caller::Caller;
use servers::{bare, mcp_server, origin, web_server};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::{Config, MissingVariable};
use toolcrib_catalog::sources::Listing;
use toolcrib_definition::{Backend, clean_line, clipped};
use toolcrib_front::mcp::{ClientSession, Connections, Environment, Missing, Session, Status};

pub use backend_error::{BackendError, BackendErrorKind, Result};
pub(super) use backend_error::{failure_of, no_backend};
pub use mcp_answer::{DataBlock, DescribedData, McpAnswer};
pub use request::{BackendRequest, BackendResponse, Begun};

/// The backends of a catalog, with the connections that stay open between calls.
pub struct Backends {
    root: PathBuf,
    http: http::Http,
    /// Connections to MCP servers, with the variables for commands and servers. `None` (`--offline`): no server is
    /// contacted, and no command is run.
    connections: Option<Arc<Connections>>,
}

impl Default for Backends {
    fn default() -> Self {
        Self::new(Path::new("."), Environment::default())
    }
}

impl Backends {
    /// Backends of a catalog in this folder, with secrets from this environment. No connection is opened yet.
    pub fn new(root: &Path, environment: Environment) -> Self {
        Self::over(root, Arc::new(Connections::new(environment)))
    }

    /// Backends of a catalog in this folder, over these connections.
    pub fn over(root: &Path, connections: Arc<Connections>) -> Self {
        Self { root: root.to_path_buf(), http: http::Http::default(), connections: Some(connections) }
    }

    /// Backends that contact no server and run no commands.
    pub fn offline() -> Self {
        Self { connections: None, ..Self::default() }
    }

    /// The connections to MCP servers, unless none may be contacted.
    pub fn connections(&self) -> Option<&Arc<Connections>> {
        self.connections.as_ref()
    }

    /// The backend of a tool: the one that its definition names, else the live MCP server that it comes from.
    pub fn of<'t>(tool: &'t Tool, config: &Config) -> Option<Cow<'t, Backend>> {
        if tool.rules.withheld.is_some() {
            return None;
        }
        if let Some(backend) = &tool.backend {
            return Some(Cow::Borrowed(backend));
        }
        let server = origin(tool, config)?;
        Some(Cow::Owned(Backend::Mcp { server, tool: tool.names.written.clone() }))
    }

    /// The backend of a tool with the configuration of its server. The value changes when either changes.
    pub fn configured(tool: &Tool, config: &Config) -> Value {
        let Some(backend) = Self::of(tool, config) else { return Value::Null };
        let server = match &*backend {
            Backend::Http(backend) => web_server(backend, tool, config).ok().map(|(_, server)| server),
            Backend::Mcp { server, .. } => mcp_server(config, server),
            _ => None,
        };
        json!({ "backend": *backend, "server": server })
    }

    /// Runs a call.
    pub async fn run(&self, call: BackendRequest<'_>) -> Result<BackendResponse> {
        // Each kind is boxed, so that the future of a call is not as large as the largest kind.
        match call.backend {
            Backend::Static { content } => Ok(BackendResponse::new(content.clone())),
            Backend::Http(backend) => Box::pin(self.http.run(backend, call, self.online()?)).await,
            Backend::Mcp { server, tool } => {
                let connections = self.online()?;
                Box::pin(mcp::run(connections, (server, tool), call, &self.root)).await
            }
            Backend::Command(backend) => {
                Box::pin(command::run(backend, call, (&self.root, self.environment()?))).await
            }
            Backend::Builtin { function } => {
                Err(BackendError::unconfigured(format!("there is no function `{function}` here")))
            }
            Backend::Steps(_) => Err(BackendError::unconfigured("steps are calls, and no request")),
        }
    }

    /// The reason why calls of a tool fail now: its MCP server is away.
    pub fn problem(&self, tool: &Tool, config: &Config) -> Option<String> {
        let Some(Backend::Mcp { server, .. }) = Self::of(tool, config).as_deref().cloned() else {
            return None;
        };
        let server = bare(&server);
        let servers = self.connections.as_ref()?.servers();
        let found = servers.into_iter().find(|live| live.endpoint.name == server)?;
        let Status::Failed(away) = found.state.status else { return None };
        Some(format!("the MCP server `{server}` is away: {}", away.problem.with_advice()))
    }

    /// What a live source of this name, written `mcp:NAME`, listed last.
    pub fn listing(&self, name: &str) -> Option<Listing> {
        let servers = self.connections.as_ref()?.servers();
        servers.into_iter().find(|live| live.endpoint.name == bare(name))?.listing()
    }

    /// What an answer about an unknown name adds for this caller where servers have not listed their tools yet.
    pub fn unlisted(&self, caller: &Caller) -> String {
        let connections = if caller.sees_everything() { self.connections.as_ref() } else { None };
        let servers = connections.into_iter().flat_map(|connections| connections.servers());
        let unlisted: Vec<String> = servers
            .filter(|server| server.state.tools().is_none())
            .map(|server| clean_line(&server.endpoint.name))
            .collect();
        match unlisted.as_slice() {
            [] => String::new(),
            names => format!(
                "; tools that are not listed yet: those of {}; ask again in a few seconds",
                clipped(&names.join(", "), 200)
            ),
        }
    }

    fn online(&self) -> Result<&Connections> {
        let offline =
            || BackendError::unconfigured("with --offline, no server is contacted and no command is run");
        self.connections.as_deref().ok_or_else(offline)
    }

    fn environment(&self) -> Result<&Environment> {
        self.online().map(Connections::environment)
    }

    /// The client of HTTP servers, and the environment of their secrets.
    pub(crate) fn web(&self) -> Result<(&reqwest::Client, &Environment)> {
        Ok((self.http.client()?, self.environment()?))
    }

    /// The connection to a live source of this name, written `mcp:NAME`, or the reason why it cannot be used.
    pub async fn live_server(&self, name: &str, config: &Config, caller: &Caller) -> Result<Arc<Session>> {
        let offline = || BackendError::unconfigured("with --offline, no server is contacted");
        let connections = self.connections.as_deref().ok_or_else(offline)?;
        mcp::live_session(connections, (name, config), caller, &self.root).await
    }

    /// The value of an environment variable that an argument needs.
    pub(crate) fn variable(&self, name: &str) -> Result<String> {
        let value = self.environment()?.get(name);
        value.ok_or_else(|| Missing::Variable(MissingVariable(name.to_string())).into())
    }

    /// Opens connections for the only client of the process from now on.
    pub fn serve_client(&self, client: &Arc<ClientSession>) {
        if let Some(connections) = &self.connections {
            connections.serve_client(client);
        }
    }

    /// Starts servers that wait for the only client of the process.
    pub fn begin(&self) {
        if let Some(connections) = &self.connections {
            connections.begin();
        }
    }

    /// Closes all connections; servers get a short time to end.
    pub async fn close(&self) {
        if let Some(connections) = &self.connections {
            connections.close().await;
        }
    }

    /// The request of a call, without secrets; nothing is sent.
    pub fn preview(&self, call: BackendRequest<'_>) -> Result<Value> {
        match call.backend {
            Backend::Static { .. } => Ok(json!({ "backend": "static" })),
            Backend::Builtin { function } => {
                Ok(json!({ "backend": "builtin", "function": function, "arguments": call.redacted() }))
            }
            Backend::Steps(_) => Ok(json!({ "backend": "steps", "arguments": call.redacted() })),
            Backend::Http(backend) => http::preview(backend, call),
            Backend::Mcp { server, tool } => mcp::preview(server, tool, call),
            Backend::Command(backend) => command::preview(backend, call),
        }
    }
}
