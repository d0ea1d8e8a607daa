//! Tools of other MCP servers: called by name, over a connection that stays open.
//!
//! 1. [`sessions`] holds the connections, one for each server, shared by all calls.
//! 2. [`result`] reads the answer of a tool.

mod result;
mod sessions;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{BackendError, BackendErrorKind, BackendRequest, BackendResponse, choice};
use crate::sources::mcp::{Endpoint, Environment, McpCallError, Session};
use crate::tool::Effect;

pub(super) use sessions::Sessions;

/// A call of a tool on another server.
#[derive(Clone, Copy)]
struct McpCall<'o> {
    server: &'o str,
    call: BackendRequest<'o>,
    deadline: Instant,
}

impl Sessions {
    pub(super) async fn run(
        &self,
        (server, tool): (&str, &str),
        call: BackendRequest<'_>,
        (root, environment): (&std::path::Path, &Environment),
    ) -> Result<BackendResponse, BackendError> {
        let configured = choice::mcp_server(call.config, server)
            .ok_or_else(|| choice::not_configured(server, call.config))?;
        let endpoint = Endpoint::for_call(configured, root, &call.caller.headers)?;
        let deadline = Instant::now() + endpoint.timeout.min(call.timeout);
        let errand = McpCall { server: choice::bare(server), call, deadline };
        let mut is_second = false;
        loop {
            let session = errand.session(self, &endpoint, environment).await?;
            call.begun.mark();
            let problem = match timeout_at(deadline, session.call(tool, errand.arguments())).await {
                Ok(Ok(answer)) => return result::read(answer, errand.server, configured.max_bytes, &session),
                Ok(Err(problem)) => problem,
                Err(_) => return Err(errand.too_slow()),
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
            self.forget(&endpoint, &session).await;
            is_second = true;
        }
    }
}

impl McpCall<'_> {
    async fn session(
        &self,
        sessions: &Sessions,
        endpoint: &Endpoint,
        environment: &Environment,
    ) -> Result<std::sync::Arc<Session>, BackendError> {
        let opened = sessions.session(endpoint, environment, self.call.config);
        let problem = match timeout_at(self.deadline, opened).await {
            Ok(Ok(session)) => return Ok(session),
            Ok(Err(problem)) => problem,
            Err(_) => endpoint.too_slow(),
        };
        let message = format!("the MCP server `{}` cannot be reached: {problem}", self.server);
        Err(BackendError::new(BackendErrorKind::NotSent, message, "try again later, or tell the user"))
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
            McpCallError::NotSent(what) => {
                let message = format!("the MCP server `{server}` cannot be reached: {what}");
                BackendError::new(BackendErrorKind::NotSent, message, "try again later, or tell the user")
            }
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
    choice::mcp_server(call.config, server).ok_or_else(|| choice::not_configured(server, call.config))?;
    Ok(
        json!({ "backend": "mcp", "server": choice::bare(server), "tool": tool, "arguments": call.redacted() }),
    )
}
