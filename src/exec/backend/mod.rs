//! Backends run tools: one module for each kind. A call that comes here was admitted.
//!
//! 1. [`Backends::of`] finds the backend of a tool.
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] is its dry run.
//! 3. A [`BackendResponse`] comes back, or a [`BackendError`], which [`error`] turns into the error of an envelope.

mod command;
mod error;
mod http;
mod mcp;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::{Value, json};

pub use error::{BackendError, BackendErrorKind, ErrorAnswer};
pub(super) use error::{failure_of, no_backend};
pub use mcp::{DataBlock, McpAnswer};

use super::Caller;
use crate::catalog::Tool;
use crate::config::{ActsAs, Config, Server};
use crate::credentials::{CallerToken, SignInProblem, acts_as};
use crate::secret::SecretPolicy;
use crate::sources::mcp::{ClientSession, Connections, Environment, Missing, Session};
use crate::tool::{Backend, HttpBackend};

// The backends of a catalog: the one of a tool, what it is asked, and what it answers.

/// The backends of a catalog, with the connections that stay open between calls.
#[derive(Debug)]
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
        if tool.withheld.is_some() {
            return None;
        }
        if let Some(backend) = &tool.definition.backend {
            return Some(Cow::Borrowed(backend));
        }
        let server = origin(tool, config)?;
        Some(Cow::Owned(Backend::Mcp { server, tool: tool.definition.name.clone() }))
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
    pub async fn run(&self, call: BackendRequest<'_>) -> Result<BackendResponse, BackendError> {
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
        let problem = self.connections.as_ref()?.problem(server)?;
        Some(format!("the MCP server `{server}` is away: {problem}"))
    }

    fn online(&self) -> Result<&Connections, BackendError> {
        let offline =
            || BackendError::unconfigured("with --offline, no server is contacted and no command is run");
        self.connections.as_deref().ok_or_else(offline)
    }

    fn environment(&self) -> Result<&Environment, BackendError> {
        self.online().map(Connections::environment)
    }

    /// The connection to a live source of this name, written `mcp:NAME`, or the reason why it cannot be used.
    pub(crate) async fn live_server(
        &self,
        name: &str,
        config: &Config,
        caller: &Caller,
    ) -> Result<Arc<Session>, BackendError> {
        let offline = || BackendError::unconfigured("with --offline, no server is contacted");
        let connections = self.connections.as_deref().ok_or_else(offline)?;
        mcp::live_session(connections, (name, config), caller, &self.root).await
    }

    /// The value of an environment variable that an argument needs.
    pub(in crate::exec) fn variable(&self, name: &str) -> Result<String, BackendError> {
        let value = self.environment()?.get(name);
        value.ok_or_else(|| Missing::Variable(name.to_string()).into())
    }

    /// Opens connections for the only client of the process from now on.
    pub(crate) fn serve_client(&self, client: &Arc<ClientSession>) {
        if let Some(connections) = &self.connections {
            connections.serve_client(client);
        }
    }

    /// Closes all connections; servers get a short time to end.
    pub async fn close(&self) {
        if let Some(connections) = &self.connections {
            connections.close().await;
        }
    }

    /// The request of a call, without secrets; nothing is sent.
    pub fn preview(&self, call: BackendRequest<'_>) -> Result<Value, BackendError> {
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

/// The MCP server that a tool comes from, under the name that [`mcp_server`] takes: the live source that listed it, or
/// the configured server that its definition names.
fn origin(tool: &Tool, config: &Config) -> Option<String> {
    let listed = Some(tool.place.file.as_str()).filter(|file| mcp_server(config, file).is_some());
    let configured = || tool.server.as_deref().filter(|name| config.servers.contains_key(*name));
    listed.or_else(configured).map(str::to_string)
}

/// The MCP server of this name: a configured one, else a live source, written `mcp:NAME` as in findings.
fn mcp_server<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let source = || config.live_sources().find(|(called, _)| bare(called) == bare(name));
    config.servers.get(name).or_else(|| source()?.1.mcp.as_ref())
}

/// A server's name without `mcp:`, as people write it.
fn bare(name: &str) -> &str {
    name.strip_prefix("mcp:").unwrap_or(name)
}

/// The server of an HTTP backend, with its name: the one that the backend names, else the one of the tool, else the only
/// one in the configuration.
fn web_server<'o>(
    backend: &'o HttpBackend,
    tool: &'o Tool,
    config: &'o Config,
) -> Result<(&'o str, &'o Server), BackendError> {
    let servers = &config.servers;
    if let Some(name) = &backend.server {
        return match servers.get_key_value(name) {
            Some((name, server)) if server.url.is_some() => Ok((name, server)),
            Some(_) => Err(BackendError::unconfigured(format!("the server `{name}` has no `url`"))),
            None => Err(not_configured(name, config)),
        };
    }
    let of_tool = tool.server.as_ref().and_then(|name| servers.get_key_value(name));
    let mut with_url = servers.iter().filter(|(_, server)| server.url.is_some());
    let only = || with_url.next().filter(|_| with_url.next().is_none());
    let found = of_tool.filter(|(_, server)| server.url.is_some()).or_else(only);
    let name = tool.server.as_deref().unwrap_or("api");
    found.map(|(name, server)| (name.as_str(), server)).ok_or_else(|| not_configured(name, config))
}

/// The error for a server that is not configured, with the lines to add.
fn not_configured(name: &str, config: &Config) -> BackendError {
    let is_bare =
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) && !name.is_empty();
    let key = if is_bare { name.to_string() } else { format!("{name:?}") };
    let add = format!("add [server.{key}] with its `url` to toolcrib.toml");
    let known: Vec<&str> = config.servers.keys().map(String::as_str).collect();
    let next = match known.as_slice() {
        [] => add,
        known => format!(
            "set `server` in the tool's `backend` or in its [[source]] to one that toolcrib.toml has ({}), or {add}",
            known.join(", ")
        ),
    };
    BackendError::new(
        BackendErrorKind::Unconfigured,
        format!("the server `{name}` is not configured"),
        format!("tell the operator to {next}; nothing else helps"),
    )
}

/// An admitted call, for its backend.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest<'o> {
    /// The tool.
    pub tool: &'o Tool,
    /// The backend that runs it.
    pub backend: &'o Backend,
    /// The configuration, with its servers.
    pub config: &'o Config,
    /// The arguments, valid by the canonical schema.
    pub arguments: &'o Value,
    /// The caller.
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// The timeout.
    pub timeout: Duration,
    /// Marked before anything is sent.
    pub begun: &'o Begun,
}

/// Whether a call may have been sent to its backend.
#[derive(Debug, Default)]
pub struct Begun(AtomicBool);

impl Begun {
    /// Marks the call, before it is sent.
    pub fn mark(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the call may have been sent.
    pub fn is_marked(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The answer of a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendResponse {
    /// The result: JSON, or text where it was no JSON.
    pub content: Value,
    /// Warnings to the caller, such as a cut.
    pub warnings: Vec<String>,
    /// The unchanged answer of an MCP server.
    pub original: Option<McpAnswer>,
}

impl BackendRequest<'_> {
    fn secrets(&self) -> SecretPolicy<'_> {
        SecretPolicy::new(&self.config.state.redact)
    }

    /// The arguments without secrets.
    fn redacted(&self) -> Value {
        self.secrets().redacted(self.tool.parameters.schema(), self.arguments)
    }
}

impl BackendResponse {
    pub(in crate::exec) fn new(content: Value) -> Self {
        Self { content, warnings: Vec::new(), original: None }
    }
}

/// The token of a caller for a server that is called with it; `None` for other servers.
fn caller_token(
    (name, server): (&str, &Server),
    caller: &Caller,
) -> Result<Option<CallerToken>, BackendError> {
    if acts_as(server) != Some(ActsAs::Caller) {
        return Ok(None);
    }
    let missing = || BackendError::of_sign_in(name, &SignInProblem::NoCallerToken);
    let token = caller.token.clone().ok_or_else(missing)?;
    Ok(Some(CallerToken { name: caller.name.clone(), token: Some(token) }))
}
