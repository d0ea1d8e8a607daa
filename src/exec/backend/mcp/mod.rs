//! Tools of other MCP servers: called by name, over a connection that stays open. [`sign_in`] asks the person at the client to
//! sign in, [`result`] reads the answer of a tool.

mod result;
mod sign_in;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::identity::caller_token;
use super::{BackendError, BackendErrorKind, BackendRequest, BackendResponse, backends};
use crate::config::{Config, Server};
use crate::credentials::SignInProblem;
use crate::exec::Caller;
use crate::sources::mcp::{Connections, Endpoint, McpCallError, Problem, Session};
use crate::tool::Effect;
use sign_in::{Asked, Person};

/// A call of a tool on another server.
#[derive(Clone, Copy)]
struct McpCall<'o> {
    server: &'o str,
    configured: &'o Server,
    call: BackendRequest<'o>,
    deadline: Instant,
}

/// Runs a call. One that did not reach its server is sent once more, over a new connection.
pub(super) async fn run(
    connections: &Connections,
    (server, tool): (&str, &str),
    call: BackendRequest<'_>,
    root: &Path,
) -> Result<BackendResponse, BackendError> {
    let configured = backends::mcp_server(call.config, server)
        .ok_or_else(|| backends::not_configured(server, call.config))?;
    let server = backends::bare(server);
    let endpoint = endpoint((server, configured), root, call.caller)?;
    let limit = Instant::now() + call.timeout;
    let deadline = || limit.min(Instant::now() + endpoint.timeout);
    let mut person = Person::of(connections.credentials(), (server, configured), call.caller);
    person.answered(limit).await;
    let mut errand = McpCall { server, configured, call, deadline: deadline() };
    let mut is_second = false;
    loop {
        let session = match errand.session(connections, &endpoint).await {
            Ok(session) => session,
            Err(error) if error.kind == BackendErrorKind::SignInRequired => {
                call.caller.origin.iter().for_each(|origin| origin.begin_call());
                if person.ask(limit).await != Asked::SignedIn {
                    return Err(error);
                }
                errand.deadline = deadline();
                continue;
            }
            Err(error) => return Err(error),
        };
        call.begun.mark();
        let origin = call.caller.origin.as_ref();
        let problem = match timeout_at(errand.deadline, session.call(tool, errand.arguments(), origin)).await
        {
            Ok(Ok(answer)) => return result::read(answer, server, configured.max_bytes, &session),
            Ok(Err(problem)) => problem,
            Err(_) => {
                session.doubt();
                return Err(errand.too_slow());
            }
        };
        if matches!(problem, McpCallError::SignIn(SignInProblem::SignIn { .. }))
            && person.ask(limit).await == Asked::SignedIn
        {
            errand.deadline = deadline();
            continue;
        }
        let may_repeat = match problem {
            McpCallError::NotSent(_) => true,
            McpCallError::ConnectionLost(_) => errand.is_repeatable(),
            McpCallError::ProtocolError(_)
            | McpCallError::UnexpectedAnswer(_)
            | McpCallError::SignIn(_)
            | McpCallError::Unreadable(_) => false,
        };
        if is_second || !may_repeat {
            return Err(errand.backend_error(problem, &session));
        }
        is_second = true;
    }
}

/// The connection to a live source, for a request that is no call.
pub(super) async fn live_session(
    connections: &Connections,
    (name, config): (&str, &Config),
    caller: &Caller,
    root: &Path,
) -> Result<Arc<Session>, String> {
    let server = backends::mcp_server(config, name).ok_or("it is not configured")?;
    let endpoint = endpoint((backends::bare(name), server), root, caller).map_err(|error| error.message)?;
    let deadline = Instant::now() + endpoint.timeout;
    let opened = timeout_at(deadline, connections.session(&endpoint)).await;
    let session = opened.map_err(|_| endpoint.too_slow())?.map_err(|problem| problem.to_string())?;
    match session.is_personal() && !may_share(server, caller) {
        true => Err(SignInProblem::NotShared.to_string()),
        false => Ok(session),
    }
}

/// Whether the sign-in of the operator is for this caller: one without a name of its own, or any where it is shared.
fn may_share(server: &Server, caller: &Caller) -> bool {
    caller.name.is_empty() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}

/// The connection of a caller to a server: its client's own one, where the server can ask that client, or the caller's own
/// one, where the server is called with the caller's token.
fn endpoint(server: (&str, &Server), root: &Path, caller: &Caller) -> Result<Endpoint, BackendError> {
    let token = caller_token(server, caller)?;
    let session = caller.session.as_ref().filter(|_| server.1.per_session);
    let session = session.map(|session| format!("{}\n{session}", caller.name));
    let client = caller.origin.as_ref().and_then(|origin| origin.session());
    Ok(Endpoint::for_call(server, root, &caller.headers, session)?.of_caller(token).of_client(client))
}

impl McpCall<'_> {
    async fn session(
        &self,
        connections: &Connections,
        endpoint: &Endpoint,
    ) -> Result<Arc<Session>, BackendError> {
        match timeout_at(self.deadline, connections.session(endpoint)).await {
            Ok(Ok(session)) if session.is_personal() && !may_share(self.configured, self.call.caller) => {
                Err(self.no_token(&SignInProblem::NotShared))
            }
            Ok(Ok(session)) => Ok(session),
            Ok(Err(problem)) => Err(self.unreachable(&problem)),
            Err(_) => Err(self.unreachable(&endpoint.too_slow().into())),
        }
    }

    /// The error of a call that was not sent, since its server is away.
    fn unreachable(&self, problem: &Problem) -> BackendError {
        if let Some((_, missing)) = &problem.sign_in {
            return self.no_token(missing);
        }
        let message = format!("the MCP server `{}` cannot be reached: {}", self.server, problem.reason);
        let next = match (problem.advice(), problem.retry_after()) {
            (Some(advice), _) => format!("tell the user to {advice}"),
            (None, Some(left)) => format!(
                "try again in {} s, when the server is started again, or tell the user",
                left.as_secs() + 1
            ),
            (None, None) => "try again later, or tell the user".into(),
        };
        BackendError::new(BackendErrorKind::NotSent, message, next)
    }

    /// The error of a call for which there is no token. The sign-in of the operator is not asked for on behalf of others.
    fn no_token(&self, problem: &SignInProblem) -> BackendError {
        let is_asked_for = matches!(problem, SignInProblem::SignIn { .. });
        let is_for = !is_asked_for || may_share(self.configured, self.call.caller);
        BackendError::of_sign_in(self.server, if is_for { problem } else { &SignInProblem::NotShared })
    }

    fn arguments(&self) -> Map<String, Value> {
        self.call.arguments.as_object().cloned().unwrap_or_default()
    }

    /// Whether the call may be sent twice: its server or its author says that it changes nothing.
    fn is_repeatable(&self) -> bool {
        self.call.tool.definition.effect == Some(Effect::Read)
    }

    fn too_slow(&self) -> BackendError {
        let message = format!(
            "the MCP server `{}` did not answer in time, and was asked to stop; it may have run the call",
            self.server
        );
        BackendError::timed_out(message)
    }

    fn backend_error(&self, problem: McpCallError, session: &Session) -> BackendError {
        let server = self.server;
        match problem {
            McpCallError::NotSent(what) => self.unreachable(&what.into()),
            McpCallError::SignIn(problem) => self.no_token(&problem),
            McpCallError::ConnectionLost(what) => {
                let message =
                    format!("the MCP server `{server}` closed the connection during the call: {what}");
                BackendError::connection_lost(message)
            }
            McpCallError::Unreadable(what) => {
                let message = format!(
                    "the MCP server `{server}` answered with no valid result; it may have run the call: {what}"
                );
                BackendError::connection_lost(message)
            }
            McpCallError::ProtocolError(error) => result::refused(error, server, session),
            McpCallError::UnexpectedAnswer(what) => {
                let message = format!("the MCP server `{server}` has no result: {what}");
                BackendError::new(
                    BackendErrorKind::Failed,
                    message,
                    "tell the user; sending the call again changes nothing",
                )
            }
        }
    }
}

/// The call as a dry run shows it.
pub(super) fn preview(server: &str, tool: &str, call: BackendRequest<'_>) -> Result<Value, BackendError> {
    backends::mcp_server(call.config, server).ok_or_else(|| backends::not_configured(server, call.config))?;
    Ok(
        json!({ "backend": "mcp", "server": backends::bare(server), "tool": tool, "arguments": call.redacted() }),
    )
}
