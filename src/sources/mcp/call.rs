//! Calls a tool through a connection, and classifies calls without a result.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorData, ServerResult,
};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};

use super::RequestOrigin;
use super::problem::explain;
use super::session::Session;
use crate::credentials::SignInProblem;

/// Wait for the last line on stderr of a server that has just died.
const STDERR_WAIT: Duration = Duration::from_millis(50);

/// Reason why a call has no result.
#[derive(Debug)]
pub(crate) enum McpCallError {
    /// The call did not reach the server.
    NotSent(String),
    /// The call reached the server, as far as is known, and the connection is gone.
    ConnectionLost(String),
    /// The server answered with a protocol error.
    ProtocolError(ErrorData),
    /// The server answered that the call failed.
    UnexpectedAnswer(String),
    /// The server refused the call for want of a token, and has not run it.
    SignIn(SignInProblem),
    /// The server's answer cannot be read.
    Unreadable(String),
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: Option<&Arc<RequestOrigin>>,
    ) -> Result<CallToolResult, McpCallError> {
        if self.is_closed() {
            return Err(McpCallError::NotSent(self.with_stderr("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        if let Some(origin) = origin {
            origin.begin_call();
        }
        let answer = self.request_with_input(request, origin).await;
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(question))
                if origin.is_some_and(|origin| origin.may_require_input()) =>
            {
                if let Some(origin) = origin {
                    origin.require_input(question);
                }
                Err(McpCallError::UnexpectedAnswer("it asks for input, which the client gives next".into()))
            }
            Ok(ServerResult::InputRequiredResult(_)) => Err(McpCallError::UnexpectedAnswer(
                "it asks for more than arguments, which cannot be given here".into(),
            )),
            Ok(_) => Err(McpCallError::Unreadable("the result is none of a tool".into())),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> McpCallError {
        if let Some(problem) = self.signing.as_ref().and_then(|signing| signing.problem_of(&error)) {
            return McpCallError::SignIn(problem);
        }
        let what = explain(&error);
        match error {
            ServiceError::McpError(error) => McpCallError::ProtocolError(error),
            ServiceError::TransportClosed => {
                tokio::time::sleep(STDERR_WAIT).await;
                McpCallError::ConnectionLost(self.with_stderr("the connection is closed"))
            }
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    // A line that could not be written was not read by the server.
                    None | Some(StreamableHttpError::SessionExpired) => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    // A gateway reports that the server behind it did not answer.
                    Some(StreamableHttpError::HttpStatus(reply)) if matches!(reply.status, 502 | 504) => {
                        McpCallError::ConnectionLost(self.with_stderr(&what))
                    }
                    Some(StreamableHttpError::HttpStatus(_) | StreamableHttpError::AuthRequired(_)) => {
                        McpCallError::UnexpectedAnswer(self.with_stderr(&what))
                    }
                    Some(_) => McpCallError::ConnectionLost(self.with_stderr(&what)),
                }
            }
            _ => McpCallError::Unreadable(self.with_stderr(&what)),
        }
    }
}
