//! Tools of other MCP servers: called by name, over a connection that stays open.

mod result;
mod sign_in_wait;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::backend_error::{BackendError, BackendErrorKind, Result, wait_for};
use super::request::{BackendRequest, BackendResponse};
use super::servers::{bare, caller_token, mcp_server, not_configured};
use crate::caller::Caller;
use result::{read_result, refused_result};
use sign_in_wait::{Asked, Person, may_share};
use toolcrib_catalog::config::{Config, Server};
use toolcrib_catalog::results::length;
use toolcrib_definition::Effect;
use toolcrib_front::credentials::SignInProblem;
use toolcrib_front::long_work::apart;
use toolcrib_front::mcp::{Away, Connections, Endpoint, EndpointUser, McpCallError, Session};

/// An MCP server, as a caller reaches it.
#[derive(Clone, Copy)]
struct CalledServer<'o> {
    name: &'o str,
    configured: &'o Server,
    caller: &'o Caller,
}

/// Runs a call. One that did not reach its server is sent once more, over a new connection.
pub(super) async fn run(
    connections: &Connections,
    (server, tool): (&str, &str),
    call: BackendRequest<'_>,
    root: &Path,
) -> Result<BackendResponse> {
    let configured = mcp_server(call.config, server).ok_or_else(|| not_configured(server, call.config))?;
    let server = CalledServer { name: bare(server), configured, caller: call.caller };
    let endpoint = server.endpoint(root)?;
    let longest_silence = configured.longest_silence().unwrap_or(call.longest_silence);
    let mut person = Person::of(connections.credentials(), (server.name, configured), call.caller);
    person.answered().await;
    let arguments = || call.arguments.as_object().cloned().unwrap_or_default();
    // Its server or its author says that the call changes nothing.
    let is_repeatable = call.tool.rules.known_effect() == Some(Effect::Read);
    let mut is_second = false;
    loop {
        let session = match server.session(connections, &endpoint).await {
            Ok(session) => session,
            Err(error) if error.kind == BackendErrorKind::SignInRequired => {
                call.caller.origin.iter().for_each(|origin| origin.begin_call());
                if person.ask(endpoint.timeout).await != Asked::SignedIn {
                    return Err(error);
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        call.begun.mark();
        let origin = call.caller.origin.as_ref();
        let problem = match session.call(tool, arguments(), origin, longest_silence).await {
            Ok(answer) => {
                let max_bytes = configured.max_bytes;
                return apart(length(&answer), || read_result(answer, server.name, max_bytes, &session));
            }
            Err(problem) => problem,
        };
        if matches!(problem, McpCallError::SignIn(SignInProblem::SignIn(_)))
            && person.ask(endpoint.timeout).await == Asked::SignedIn
        {
            continue;
        }
        let may_repeat = match problem {
            McpCallError::NotSent(_) => true,
            McpCallError::ConnectionLost(_) => is_repeatable,
            McpCallError::ProtocolError(_)
            | McpCallError::UnexpectedAnswer(_)
            | McpCallError::Silent
            | McpCallError::Busy(..)
            | McpCallError::SignIn(_)
            | McpCallError::Unreadable(_) => false,
        };
        if is_second || !may_repeat {
            return Err(server.backend_error(problem, &session));
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
) -> Result<Arc<Session>> {
    let configured = mcp_server(config, name).ok_or_else(|| not_configured(name, config))?;
    let server = CalledServer { name: bare(name), configured, caller };
    let endpoint = server.endpoint(root)?;
    server.session(connections, &endpoint).await
}

impl CalledServer<'_> {
    /// The connection of its caller: its client's own one, where the server can ask that client, or the caller's own one,
    /// where the server is called with the caller's token.
    fn endpoint(&self, root: &Path) -> Result<Endpoint> {
        let Self { name, configured, caller } = *self;
        let session = if configured.per_session { caller.session.as_ref() } else { None };
        let user = EndpointUser {
            token: caller_token((name, configured), caller)?,
            session: session.map(|session| format!("{}\n{session}", caller.name)),
            client: caller.origin.as_ref().and_then(|origin| origin.session()).cloned(),
            ..EndpointUser::default()
        };
        Ok(Endpoint::new(name, configured, root).for_call(user, &caller.headers)?)
    }

    /// The session with the server, unless its sign-in is for others.
    async fn session(&self, connections: &Connections, endpoint: &Endpoint) -> Result<Arc<Session>> {
        match timeout(endpoint.timeout, connections.session(endpoint)).await {
            Ok(Ok(session)) if session.is_personal() && !may_share(self.configured, self.caller) => {
                Err(self.no_token(&SignInProblem::NotShared))
            }
            Ok(Ok(session)) => Ok(session),
            Ok(Err(away)) => Err(self.unreachable(&away)),
            Err(_) => Err(self.unreachable(&endpoint.too_slow().into())),
        }
    }

    /// The error of a call that was not sent, since its server is away.
    fn unreachable(&self, away: &Away) -> BackendError {
        if let Some(missing) = away.problem.no_token() {
            return self.no_token(&missing.problem);
        }
        let message = format!("the MCP server `{}` cannot be reached: {}", self.name, away.problem);
        let next = match (away.problem.advice(), away.retry_after()) {
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
        let is_asked_for = matches!(problem, SignInProblem::SignIn(_));
        let is_for = !is_asked_for || may_share(self.configured, self.caller);
        BackendError::of_sign_in(self.name, if is_for { problem } else { &SignInProblem::NotShared })
    }

    fn too_slow(&self) -> BackendError {
        let message = format!(
            "the MCP server `{}` did not answer in time, and was asked to stop; it may have run the call",
            self.name
        );
        BackendError::timed_out(message)
    }

    fn backend_error(&self, problem: McpCallError, session: &Session) -> BackendError {
        let server = self.name;
        match problem {
            McpCallError::NotSent(what) => self.unreachable(&what.into()),
            McpCallError::SignIn(problem) => self.no_token(&problem),
            McpCallError::Silent => self.too_slow(),
            McpCallError::ConnectionLost(what) => {
                let problem = "closed the connection during the call";
                BackendError::connection_lost(format!("the MCP server `{server}` {problem}: {what}"))
            }
            McpCallError::Unreadable(what) => {
                let problem = "answered with no valid result; it may have run the call";
                BackendError::connection_lost(format!("the MCP server `{server}` {problem}: {what}"))
            }
            McpCallError::ProtocolError(error) => refused_result(error, server, session),
            McpCallError::Busy(what, retry_after_seconds) => {
                let message = format!("the MCP server `{server}` has had too many calls: {what}");
                let next = wait_for(retry_after_seconds);
                let error = BackendError::new(BackendErrorKind::Busy, message, next);
                BackendError { status: Some(429), retry_after_seconds, ..error }
            }
            McpCallError::UnexpectedAnswer(what) => {
                let message = format!("the MCP server `{server}` has no result: {what}");
                let next = "tell the user; sending the call again changes nothing";
                BackendError::new(BackendErrorKind::Failed, message, next)
            }
        }
    }
}

/// The call as a dry run shows it.
pub(super) fn preview(server: &str, tool: &str, call: BackendRequest<'_>) -> Result<Value> {
    mcp_server(call.config, server).ok_or_else(|| not_configured(server, call.config))?;
    Ok(json!({ "backend": "mcp", "server": bare(server), "tool": tool, "arguments": call.redacted() }))
}
