//! Tools of other MCP servers: called by name, over a connection that stays open.
//!
//! 1. [`sessions`] holds the connections, one for each server, shared by all calls.
//! 2. [`result`] reads the answer of a tool.

mod result;
mod sessions;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{BackendError, BackendErrorKind, BackendRequest, BackendResponse, ErrorAnswer, choice};
use crate::config::Config;
use crate::exec::Caller;
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
        let origin = call.caller.origin.as_ref();
        let client = origin.and_then(|origin| origin.session());
        let endpoint = Endpoint::for_call(configured, root, &call.caller.headers)?.of_client(client);
        let deadline = Instant::now() + endpoint.timeout.min(call.timeout);
        let errand = McpCall { server: choice::bare(server), call, deadline };
        let mut is_second = false;
        loop {
            let session = errand.session(self, &endpoint, environment).await?;
            call.begun.mark();
            let problem = match timeout_at(deadline, session.call(tool, errand.arguments(), origin)).await {
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

impl Sessions {
    /// The connection to a live source, for a request that is no call.
    pub(super) async fn live(
        &self,
        (name, config): (&str, &Config),
        caller: &Caller,
        (root, environment): (&std::path::Path, &Environment),
    ) -> Result<Arc<Session>, String> {
        let server = choice::mcp_server(config, name).ok_or("it is not configured")?;
        let client = caller.origin.as_ref().and_then(|origin| origin.session());
        let endpoint =
            Endpoint::for_call(server, root, &caller.headers).map_err(|missing| missing.to_string())?;
        let endpoint = endpoint.of_client(client);
        let opened =
            timeout_at(Instant::now() + endpoint.timeout, self.session(&endpoint, environment, config));
        opened.await.map_err(|_| endpoint.too_slow())?
    }
}

impl McpCall<'_> {
    async fn session(
        &self,
        sessions: &Sessions,
        endpoint: &Endpoint,
        environment: &Environment,
    ) -> Result<Arc<Session>, BackendError> {
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
