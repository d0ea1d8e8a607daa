//! Answers to posted messages. The SDK would give up an answer for one wrong character in it.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpPostResponse,
};
use tokio::time::timeout;

use super::super::message::{ListNotes, is_unreadable, readable};
use super::errors::HttpError;
use super::sse::{MAX_ANSWER, events, readable_events};
use crate::long_work::apart;
use toolcrib_definition::{clean_line, clipped};

/// Longest wait for the answer to the first question of the newer protocol; some servers leave it without one.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Most bytes of the answer with which a server refuses a message, and most characters of it in ours.
const MAX_REFUSAL: usize = 64 << 10;
const MAX_SHOWN: usize = 200;

/// Posts a message, and reads the answer.
pub(super) async fn posted(
    mut request: reqwest::RequestBuilder,
    message: &ClientJsonRpcMessage,
    session_id: Option<&str>,
    token: Option<String>,
    notes: &ListNotes,
) -> Result<StreamableHttpPostResponse, HttpError> {
    if let Some(id) = session_id {
        request = request.header(HEADER_SESSION_ID, id);
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let asked = match message {
        ClientJsonRpcMessage::Request(request) => Some(request),
        _ => None,
    };
    let is_probe = session_id.is_none()
        && asked.is_some_and(|asked| matches!(asked.request, ClientRequest::DiscoverRequest(_)));
    // A server that knows nothing of the newer protocol refuses its first question in many ways.
    let unknown = |why: String| {
        let error = ErrorData::invalid_request(why, None);
        let id = asked.map(|asked| asked.id.clone());
        Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, id), None))
    };
    let sending = request.json(message).send();
    let response = if is_probe {
        match timeout(PROBE_TIME, sending).await {
            Ok(response) => response?,
            Err(_) => return unknown("no answer".into()),
        }
    } else {
        sending.await?
    };
    let status = response.status();
    let headers = response.headers();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    match (status.as_u16(), text("www-authenticate")) {
        (401, Some(challenge)) => {
            return Err(HttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        (403, Some(challenge)) => {
            return Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)));
        }
        (202 | 204, _) if is_probe => return unknown(format!("HTTP {status}")),
        (202 | 204, _) if asked.is_none() => return Ok(StreamableHttpPostResponse::Accepted),
        (202 | 204, _) => {
            let why = format!("HTTP {status}, which has no answer to the request");
            return Err(HttpError::UnexpectedServerResponse(why.into()));
        }
        (404, _) if session_id.is_some() => return Err(HttpError::SessionExpired),
        _ => {}
    }
    let kind = text("content-type").unwrap_or_default().to_ascii_lowercase();
    let location = text("location");
    let retry_after = text("retry-after");
    let own_session = text(HEADER_SESSION_ID);
    let id = asked.and_then(|asked| serde_json::to_value(&asked.id).ok());
    let read = |body: &[u8]| {
        let text = readable(body, id.as_ref(), notes)?;
        apart(text.len(), || serde_json::from_str::<ServerJsonRpcMessage>(&text).ok())
    };
    if !status.is_success() {
        let is_json = kind.starts_with(JSON_MIME_TYPE);
        let body = bounded(response, MAX_REFUSAL).await.unwrap_or_default();
        let answer = read(&body).and_then(|message| match message {
            ServerJsonRpcMessage::Error(error) if !is_unreadable(&error.error) => Some(error.error),
            _ => None,
        });
        let short = |text: &str| clipped(&clean_line(text), MAX_SHOWN).into_owned();
        let shown = match location {
            Some(location) if status.is_redirection() => {
                format!("it redirects to {}; write that as its `url`", short(&location))
            }
            _ if kind.contains("html") => "a page of HTML".into(),
            _ => short(&String::from_utf8_lossy(&body)),
        };
        // The first two are about rights; the others may pass.
        let is_unknown = is_probe && !matches!(status.as_u16(), 401 | 403 | 429 | 502 | 503 | 504);
        let is_about_rights = matches!(status.as_u16(), 401 | 403);
        let error = if (is_json || is_unknown) && !is_about_rights { answer } else { None };
        return match (error, asked) {
            (Some(error), Some(asked)) => Ok(StreamableHttpPostResponse::Json(
                ServerJsonRpcMessage::error(error, Some(asked.id.clone())),
                own_session,
            )),
            _ if is_unknown && !status.is_redirection() => unknown(format!("HTTP {status}: {shown}")),
            _ => Err(status_error(status, retry_after, &shown)),
        };
    }
    if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
        let events = readable_events(events(response), Arc::clone(notes));
        return Ok(StreamableHttpPostResponse::Sse(events, own_session));
    }
    if asked.is_none() {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if !kind.is_empty() && !kind.starts_with(JSON_MIME_TYPE) {
        return Err(HttpError::UnexpectedContentType(Some(kind)));
    }
    let body = bounded(response, MAX_ANSWER).await?;
    let message = read(&body).ok_or(HttpError::UnexpectedServerResponse("it is no message".into()))?;
    Ok(StreamableHttpPostResponse::Json(message, own_session))
}

/// The error for a status that is no success.
fn status_error(status: StatusCode, retry_after: Option<String>, shown: &str) -> HttpError {
    if status.is_server_error() || status.as_u16() == 429 {
        HttpStatusError::new(status.as_u16(), retry_after).into()
    } else {
        HttpError::UnexpectedServerResponse(format!("HTTP {status}: {shown}").into())
    }
}

async fn bounded(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            return Err(HttpError::ResponseBodyTooLarge { max_size: most });
        }
    }
    Ok(body)
}
