//! Errors of servers over HTTP, below those of the protocol, and their meaning.

use std::error::Error;
use std::io;

use http::StatusCode;
use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::super::message::is_unreadable;

pub(in crate::mcp) type HttpError = StreamableHttpError<reqwest::Error>;

/// A status that is no success, and a part of its answer.
#[derive(Debug, thiserror::Error)]
#[error("unexpected server response: HTTP {status}: {shown}")]
pub(super) struct UnexpectedStatus {
    pub(super) status: StatusCode,
    pub(super) shown: String,
}

impl From<UnexpectedStatus> for HttpError {
    fn from(error: UnexpectedStatus) -> Self {
        Self::Io(io::Error::other(error))
    }
}

/// The error of the transport, below those of the protocol.
fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let below: &(dyn Error + 'static) = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }), _) => fallback.as_ref(),
        (Some(ClientInitializeError::TransportError { error, .. }), _) => error.error.as_ref(),
        (_, Some(ServiceError::TransportSend(error))) => error.error.as_ref(),
        _ => return error,
    };
    innermost(below)
}

/// The error of a server over HTTP.
pub(in crate::mcp) fn http_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e HttpError> {
    innermost(error).downcast_ref()
}

/// The status with which a server answered, and its challenge.
pub(super) fn status_of(error: &HttpError) -> Option<(u16, Option<&str>)> {
    match error {
        HttpError::AuthRequired(refused) => Some((401, Some(&refused.www_authenticate_header))),
        HttpError::InsufficientScope(refused) => Some((403, Some(&refused.www_authenticate_header))),
        HttpError::HttpStatus(reply) => Some((reply.status, None)),
        HttpError::Client(error) => Some((error.status()?.as_u16(), None)),
        HttpError::Io(error) => {
            Some((error.get_ref()?.downcast_ref::<UnexpectedStatus>()?.status.as_u16(), None))
        }
        _ => None,
    }
}

/// The status and the challenge with which a server refuses a token: 401, or 403 where it asks for more scopes.
pub(super) fn refusal(error: &HttpError) -> Option<(u16, Option<&str>)> {
    let (status, challenge) = status_of(error)?;
    let asks_for_scopes = challenge.is_some_and(|text| text.contains("insufficient_scope"));
    (status == 401 || (status == 403 && asks_for_scopes)).then_some((status, challenge))
}

/// Reason why a server does not answer, in one line, without its address.
pub(in crate::mcp) fn explain(error: &(dyn Error + 'static)) -> String {
    let unreadable = |error: &ErrorData| format!("its answer cannot be read: {}", error.message);
    match error.downcast_ref() {
        Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }) => {
            return explain(fallback.as_ref());
        }
        Some(ClientInitializeError::ExpectedInitResult(_)) => {
            return "its answer to `initialize` lacks something that the protocol wants".into();
        }
        Some(ClientInitializeError::JsonRpcError(error)) if is_unreadable(error) => return unreadable(error),
        _ => {}
    }
    let error = innermost(error);
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(HttpError::UnexpectedContentType(kind)), _) => {
            format!("it answered with {}, not with JSON", kind.as_deref().unwrap_or("no content type"))
        }
        (Some(HttpError::Client(error)), _) => match error.status() {
            Some(status) => format!("it answered {status}"),
            None if error.is_timeout() => "it took too long".into(),
            None if error.is_connect() => "no connection".into(),
            None => "the connection broke".into(),
        },
        (Some(HttpError::Io(error)), _) => error.to_string(),
        (_, Some(ServiceError::McpError(error))) if is_unreadable(error) => unreadable(error),
        _ => error.to_string(),
    }
}
