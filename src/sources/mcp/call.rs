//! Calling a tool through a connection, and what it means when nothing comes back.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};

use super::session::{Session, explain};

/// How long a server that has just died has for its last words.
const STDERR_WAIT: Duration = Duration::from_millis(50);

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum McpCallError {
    /// It did not reach the server.
    NotSent(String),
    /// It did, as far as is known, and the connection is gone.
    ConnectionLost(String),
    /// The server answered with an error of the protocol.
    ProtocolError(ErrorData),
    /// The server answered that there is no result.
    UnexpectedAnswer(String),
    /// The server answered with something that cannot be read.
    Unreadable(String),
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, McpCallError> {
        if self.is_closed() {
            return Err(McpCallError::NotSent(self.with_stderr("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        match self.peer().call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(result),
            Ok(_) => Err(McpCallError::UnexpectedAnswer(
                "it wants more than arguments, which cannot be given here".into(),
            )),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> McpCallError {
        let what = explain(&error);
        match error {
            ServiceError::McpError(error) => McpCallError::ProtocolError(error),
            ServiceError::TransportClosed => {
                tokio::time::sleep(STDERR_WAIT).await;
                McpCallError::ConnectionLost(self.with_stderr("the connection is closed"))
            }
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    // A line that cannot be written is not read.
                    None | Some(StreamableHttpError::SessionExpired) => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    // A gateway says that it has no answer of the server behind it.
                    Some(StreamableHttpError::HttpStatus(told)) if matches!(told.status, 502 | 504) => {
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
