//! Tools of other MCP servers: called by name, over a connection that is kept.
//!
//! 1. [`sessions`] are the connections, one for each server, shared by all calls.
//! 2. [`result`] is what a tool's answer says.

mod result;
mod sessions;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{Fault, FaultKind, Order, Reply, choice};
use crate::sources::mcp::{Endpoint, Environment, NoResult, Session};
use crate::tool::Effect;

pub(super) use sessions::Sessions;

/// What an order asks of another server.
#[derive(Clone, Copy)]
struct Errand<'o> {
    server: &'o str,
    order: Order<'o>,
    deadline: Instant,
}

impl Sessions {
    pub(super) async fn run(
        &self,
        (server, tool): (&str, &str),
        order: Order<'_>,
        (root, environment): (&std::path::Path, &Environment),
    ) -> Result<Reply, Fault> {
        let configured =
            choice::mcp_server(order.config, server).ok_or_else(|| choice::not_configured(server))?;
        let endpoint = Endpoint::called(configured, root, &order.caller.headers)?;
        let deadline = Instant::now() + endpoint.patience.min(order.time);
        let errand = Errand { server: choice::bare(server), order, deadline };
        let mut is_second = false;
        loop {
            let session = errand.session(self, &endpoint, environment).await?;
            order.begun.mark();
            let problem = match timeout_at(deadline, session.call(tool, errand.arguments())).await {
                Ok(Ok(answer)) => return result::read(answer, errand.server, configured.max_bytes, &session),
                Ok(Err(problem)) => problem,
                Err(_) => return Err(errand.too_slow()),
            };
            let may_repeat = match problem {
                NoResult::NotSent(_) => true,
                NoResult::Lost(_) => errand.is_repeatable(),
                NoResult::Refused(_) | NoResult::Odd(_) | NoResult::Unreadable(_) => false,
            };
            if is_second || !may_repeat {
                return Err(errand.fault(problem, &session));
            }
            self.forget(&endpoint, &session).await;
            is_second = true;
        }
    }
}

impl Errand<'_> {
    async fn session(
        &self,
        sessions: &Sessions,
        endpoint: &Endpoint,
        environment: &Environment,
    ) -> Result<std::sync::Arc<Session>, Fault> {
        let opened = sessions.session(endpoint, environment, self.order.config);
        let problem = match timeout_at(self.deadline, opened).await {
            Ok(Ok(session)) => return Ok(session),
            Ok(Err(problem)) => problem,
            Err(_) => endpoint.too_slow(),
        };
        let message = format!("the MCP server `{}` cannot be reached: {problem}", self.server);
        Err(Fault::new(FaultKind::NotSent, message, "try again later, or tell the user"))
    }

    fn arguments(&self) -> Map<String, Value> {
        self.order.arguments.as_object().cloned().unwrap_or_default()
    }

    /// Whether the call may run twice: its server or its author says that it changes nothing.
    fn is_repeatable(&self) -> bool {
        self.order.tool.definition.effect == Some(Effect::Read)
    }

    fn too_slow(&self) -> Fault {
        let message = format!(
            "the MCP server `{}` did not answer in time, and was told to stop; it may have run the call",
            self.server
        );
        Fault::new(FaultKind::TimedOut, message, "look what is there before you send the call again")
    }

    fn fault(&self, problem: NoResult, session: &Session) -> Fault {
        let server = self.server;
        match problem {
            NoResult::NotSent(what) => {
                let message = format!("the MCP server `{server}` cannot be reached: {what}");
                Fault::new(FaultKind::NotSent, message, "try again later, or tell the user")
            }
            NoResult::Lost(what) => {
                let message = format!("the MCP server `{server}` went away during the call: {what}");
                Fault::new(FaultKind::Lost, message, "look what is there before you send the call again")
            }
            NoResult::Unreadable(what) => {
                let message = format!(
                    "the MCP server `{server}` answered with something that is no result; it may have run the call: {what}"
                );
                Fault::new(FaultKind::Lost, message, "look what is there before you send the call again")
            }
            NoResult::Refused(error) => {
                let message =
                    format!("the MCP server `{server}` refuses the call: {}", session.hide(&error.message));
                let next = "correct the call as the message says, or tell the user";
                let detail =
                    json!({ "code": error.code.0, "data": error.data.map(|data| session.hide_in(data)) });
                Fault::new(FaultKind::Failed, message, next).detail(detail)
            }
            NoResult::Odd(what) => {
                let message = format!("the MCP server `{server}` has no result: {what}");
                Fault::new(
                    FaultKind::Failed,
                    message,
                    "tell the user; sending the call again changes nothing",
                )
            }
        }
    }
}

/// What a call would send.
pub(super) fn preview(server: &str, tool: &str, order: Order<'_>) -> Result<Value, Fault> {
    choice::mcp_server(order.config, server).ok_or_else(|| choice::not_configured(server))?;
    Ok(json!({ "backend": "mcp", "server": choice::bare(server), "tool": tool, "arguments": order.shown() }))
}
