//! Tools of other MCP servers: called by name, over a connection that stays open. [`result`] reads the answer of a tool.

mod result;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{BackendError, BackendErrorKind, BackendRequest, BackendResponse, ErrorAnswer, choice};
use crate::sources::mcp::{Connections, Endpoint, McpCallError, Problem, Session};
use crate::tool::Effect;

/// A call of a tool on another server.
#[derive(Clone, Copy)]
struct McpCall<'o> {
    server: &'o str,
    call: BackendRequest<'o>,
    deadline: Instant,
}

/// Runs a call. One that did not reach its server is sent once more, over a new connection.
pub(super) async fn run(
    connections: &Connections,
    (server, tool): (&str, &str),
    call: BackendRequest<'_>,
    root: &std::path::Path,
) -> Result<BackendResponse, BackendError> {
    let configured =
        choice::mcp_server(call.config, server).ok_or_else(|| choice::not_configured(server, call.config))?;
    let server = choice::bare(server);
    let client = call.caller.session.as_ref().filter(|_| configured.per_session);
    let client = client.map(|session| format!("{}\n{session}", call.caller.name));
    let endpoint = Endpoint::for_call((server, configured), root, &call.caller.headers, client)?;
    let deadline = Instant::now() + endpoint.timeout.min(call.timeout);
    let errand = McpCall { server, call, deadline };
    let mut is_second = false;
    loop {
        let session = errand.session(connections, &endpoint).await?;
        call.begun.mark();
        let problem = match timeout_at(deadline, session.call(tool, errand.arguments())).await {
            Ok(Ok(answer)) => return result::read(answer, server, configured.max_bytes, &session),
            Ok(Err(problem)) => problem,
            Err(_) => {
                session.doubt();
                return Err(errand.too_slow());
            }
        };
        let may_repeat = match problem {
            McpCallError::NotSent(_) => true,
            McpCallError::ConnectionLost(_) => errand.is_repeatable(),
            McpCallError::ProtocolError(_)
            | McpCallError::UnexpectedAnswer(_)
            | McpCallError::Unreadable(_) => false,
        };
        if is_second || !may_repeat {
            return Err(errand.backend_error(problem, &session));
        }
        is_second = true;
    }
}

impl McpCall<'_> {
    async fn session(
        &self,
        connections: &Connections,
        endpoint: &Endpoint,
    ) -> Result<std::sync::Arc<Session>, BackendError> {
        match timeout_at(self.deadline, connections.session(endpoint)).await {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(problem)) => Err(self.unreachable(&problem)),
            Err(_) => Err(self.unreachable(&endpoint.too_slow().into())),
        }
    }

    /// The error of a call that was not sent, since its server is away.
    fn unreachable(&self, problem: &Problem) -> BackendError {
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
            McpCallError::ProtocolError(error) => {
                let message =
                    format!("the MCP server `{server}` refuses the call: {}", session.hide(&error.message));
                let next = "correct the call as the message says, or tell the user";
                let data = error.data.map(|data| session.hide_in(data));
                BackendError::new(BackendErrorKind::Failed, message, next)
                    .with_answer(ErrorAnswer::McpError { code: error.code.0, data })
            }
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
    choice::mcp_server(call.config, server).ok_or_else(|| choice::not_configured(server, call.config))?;
    Ok(
        json!({ "backend": "mcp", "server": choice::bare(server), "tool": tool, "arguments": call.redacted() }),
    )
}
