//! What runs a tool: one module for each kind of backend. A call that comes here has been checked, and may be run.
//!
//! 1. [`Backends::of`] says what runs a tool, also where its definition does not ([`choice`]).
//! 2. [`Backends::run`] runs a [`BackendRequest`], and [`Backends::preview`] says what that would send.
//! 3. A [`BackendResponse`] comes back, or a [`BackendError`].

mod choice;
mod command;
mod http;
mod mcp;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::{Value, json};

use super::Caller;
use crate::catalog::Tool;
use crate::config::Config;
use crate::finding::pointer_join;
use crate::secret::Policy as Secrets;
use crate::sources::mcp::{Environment, Missing};
use crate::tool::Backend;

/// All that runs tools, with the connections that are kept from one call to the next.
#[derive(Debug)]
pub struct Backends {
    root: PathBuf,
    /// None: nobody is to be contacted.
    environment: Option<Environment>,
    http: http::Http,
    sessions: mcp::Sessions,
}

/// A call that has passed, on its way to a backend.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest<'o> {
    /// The tool.
    pub tool: &'o Tool,
    /// What runs it.
    pub backend: &'o Backend,
    /// Where servers are configured.
    pub config: &'o Config,
    /// The arguments, as the canonical schema wants them.
    pub arguments: &'o Value,
    /// Who calls.
    pub caller: &'o Caller,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'o str>,
    /// How long it may take.
    pub timeout: Duration,
    /// Marked before anything leaves.
    pub begun: &'o Begun,
}

/// Whether something may have left for what runs a call.
#[derive(Debug, Default)]
pub struct Begun(AtomicBool);

impl Begun {
    /// From now on it may have.
    pub fn mark(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it may have.
    pub fn is_marked(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// What a backend answered.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendResponse {
    /// The result: JSON where it was JSON, else text.
    pub content: Value,
    /// What the caller should know of how it came about.
    pub warnings: Vec<String>,
}

/// Why a backend has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendError {
    /// What kind of thing.
    pub kind: BackendErrorKind,
    /// In one line, without secrets or addresses.
    pub message: String,
    /// What the backend said: a status, a body. Cut where it is long.
    pub detail: Option<Value>,
    /// What the caller can do.
    pub next_action: String,
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendErrorKind {
    /// Nothing says how to reach what runs the tool, or something it needs is missing here.
    Unconfigured,
    /// The caller has not brought what the backend needs, such as a token.
    MissingCredential,
    /// An argument that fits the schema, and still cannot be sent as it is; `detail.field_errors` says which.
    InvalidArgument,
    /// It was not reached: nothing was run.
    NotSent,
    /// It answered that it is too busy for this call, and has not run it.
    Busy,
    /// It answered, with an error.
    Failed,
    /// It was asked, and there is no answer: it may have been run.
    ConnectionLost,
    /// It was asked, and did not answer in time: it may have been run.
    TimedOut,
}

impl BackendRequest<'_> {
    fn secrets(&self) -> Secrets<'_> {
        Secrets::new(&self.config.state.redact)
    }

    /// The arguments without secrets.
    fn shown(&self) -> Value {
        self.secrets().shown(self.tool.parameters.schema(), self.arguments)
    }
}

impl Default for Backends {
    fn default() -> Self {
        Self::new(Path::new("."), Environment::default())
    }
}

impl Backends {
    /// Backends of a catalog in this folder, whose secrets come from this environment. Connects to nobody yet.
    pub fn new(root: &Path, environment: Environment) -> Self {
        Self {
            root: root.to_path_buf(),
            environment: Some(environment),
            http: http::Http::default(),
            sessions: mcp::Sessions::default(),
        }
    }

    /// Backends that contact nobody and run no commands.
    pub fn offline() -> Self {
        Self { environment: None, ..Self::default() }
    }

    /// What runs a tool: what its definition says, else the live MCP server that it comes from.
    pub fn of<'t>(tool: &'t Tool, config: &Config) -> Option<Cow<'t, Backend>> {
        choice::of(tool, config)
    }

    /// What runs a tool and where, as it is configured: it differs once that has changed.
    pub fn configured(tool: &Tool, config: &Config) -> Value {
        let Some(backend) = Self::of(tool, config) else { return Value::Null };
        let server = match &*backend {
            Backend::Http(backend) => {
                choice::web_server(backend, tool, config).ok().map(|(_, server)| server)
            }
            Backend::Mcp { server, .. } => choice::mcp_server(config, server),
            _ => None,
        };
        json!({ "backend": *backend, "server": server })
    }

    /// Runs a call.
    pub async fn run(&self, call: BackendRequest<'_>) -> Result<BackendResponse, BackendError> {
        // Boxed, so that no call has room for what only others need.
        match call.backend {
            Backend::Static { content } => Ok(BackendResponse::new(content.clone())),
            Backend::Http(backend) => Box::pin(self.http.run(backend, call, self.environment()?)).await,
            Backend::Mcp { server, tool } => {
                let around = (&*self.root, self.environment()?);
                Box::pin(self.sessions.run((server, tool), call, around)).await
            }
            Backend::Command(backend) => {
                Box::pin(command::run(backend, call, (&self.root, self.environment()?))).await
            }
            Backend::Builtin { function } => {
                Err(BackendError::unconfigured(format!("there is no function `{function}` here")))
            }
        }
    }

    fn environment(&self) -> Result<&Environment, BackendError> {
        let offline =
            || BackendError::unconfigured("nobody is contacted, and no command is run, with --offline");
        self.environment.as_ref().ok_or_else(offline)
    }

    /// Ends what is kept from one call to the next, as politely as there is time for.
    pub async fn close(&self) {
        self.sessions.close().await;
    }

    /// What a call would send, without secrets; nothing is sent.
    pub fn preview(&self, call: BackendRequest<'_>) -> Result<Value, BackendError> {
        match call.backend {
            Backend::Static { .. } => Ok(json!({ "backend": "static" })),
            Backend::Builtin { function } => {
                Ok(json!({ "backend": "builtin", "function": function, "arguments": call.shown() }))
            }
            Backend::Http(backend) => http::preview(backend, call),
            Backend::Mcp { server, tool } => mcp::preview(server, tool, call),
            Backend::Command(backend) => command::preview(backend, call),
        }
    }
}

impl From<Missing> for BackendError {
    fn from(missing: Missing) -> Self {
        match &missing {
            Missing::Variable(_) => Self::unconfigured(missing.to_string()),
            Missing::Header(name) => Self::new(
                BackendErrorKind::MissingCredential,
                format!("what runs it wants the header `{name}` of whoever calls, and this call has none"),
                format!("whoever connects to toolcrib has to send `{name}` with its requests"),
            ),
        }
    }
}

impl BackendResponse {
    fn new(content: Value) -> Self {
        Self { content, warnings: Vec::new() }
    }
}

impl BackendError {
    fn new(kind: BackendErrorKind, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None, next_action: next_action.into() }
    }

    /// What only the operator can mend.
    fn unconfigured(message: impl Into<String>) -> Self {
        let next = "tell the operator; sending the call again changes nothing";
        Self::new(BackendErrorKind::Unconfigured, message, next)
    }

    /// An argument that cannot be sent as it is; none when it is not known which.
    fn unfit(argument: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let error = Self::new(BackendErrorKind::InvalidArgument, message.as_str(), "correct the arguments");
        if argument.is_empty() {
            return error;
        }
        let pointer = pointer_join("", argument);
        error.detail(json!({ "field_errors": [{ "pointer": pointer, "message": message }] }))
    }

    fn detail(mut self, detail: Value) -> Self {
        self.detail = Some(detail);
        self
    }
}
