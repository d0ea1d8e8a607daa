//! Backends run tools: one module for each kind. A call that comes here was admitted.
//!
//! 1. [`Backends::of`] finds the backend of a tool.
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] is its dry run.
//! 3. A [`BackendResponse`] comes back, or a [`BackendError`], which [`failure_of`] turns into the error of an envelope.

mod command;
mod http;
mod mcp;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::{Value, json};

pub use mcp::{DataBlock, McpAnswer};

use super::Caller;
use crate::tool_error::{Certainty, ErrorCode, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::with_placeholders;
use toolcrib_catalog::config::{ActsAs, Config, Server};
use toolcrib_definition::finding::{MAX_OTHERS_VALUES, has_too_many_values, pointer_join};
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Backend, Effect, HttpBackend, clean_line, clipped};
use toolcrib_front::credentials::{CallerToken, SignInProblem, acts_as};
use toolcrib_front::mcp::{ClientSession, Connections, Environment, FilledSecrets, Missing, Session};

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

    /// What an answer about an unknown name adds for this caller where servers have not listed their tools yet.
    pub fn unlisted(&self, caller: &Caller) -> String {
        let connections = self.connections.iter().filter(|_| caller.sees_everything());
        let servers = connections.flat_map(|connections| connections.servers());
        let unlisted: Vec<String> =
            servers.filter(|server| server.tools.is_none()).map(|server| clean_line(&server.name)).collect();
        match unlisted.as_slice() {
            [] => String::new(),
            names => format!(
                "; tools that are not listed yet: those of {}; ask again in a few seconds",
                clipped(&names.join(", "), 200)
            ),
        }
    }

    fn online(&self) -> Result<&Connections, BackendError> {
        let offline =
            || BackendError::unconfigured("with --offline, no server is contacted and no command is run");
        self.connections.as_deref().ok_or_else(offline)
    }

    fn environment(&self) -> Result<&Environment, BackendError> {
        self.online().map(Connections::environment)
    }

    /// The client of HTTP servers, and the environment of their secrets.
    pub(in crate::exec) fn web(&self) -> Result<(&reqwest::Client, &Environment), BackendError> {
        Ok((self.http.client()?, self.environment()?))
    }

    /// The connection to a live source of this name, written `mcp:NAME`, or the reason why it cannot be used.
    pub async fn live_server(
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
    pub fn serve_client(&self, client: &Arc<ClientSession>) {
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
    /// Longest silence of the backend, unless its server or program has a limit of its own.
    pub longest_silence: Duration,
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

// Errors of backends: their kinds and fields, and the error of an envelope that they become.

/// The error of a backend that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendError {
    /// The kind, which says whether the tool was run.
    pub kind: BackendErrorKind,
    /// One line, without secrets or addresses.
    pub message: String,
    /// The next step for the caller.
    pub next_action: String,
    /// The argument that cannot be sent, if known; for [`BackendErrorKind::InvalidArgument`].
    pub argument: Option<String>,
    /// The answer that a backend gave in place of a result, as `details.backend` of an envelope shows it.
    pub answer: Option<Value>,
    /// The status of an HTTP response that is no success.
    pub status: Option<u16>,
    /// Seconds to wait, as its `Retry-After` header says.
    pub retry_after_seconds: Option<u64>,
    /// The unchanged answer of an MCP server.
    pub original: Option<Box<McpAnswer>>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BackendErrorKind {
    /// No configuration says how to reach the backend, or it lacks a setting of the operator.
    Unconfigured,
    /// The caller's request lacks something that the backend needs, such as a token.
    MissingCredential,
    /// The operator has to sign in to the backend first.
    SignInRequired,
    /// An argument fits the schema, but cannot be sent.
    InvalidArgument,
    /// The backend was not reached: nothing was run.
    NotSent,
    /// The backend answered that it is too busy, and has not run the call.
    Busy,
    /// The backend answered with an error.
    Failed,
    /// The request was sent, and the connection broke: the tool may have been run.
    ConnectionLost,
    /// The request was sent, and no answer came in time: the tool may have been run.
    TimedOut,
}

impl BackendErrorKind {
    /// Certainty whether the tool was run.
    fn certainty(self) -> Certainty {
        match self {
            BackendErrorKind::Failed => Certainty::Answered,
            BackendErrorKind::ConnectionLost | BackendErrorKind::TimedOut => Certainty::Unknown,
            _ => Certainty::NotRun,
        }
    }
}

impl BackendError {
    /// An error of this kind.
    pub fn new(kind: BackendErrorKind, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        let message = message.into();
        let next_action = next_action.into();
        Self {
            kind,
            message,
            next_action,
            argument: None,
            answer: None,
            status: None,
            retry_after_seconds: None,
            original: None,
        }
    }

    /// An error that only the operator can fix.
    pub fn unconfigured(message: impl Into<String>) -> Self {
        let next = "tell the operator; sending the call again changes nothing";
        Self::new(BackendErrorKind::Unconfigured, message, next)
    }

    /// The error of a call for which there is no token.
    fn of_sign_in(server: &str, problem: &SignInProblem) -> Self {
        let kind = match problem {
            SignInProblem::SignIn { .. } => BackendErrorKind::SignInRequired,
            SignInProblem::NotShared | SignInProblem::NoCallerToken => BackendErrorKind::MissingCredential,
            SignInProblem::Refused(_) => BackendErrorKind::NotSent,
            SignInProblem::Setting(_) => BackendErrorKind::Unconfigured,
        };
        let step = problem.next_step(server);
        let next = match kind {
            BackendErrorKind::SignInRequired => {
                format!("tell the user to {step}, and send the call again then")
            }
            _ => step,
        };
        Self::new(kind, format!("the server `{server}` was not called: {problem}"), next)
    }

    /// The error of a function of toolcrib that is the backend of a tool.
    pub(in crate::exec) fn of_function(error: ToolError) -> Self {
        let answer = json!(error);
        Self::new(BackendErrorKind::Failed, error.message, error.next_action).with_answer(answer)
    }

    /// A connection that broke in the middle of a call.
    fn connection_lost(message: impl Into<String>) -> Self {
        Self::new(
            BackendErrorKind::ConnectionLost,
            message,
            "check whether it was done before you send the call again",
        )
    }

    /// A call that took longer than its timeout.
    pub(in crate::exec) fn timed_out(message: impl Into<String>) -> Self {
        Self::new(
            BackendErrorKind::TimedOut,
            message,
            "check whether it was done before you send the call again",
        )
    }

    /// An argument that cannot be sent. An empty name: the argument is not known.
    fn invalid_argument(argument: &str, message: impl Into<String>) -> Self {
        let argument = Some(argument).filter(|argument| !argument.is_empty()).map(str::to_string);
        Self { argument, ..Self::new(BackendErrorKind::InvalidArgument, message, "correct the arguments") }
    }

    fn with_answer(self, answer: impl Into<Value>) -> Self {
        Self { answer: Some(answer.into()), ..self }
    }

    fn with_original(self, original: McpAnswer) -> Self {
        Self { original: Some(Box::new(original)), ..self }
    }
}

impl From<Missing> for BackendError {
    fn from(missing: Missing) -> Self {
        match &missing {
            Missing::Variable(_) => Self::unconfigured(missing.to_string()),
            Missing::Header(name) => Self::new(
                BackendErrorKind::MissingCredential,
                format!("its backend needs the header `{name}` of the caller, and this call has none"),
                format!("the client has to send `{name}` with its requests to toolcrib"),
            ),
        }
    }
}

/// The next step after too many calls, with the seconds that the backend wants.
fn wait_for(seconds: Option<u64>) -> String {
    let wait = seconds.map_or("a while".into(), |seconds| format!("{seconds} seconds"));
    format!("wait {wait} before the next call")
}

/// The warning about an answer that stays text, since it has more values than are read.
fn too_many_values(text: &[u8]) -> Option<String> {
    let warning =
        || format!("the answer has more than {MAX_OTHERS_VALUES} values and stays text; ask for less");
    has_too_many_values(text).then(warning)
}

/// The error of an envelope for a call of `tool` with these arguments.
pub(super) fn failure_of(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    error: BackendError,
) -> ToolError {
    if error.kind == BackendErrorKind::InvalidArgument {
        return invalid_argument(tool, secrets, arguments, error);
    }
    // Backends often repeat the arguments in their errors.
    let (_, hidden) = secrets.split(tool.parameters.schema(), arguments);
    let sent = FilledSecrets::of(hidden.into_iter().map(|secret| secret.value));
    let message = secrets.text(&sent.hide(&error.message)).into_owned();
    let code = match error.status {
        Some(403) => ErrorCode::PermissionDenied,
        Some(404) => ErrorCode::NotFound,
        Some(409) => ErrorCode::Conflict,
        Some(429) => ErrorCode::RateLimited,
        _ => code(error.kind, tool.effect),
    };
    let mut failure = ToolError::new(code, message, error.next_action).with_certainty(error.kind.certainty());
    if let Some(seconds) = error.retry_after_seconds.filter(|_| code == ErrorCode::RateLimited) {
        failure = failure.detail("retry_after", seconds);
    }
    if let Some(answer) = error.answer {
        failure = failure.detail("source", "backend");
        if let Some(status) = error.status {
            failure = failure.detail("status", status);
        }
        failure = failure.detail("backend", secrets.redacted(&Value::Null, &sent.hide_in(answer)));
    }
    if tool.effect != Effect::Read && failure.certainty == Certainty::Unknown {
        failure = failure.detail("may_have_run", true);
    }
    failure
}

fn code(kind: BackendErrorKind, effect: Effect) -> ErrorCode {
    match kind {
        BackendErrorKind::Unconfigured => ErrorCode::NoBackend,
        BackendErrorKind::MissingCredential => ErrorCode::PermissionDenied,
        BackendErrorKind::SignInRequired => ErrorCode::SignInRequired,
        BackendErrorKind::InvalidArgument => ErrorCode::ValidationError,
        BackendErrorKind::ConnectionLost if effect != Effect::Read => ErrorCode::OutcomeUnknown,
        BackendErrorKind::TimedOut => ErrorCode::BackendTimeout,
        BackendErrorKind::NotSent
        | BackendErrorKind::Busy
        | BackendErrorKind::Failed
        | BackendErrorKind::ConnectionLost => ErrorCode::BackendError,
    }
}

/// Arguments that fit the schema but cannot be sent get the same error as invalid arguments.
fn invalid_argument(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    error: BackendError,
) -> ToolError {
    let Some(argument) = &error.argument else { return ToolError::invalid(error.message, error.next_action) };
    let pointer = pointer_join("", argument);
    ToolError::invalid(error.message.as_str(), error.next_action)
        .field(&pointer, &error.message)
        .offering(with_placeholders(tool, secrets, arguments, std::slice::from_ref(&pointer)))
}

/// A valid call of a tool without a backend: its caller has to run it.
pub(super) fn no_backend(tool: &Tool, arguments: &Value) -> ToolError {
    let (why, next) = match (&tool.withheld, &tool.definition.backend) {
        (Some(next), Some(Backend::Steps(_))) => ("its steps are wrong", next.as_str()),
        (Some(next), _) => ("the program or server that it needs is not trusted", next.as_str()),
        (None, _) => (
            "no backend is configured for it",
            "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
        ),
    };
    let message = format!("the call is valid, but `{}` cannot be run here: {why}", tool.op);
    let mut failure = ToolError::new(ErrorCode::NoBackend, message, next);
    failure.call = Some(json!({ "tool": tool.name, "arguments": arguments }));
    failure
}
