//! Calls of tools over a [`Session`], and the reason why a call has no result.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ContentBlock, ErrorData};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::client::RequestOrigin;
use super::http::{HttpError, explain, http_error};
use super::message::is_unreadable;
use super::requests::asks_for_input;
use super::server_problem::ServerProblem;
use super::session::Session;
use crate::credentials::SignInProblem;
use crate::telemetry::Operation;

/// Wait for the last line on stderr of a server that has just died.
const STDERR_WAIT: Duration = Duration::from_millis(50);

/// Reason why a call has no result.
pub enum McpCallError {
    /// The call did not reach the server.
    NotSent(ServerProblem),
    /// The call reached the server, as far as is known, and the connection is gone.
    ConnectionLost(ServerProblem),
    /// The server answered with a protocol error.
    ProtocolError(ErrorData),
    /// The server answered that the call failed.
    UnexpectedAnswer(ServerProblem),
    /// The server has had too many calls; with the seconds to wait, where it says them.
    Busy(ServerProblem, Option<u64>),
    /// The server refused the call for want of a token, and has not run it.
    SignIn(SignInProblem),
    /// The server's answer cannot be read.
    Unreadable(ServerProblem),
    /// The server was silent for too long, and was asked to stop.
    Silent,
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled, and one about which the server is silent for so long.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<Value, McpCallError> {
        if self.is_closed() {
            return Err(McpCallError::NotSent(self.problem("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        if let Some(origin) = origin {
            origin.begin_call();
        }
        let sending = self.request_with_input(request, origin, longest_silence);
        match Operation::mcp_call(tool).observe(sending, error_type).await {
            Ok(question) if asks_for_input(&question) => {
                let mut what = "it asks for more than arguments, which cannot be given here";
                if let Some(origin) = origin.filter(|origin| origin.may_require_input()) {
                    origin.require_input(question);
                    what = "it asks for input, which the client gives next";
                }
                Err(McpCallError::UnexpectedAnswer(what.into()))
            }
            Ok(result) if is_of_a_call(&result) => Ok(result),
            Ok(_) => Err(McpCallError::Unreadable("the result is not that of a tool call".into())),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> McpCallError {
        if let Some(problem) = self.signing.as_ref().and_then(|signing| signing.problem_of(&error)) {
            return McpCallError::SignIn(problem);
        }
        let what = self.problem(&explain(&error));
        match error {
            ServiceError::McpError(error) if is_unreadable(&error) => {
                McpCallError::Unreadable(self.secrets.line(&error.message).into())
            }
            ServiceError::McpError(error) => McpCallError::ProtocolError(error),
            ServiceError::Timeout { .. } => {
                // The server may be dead, and is listed again.
                self.routes.changed.notify_one();
                McpCallError::Silent
            }
            ServiceError::TransportClosed => {
                tokio::time::sleep(STDERR_WAIT).await;
                McpCallError::ConnectionLost(self.end())
            }
            ServiceError::TransportSend(_) => match http_error(&error) {
                // A line that could not be written was not read by the server.
                None | Some(HttpError::SessionExpired) => McpCallError::NotSent(what),
                Some(HttpError::Client(error)) if error.is_connect() => McpCallError::NotSent(what),
                // A gateway reports that the server behind it did not answer.
                Some(HttpError::HttpStatus(reply)) if matches!(reply.status, 502 | 504) => {
                    McpCallError::ConnectionLost(what)
                }
                Some(HttpError::HttpStatus(reply)) if reply.status == 429 => {
                    let seconds = reply.retry_after.as_ref().and_then(|text| text.trim().parse().ok());
                    McpCallError::Busy(what, seconds)
                }
                Some(HttpError::HttpStatus(_) | HttpError::AuthRequired(_)) => {
                    McpCallError::UnexpectedAnswer(what)
                }
                Some(_) => McpCallError::ConnectionLost(what),
            },
            _ => McpCallError::Unreadable(what),
        }
    }
}

/// The types of blocks that clients know.
const BLOCKS: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];

/// Returns true for the result of a call. A block of a type that clients know has what it needs.
fn is_of_a_call(result: &Value) -> bool {
    let is_fine = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| !BLOCKS.contains(&kind)) || ContentBlock::deserialize(block).is_ok()
    };
    match result.get("content") {
        Some(content) => content.as_array().is_some_and(|blocks| blocks.iter().all(is_fine)),
        None => ["structuredContent", "isError"].iter().any(|key| result.get(key).is_some()),
    }
}

/// The type of the error of a call, for telemetry.
fn error_type(answer: &Result<Value, ServiceError>) -> Option<String> {
    Some(match answer {
        Ok(result) if result.get("isError").is_some_and(|is_error| is_error == true) => "tool_error".into(),
        Ok(_) => return None,
        Err(ServiceError::McpError(error)) => error.code.0.to_string(),
        Err(_) => "_OTHER".into(),
    })
}
