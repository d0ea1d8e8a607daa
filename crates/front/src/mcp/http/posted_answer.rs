//! Answers to posted messages. The SDK would give up an answer for one wrong character in it.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpPostResponse,
};
use tokio::time::timeout;

use super::super::message::{ListNotes, is_unreadable, readable};
use super::errors::{HttpError, UnexpectedStatus};
use super::redirects::Moves;
use super::sse::{MAX_ANSWER, events, readable_events};
use crate::long_work::apart;
use toolcrib_definition::{clean_line, clipped};

/// Longest wait for the answer to the first question of the newer protocol; some servers leave it without one.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Most bytes of the answer with which a server refuses a message, and most characters of it in ours.
const MAX_REFUSAL: usize = 64 << 10;
const MAX_SHOWN: usize = 200;

type Answer = Result<StreamableHttpPostResponse, HttpError>;

/// Posts a message, and reads the answer.
pub(super) async fn posted(
    mut request: RequestBuilder,
    message: &ClientJsonRpcMessage,
    session_id: Option<&str>,
    token: Option<String>,
    notes: &ListNotes,
    moves: &Moves,
) -> Answer {
    if let Some(id) = session_id {
        request = request.header(HEADER_SESSION_ID, id);
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let asked = if let ClientJsonRpcMessage::Request(request) = message { Some(request) } else { None };
    let is_discovery = asked.is_some_and(|asked| matches!(asked.request, ClientRequest::DiscoverRequest(_)));
    let posted = Posted {
        id: asked.map(|asked| &asked.id),
        has_session: session_id.is_some(),
        is_probe: is_discovery && session_id.is_none(),
        notes,
    };
    let limit = if posted.is_probe { PROBE_TIME } else { Duration::MAX };
    match timeout(limit, moves.sent(request.json(message))).await {
        Ok(response) => posted.answer(response?).await,
        Err(_) => posted.unknown("no answer".into()),
    }
}

/// A message that was posted.
struct Posted<'m> {
    /// The id of a request.
    id: Option<&'m RequestId>,
    has_session: bool,
    /// Whether it is the first question of the newer protocol. A server that knows nothing of it refuses it in many ways.
    is_probe: bool,
    notes: &'m ListNotes,
}

impl Posted<'_> {
    async fn answer(&self, response: Response) -> Answer {
        let status = response.status();
        match (status.as_u16(), header(&response, "www-authenticate")) {
            (401, Some(challenge)) => Err(HttpError::AuthRequired(AuthRequiredError::new(challenge))),
            (403, Some(challenge)) => {
                Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
            }
            (404, _) if self.has_session => Err(HttpError::SessionExpired),
            (202 | 204, _) if self.is_probe => self.unknown(format!("HTTP {status}")),
            (202 | 204, _) if self.id.is_some() => {
                let why = format!("HTTP {status}, which has no answer to the request");
                Err(HttpError::UnexpectedServerResponse(why.into()))
            }
            (202 | 204, _) => Ok(StreamableHttpPostResponse::Accepted),
            _ if status.is_success() => self.content(response).await,
            _ => self.refusal(status, response).await,
        }
    }

    /// The content of an answer.
    async fn content(&self, response: Response) -> Answer {
        let kind = kind(&response);
        let session = header(&response, HEADER_SESSION_ID);
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let events = readable_events(events(response), Arc::clone(self.notes));
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if self.id.is_none() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.is_empty() && !kind.starts_with(JSON_MIME_TYPE) {
            return Err(HttpError::UnexpectedContentType(Some(kind)));
        }
        let body = bounded(response, MAX_ANSWER).await?;
        let message =
            self.read(&body).ok_or(HttpError::UnexpectedServerResponse("it is no message".into()))?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    /// The meaning of a status that is no success: the error of the protocol in its body, else the status itself.
    async fn refusal(&self, status: StatusCode, response: Response) -> Answer {
        // The first two are about rights; the others may pass.
        let is_unknown = self.is_probe && !matches!(status.as_u16(), 401 | 403 | 429 | 502 | 503 | 504);
        let is_about_rights = matches!(status.as_u16(), 401 | 403);
        let kind = kind(&response);
        let [session, location, retry_after] =
            [HEADER_SESSION_ID, "location", "retry-after"].map(|name| header(&response, name));
        let body = bounded(response, MAX_REFUSAL).await.unwrap_or_default();
        if (kind.starts_with(JSON_MIME_TYPE) || is_unknown)
            && !is_about_rights
            && let (Some(ServerJsonRpcMessage::Error(error)), Some(id)) = (self.read(&body), self.id)
            && !is_unreadable(&error.error)
        {
            let error = ServerJsonRpcMessage::error(error.error, Some(id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, session));
        }
        let short = |text: &str| clipped(&clean_line(text), MAX_SHOWN).into_owned();
        let shown = match location {
            Some(location) if status.is_redirection() => {
                format!("it redirects to {}; write that as its `url`", short(&location))
            }
            _ if kind.contains("html") => "a page of HTML".into(),
            _ => short(&String::from_utf8_lossy(&body)),
        };
        if is_unknown && !status.is_redirection() {
            return self.unknown(format!("HTTP {status}: {shown}"));
        }
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
        }
        Err(UnexpectedStatus { status, shown }.into())
    }

    /// The answer of a server that does not know the newer protocol.
    fn unknown(&self, why: String) -> Answer {
        let error = ErrorData::invalid_request(why, None);
        let message = ServerJsonRpcMessage::error(error, self.id.cloned());
        Ok(StreamableHttpPostResponse::Json(message, None))
    }

    fn read(&self, body: &[u8]) -> Option<ServerJsonRpcMessage> {
        let id = self.id.and_then(|id| serde_json::to_value(id).ok());
        let text = readable(body, id.as_ref(), self.notes)?;
        apart(text.len(), || serde_json::from_str(&text).ok())
    }
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_string)
}

/// The media type of an answer.
fn kind(response: &Response) -> String {
    header(response, "content-type").unwrap_or_default().to_ascii_lowercase()
}

async fn bounded(mut response: Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            return Err(HttpError::ResponseBodyTooLarge { max_size: most });
        }
    }
    Ok(body)
}
