//! Servers over HTTP: requests with a token, and another one where that is refused; and the meaning of their errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use std::{fmt, io};

use axum::body::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::redirect::Policy;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::time::timeout;

use super::endpoint::{Endpoint, Problem};
use super::message::{ListNotes, is_unreadable, readable};
use super::requests::{MAX_NOTIFICATIONS, Pace};
use super::secrets::FilledSecrets;
use crate::credentials::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, acts_as};
use crate::long_work::apart;
use toolcrib_catalog::config::{ActsAs, Server};
use toolcrib_definition::guard::locked;
use toolcrib_definition::{clean_line, clipped};

/// The tokens of one connection.
pub(super) struct Signing {
    credentials: Arc<Credentials>,
    pub(super) endpoint: Endpoint,
    secrets: FilledSecrets,
    /// Whether the connection carries the operator's sign-in. It is set once, so that callers stay distinguishable.
    is_personal: OnceLock<bool>,
    /// The reason of the last request that had no token, or a refused one.
    problem: Mutex<Option<SignInProblem>>,
}

impl fmt::Debug for Signing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Signing({})", self.endpoint.name)
    }
}

/// An HTTP client with the tokens of one connection.
#[derive(Clone)]
pub(super) struct SignedClient {
    http: reqwest::Client,
    signing: Arc<Signing>,
    notes: ListNotes,
}

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl Signing {
    pub(super) fn new(endpoint: &Endpoint, credentials: &Arc<Credentials>, secrets: &FilledSecrets) -> Self {
        Self {
            credentials: Arc::clone(credentials),
            endpoint: endpoint.clone(),
            secrets: secrets.clone(),
            is_personal: OnceLock::new(),
            problem: Mutex::default(),
        }
    }

    /// The server, as its credentials know it.
    fn server(&self) -> (&str, &Server) {
        (&self.endpoint.name, &self.endpoint.server)
    }

    fn acts_as_person(&self) -> bool {
        acts_as(&self.endpoint.server) == Some(ActsAs::Person)
    }

    fn caller(&self) -> Option<&CallerToken> {
        self.endpoint.user.token.as_ref()
    }

    /// Whether the connection carries the sign-in of the operator.
    pub(super) fn is_personal(&self) -> bool {
        self.is_personal.get().copied().unwrap_or_default()
    }

    /// Whether the operator has signed in or out since the connection began.
    pub(super) fn is_outdated(&self) -> bool {
        let is_of_operator = self.caller().is_none() && self.acts_as_person();
        let is_signed_in = || self.credentials.is_signed_in(self.server());
        is_of_operator && self.is_personal.get().is_some_and(|was| *was != is_signed_in())
    }

    /// The reason of an error of this connection, where it is a refused or missing token.
    pub fn problem_of(&self, error: &(dyn Error + 'static)) -> Option<SignInProblem> {
        let error = http_error(error)?;
        let is_about_tokens = refusal(error).is_some() || matches!(error, HttpError::Auth(_));
        let problem = || locked(&self.problem).clone();
        is_about_tokens.then(problem).flatten()
    }

    /// The token of the next request.
    async fn token(&self) -> Result<Option<SecretToken>, SignInProblem> {
        let token = self.credentials.token(self.server(), self.caller()).await?;
        let is_used = !self.acts_as_person() || *self.is_personal.get_or_init(|| token.is_some());
        let token = token.filter(|_| is_used);
        token.iter().for_each(|token| self.secrets.add_token(token));
        Ok(token)
    }

    /// Another token in place of a refused one.
    async fn other(&self, refused: Refused<'_>) -> Option<SecretToken> {
        let problem = match self.credentials.rejected(self.server(), self.caller(), refused).await {
            Ok(Some(token)) if refused.token.is_some() => {
                self.secrets.add_token(&token);
                return Some(token);
            }
            Ok(Some(_)) => SignInProblem::Refused("somebody has just signed in to it".into()),
            Ok(None) => return None,
            Err(problem) => problem,
        };
        self.fail(problem);
        None
    }

    /// The problem where a server refuses even a new token. Only the operator could sign in again.
    fn refused_twice(&self) -> SignInProblem {
        let reason = "it refuses the token that it was just given".into();
        if self.acts_as_person() {
            SignInProblem::SignIn { reason, is_first: false, scopes: Vec::new() }
        } else {
            SignInProblem::Refused(reason)
        }
    }

    fn fail(&self, problem: SignInProblem) {
        *locked(&self.problem) = Some(problem);
    }
}

impl SignedClient {
    /// Sends a request with a token, and once more where the server refuses that and there is another one.
    async fn send<T, F, A>(&self, send: F) -> Result<T, HttpError>
    where
        F: Fn(Option<String>) -> A,
        A: Future<Output = Result<T, HttpError>>,
    {
        let token = self.signing.token().await.map_err(|problem| {
            self.signing.fail(problem);
            HttpError::Auth(AuthError::AuthorizationRequired)
        })?;
        // An address may have a secret, and errors are logged.
        let send = async |token| {
            send(token).await.map_err(|error| match error {
                HttpError::Client(error) => HttpError::Client(error.without_url()),
                other => other,
            })
        };
        let sent = send(token.as_ref().map(|token| token.expose().to_string())).await;
        let Err(error) = sent else { return sent };
        let Some((status, challenge)) = refusal(&error) else { return Err(error) };
        let refused = Refused { token: token.as_ref(), status, challenge };
        let Some(other) = self.signing.other(refused).await else { return Err(error) };
        let sent = send(Some(other.expose().to_string())).await;
        if let Err(error) = &sent
            && refusal(error).is_some()
        {
            self.signing.fail(self.signing.refused_twice());
        }
        sent
    }
}

/// The transport to the server at this address.
pub(super) fn transport(
    url: &str,
    headers: Headers,
    endpoint: &Endpoint,
    signing: &Arc<Signing>,
    notes: &ListNotes,
) -> Result<StreamableHttpClientTransport<SignedClient>, Problem> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .redirect(redirects())
        .connect_timeout(endpoint.timeout)
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())?;
    let client = SignedClient { http, signing: Arc::clone(signing), notes: Arc::clone(notes) };
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

impl StreamableHttpClient for SignedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.send(|token| {
            let request = self.http.post(uri.as_ref()).headers(headers.clone().into_iter().collect());
            let request = request.header(ACCEPT, [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", "));
            self.post(request, &message, session_id.as_deref(), token)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.send(|token| {
            let uri = Arc::clone(&uri);
            let session_id = Arc::clone(&session_id);
            self.http.delete_session(uri, session_id, token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        let stream = self.send(|token| {
            let uri = Arc::clone(&uri);
            let session_id = session_id.clone();
            self.http.get_stream(uri, session_id, last.clone(), token, headers.clone())
        });
        Ok(readable_events(stream.await?, Arc::clone(&self.notes)))
    }
}

// Answers to posted messages. The SDK would give up an answer for one wrong character in it.

/// Longest wait for the answer to the first question of the newer protocol; some servers leave it without one.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Most bytes of an answer, or of one event.
const MAX_ANSWER: usize = 16 << 20;
/// Most bytes of the answer with which a server refuses a message, and most characters of it in ours.
const MAX_REFUSAL: usize = 64 << 10;
const MAX_SHOWN: usize = 200;

impl SignedClient {
    async fn post(
        &self,
        mut request: reqwest::RequestBuilder,
        message: &ClientJsonRpcMessage,
        session_id: Option<&str>,
        token: Option<String>,
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
            let text = readable(body, id.as_ref(), &self.notes)?;
            apart(text.len(), || serde_json::from_str::<ServerJsonRpcMessage>(&text).ok())
        };
        if !status.is_success() {
            let is_json = kind.starts_with(JSON_MIME_TYPE);
            let is_html = kind.contains("html");
            let body = bounded(response, MAX_REFUSAL).await.unwrap_or_default();
            let answer = read(&body).and_then(|message| match message {
                ServerJsonRpcMessage::Error(error) if !is_unreadable(&error.error) => Some(error.error),
                _ => None,
            });
            let shown = clipped(&clean_line(&String::from_utf8_lossy(&body)), MAX_SHOWN).into_owned();
            let shown = match location {
                Some(location) if status.is_redirection() => {
                    format!(
                        "it redirects to {}; write that as its `url`",
                        clipped(&clean_line(&location), MAX_SHOWN)
                    )
                }
                _ if is_html => "a page of HTML".into(),
                _ => shown,
            };
            // The first two are about rights; the others may pass.
            let is_unknown = is_probe && !matches!(status.as_u16(), 401 | 403 | 429 | 502 | 503 | 504);
            let is_about_rights = matches!(status.as_u16(), 401 | 403);
            let error = answer.filter(|_| (is_json || is_unknown) && !is_about_rights);
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
            let events = readable_events(events(response), Arc::clone(&self.notes));
            return Ok(StreamableHttpPostResponse::Sse(events, own_session));
        }
        if asked.is_none() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.is_empty() && !kind.starts_with(JSON_MIME_TYPE) {
            return Err(HttpError::UnexpectedContentType(Some(kind).filter(|kind| !kind.is_empty())));
        }
        let body = bounded(response, MAX_ANSWER).await?;
        let message = read(&body).ok_or(HttpError::UnexpectedServerResponse("it is no message".into()))?;
        Ok(StreamableHttpPostResponse::Json(message, own_session))
    }
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

/// The events of an answer, each within the limit, in Unicode.
fn events(response: reqwest::Response) -> BoxedSseResponse {
    let mut rest = Vec::new();
    let mut size = 0;
    let mut is_line_end = false;
    let within = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        for byte in &chunk {
            size = if *byte == b'\n' && is_line_end { 0 } else { size + 1 };
            is_line_end = *byte == b'\n' || (is_line_end && *byte == b'\r');
            if size > MAX_ANSWER {
                return Err(io::Error::other(format!("an event is longer than {} MiB", MAX_ANSWER >> 20)));
            }
        }
        Ok(in_unicode(&mut rest, &chunk).into_bytes().into())
    });
    let size = |chunk: &io::Result<Bytes>| chunk.as_ref().map_or(0, Bytes::len);
    let within: BoxStream<'static, io::Result<Bytes>> = paced(within, MAX_ANSWER, size).boxed();
    SseStream::from_bytes_stream(within).boxed()
}

/// A stream of which each second has at most this much: the SDK reads all events before the first answer at once.
fn paced<S: Stream>(stream: S, most: usize, size: fn(&S::Item) -> usize) -> impl Stream<Item = S::Item> {
    stream::unfold((Box::pin(stream), Pace::new(most)), move |(mut stream, mut pace)| async move {
        pace.wait().await;
        let item = stream.next().await?;
        pace.count(size(&item));
        Some((item, (stream, pace)))
    })
}

/// The text in a piece of a stream; `rest` is the beginning of a character at its end.
fn in_unicode(rest: &mut Vec<u8>, piece: &[u8]) -> String {
    rest.extend_from_slice(piece);
    let mut text = String::with_capacity(rest.len());
    let mut left = Vec::new();
    let mut chunks = rest.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        match chunk.invalid() {
            [] => {}
            invalid if chunks.peek().is_none() => left = invalid.to_vec(),
            _ => text.push('\u{fffd}'),
        }
    }
    *rest = left;
    text
}

fn readable_events(events: BoxedSseResponse, notes: ListNotes) -> BoxedSseResponse {
    let read = move |event: Result<Sse, _>| {
        event.map(|event| {
            let data =
                event.data.and_then(|data| readable(data.as_bytes(), None, &notes).map(Cow::into_owned));
            Sse { data: data.filter(|data| !data.is_empty()), ..event }
        })
    };
    paced(events, MAX_NOTIFICATIONS, |_| 1).map(read).boxed()
}

/// Follows redirects that keep the message, on the same origin: many servers redirect `/mcp` to `/mcp/`.
fn redirects() -> Policy {
    Policy::custom(|attempt| {
        let keeps_message = matches!(attempt.status().as_u16(), 307 | 308);
        let is_same =
            attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps_message && is_same && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

/// Most redirects of one request.
const MAX_REDIRECTS: usize = 3;

// Errors of servers, below those of the protocol.

/// The error of the transport, below those of the protocol.
fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    match error.downcast_ref() {
        Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }) => {
            return innermost(fallback.as_ref());
        }
        Some(ClientInitializeError::TransportError { error, .. }) => return innermost(error.error.as_ref()),
        _ => {}
    }
    match error.downcast_ref() {
        Some(ServiceError::TransportSend(error)) => innermost(error.error.as_ref()),
        _ => error,
    }
}

/// The error of a server over HTTP.
pub(super) fn http_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e HttpError> {
    innermost(error).downcast_ref()
}

/// The status with which a server answered, and its challenge.
pub(super) fn status_of(error: &HttpError) -> Option<(u16, Option<&str>)> {
    match error {
        HttpError::AuthRequired(refused) => Some((401, Some(&refused.www_authenticate_header))),
        HttpError::InsufficientScope(refused) => Some((403, Some(&refused.www_authenticate_header))),
        HttpError::HttpStatus(reply) => Some((reply.status, None)),
        HttpError::Client(error) => Some((error.status()?.as_u16(), None)),
        HttpError::UnexpectedServerResponse(text) => {
            Some((text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()?, None))
        }
        _ => None,
    }
}

/// The status and the challenge with which a server refuses a token: 401, or 403 where it asks for more scopes.
fn refusal(error: &HttpError) -> Option<(u16, Option<&str>)> {
    let asks_for_scopes =
        |challenge: Option<&str>| challenge.is_some_and(|text| text.contains("insufficient_scope"));
    status_of(error)
        .filter(|(status, challenge)| *status == 401 || (*status == 403 && asks_for_scopes(*challenge)))
}

/// Reason why a server does not answer, in one line, without its address.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }) => {
            return explain(fallback.as_ref());
        }
        Some(ClientInitializeError::ExpectedInitResult(_)) => {
            return "its answer to `initialize` lacks something that the protocol wants".into();
        }
        _ => {}
    }
    match http_error(error) {
        Some(HttpError::UnexpectedContentType(kind)) => {
            format!("it answered with {}, not with JSON", kind.as_deref().unwrap_or("no content type"))
        }
        Some(HttpError::Client(error)) => match error.status() {
            Some(status) => format!("it answered {status}"),
            None if error.is_timeout() => "it took too long".into(),
            None if error.is_connect() => "no connection".into(),
            None => "the connection broke".into(),
        },
        _ => match innermost(error).downcast_ref::<ServiceError>() {
            Some(ServiceError::McpError(error)) if is_unreadable(error) => unreadable_answer(error),
            _ => match error.downcast_ref::<ClientInitializeError>() {
                Some(ClientInitializeError::JsonRpcError(error)) if is_unreadable(error) => {
                    unreadable_answer(error)
                }
                _ => innermost(error).to_string(),
            },
        },
    }
}

fn unreadable_answer(error: &ErrorData) -> String {
    format!("its answer cannot be read: {}", error.message)
}

#[cfg(test)]
#[path = "tests/http.rs"]
mod tests;
