//! Calling a tool through a connection, and what it means when nothing comes back.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};

use super::session::{Session, explain};

/// How long a server that has just died has for its last words.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum NoResult {
    /// It did not reach the server.
    NotSent(String),
    /// It did, as far as is known, and the connection is gone.
    Lost(String),
    /// The server answered with an error of the protocol.
    Refused(ErrorData),
    /// The server answered that there is no result.
    Odd(String),
    /// The server answered with something that cannot be read.
    Unreadable(String),
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, NoResult> {
        if self.is_closed() {
            return Err(NoResult::NotSent(self.with_words("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        match self.peer().call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(result),
            Ok(_) => Err(NoResult::Odd("it wants more than arguments, which cannot be given here".into())),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> NoResult {
        let what = explain(&error);
        match error {
            ServiceError::McpError(error) => NoResult::Refused(error),
            ServiceError::TransportClosed => {
                tokio::time::sleep(LAST_WORDS).await;
                NoResult::Lost(self.with_words("the connection is closed"))
            }
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    // A line that cannot be written is not read.
                    None | Some(StreamableHttpError::SessionExpired) => {
                        NoResult::NotSent(self.with_words(&what))
                    }
                    Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                        NoResult::NotSent(self.with_words(&what))
                    }
                    // A gateway says that it has no answer of the server behind it.
                    Some(StreamableHttpError::HttpStatus(told)) if matches!(told.status, 502 | 504) => {
                        NoResult::Lost(self.with_words(&what))
                    }
                    Some(StreamableHttpError::HttpStatus(_) | StreamableHttpError::AuthRequired(_)) => {
                        NoResult::Odd(self.with_words(&what))
                    }
                    Some(_) => NoResult::Lost(self.with_words(&what)),
                }
            }
            _ => NoResult::Unreadable(self.with_words(&what)),
        }
    }
}
