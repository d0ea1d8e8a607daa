//! An HTTP client that sends each request to a server with its token, and asks for another one where that is refused.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};

use super::endpoint::Endpoint;
use super::secrets::FilledSecrets;
use crate::config::{ActsAs, Server};
use crate::credentials::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, acts_as};

/// Longest event of a stream, in bytes, where the SDK passes no limit of its own: the SDK's default.
const MAX_EVENT: usize = 16 << 20;

/// The tokens of one connection.
pub(super) struct Signing {
    credentials: Arc<Credentials>,
    name: String,
    server: Server,
    caller: Option<CallerToken>,
    secrets: FilledSecrets,
    /// Whether the connection carries the sign-in of the operator. It stays as it began, so that callers can be told apart.
    is_personal: OnceLock<bool>,
    /// The reason of the last request that had no token, or a refused one.
    problem: Mutex<Option<SignInProblem>>,
}

impl fmt::Debug for Signing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Signing({})", self.name)
    }
}

/// An HTTP client with the tokens of one connection.
#[derive(Clone)]
pub(super) struct SignedClient {
    http: reqwest::Client,
    signing: Arc<Signing>,
}

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl Signing {
    pub(super) fn new(endpoint: &Endpoint, credentials: &Arc<Credentials>, secrets: &FilledSecrets) -> Self {
        Self {
            credentials: Arc::clone(credentials),
            name: endpoint.name.clone(),
            server: endpoint.server.clone(),
            caller: endpoint.caller_token().cloned(),
            secrets: secrets.clone(),
            is_personal: OnceLock::new(),
            problem: Mutex::default(),
        }
    }

    /// The name of the server.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the connection carries the sign-in of the operator.
    pub(super) fn is_personal(&self) -> bool {
        self.is_personal.get().copied().unwrap_or_default()
    }

    /// Whether the operator has signed in or out since the connection began.
    pub(super) fn is_outdated(&self) -> bool {
        let is_of_operator = self.caller.is_none() && acts_as(&self.server) == Some(ActsAs::Person);
        let is_signed_in = || self.credentials.is_signed_in((&self.name, &self.server));
        is_of_operator && self.is_personal.get().is_some_and(|was| *was != is_signed_in())
    }

    /// The reason of an error of this connection, where it is a refused or missing token.
    pub(super) fn problem_of(&self, error: &(dyn Error + 'static)) -> Option<SignInProblem> {
        let error = innermost(error).downcast_ref::<HttpError>()?;
        let is_about_tokens = refusal(error).is_some() || matches!(error, HttpError::Auth(_));
        let problem = || self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        is_about_tokens.then(problem).flatten()
    }

    /// The token of the next request.
    async fn token(&self) -> Result<Option<SecretToken>, SignInProblem> {
        let token = self.credentials.token((&self.name, &self.server), self.caller.as_ref()).await?;
        let is_of_person = acts_as(&self.server) == Some(ActsAs::Person);
        let is_used = !is_of_person || *self.is_personal.get_or_init(|| token.is_some());
        let token = token.filter(|_| is_used);
        token.iter().for_each(|token| self.secrets.add_token(token));
        Ok(token)
    }

    /// Another token in place of a refused one.
    async fn other(&self, refused: Refused<'_>) -> Option<SecretToken> {
        let server = (self.name.as_str(), &self.server);
        match self.credentials.rejected(server, self.caller.as_ref(), refused).await {
            Ok(Some(token)) if refused.token.is_some() => {
                self.secrets.add_token(&token);
                Some(token)
            }
            Ok(Some(_)) => {
                self.fail(SignInProblem::Refused("somebody has just signed in to it".into()));
                None
            }
            Ok(None) => None,
            Err(problem) => {
                self.fail(problem);
                None
            }
        }
    }

    /// The problem where a server refuses even a new token. Only the operator could sign in again.
    fn refused_twice(&self) -> SignInProblem {
        let reason = "it refuses the token that it was just given".into();
        match acts_as(&self.server) {
            Some(ActsAs::Person) => SignInProblem::SignIn { reason, is_first: false, scopes: Vec::new() },
            _ => SignInProblem::Refused(reason),
        }
    }

    fn fail(&self, problem: SignInProblem) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }
}

impl SignedClient {
    pub(super) fn new(http: reqwest::Client, signing: Arc<Signing>) -> Self {
        Self { http, signing }
    }

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

/// The status and the challenge with which a server refuses a token: 401, or 403 where it asks for more scopes.
fn refusal(error: &HttpError) -> Option<(u16, Option<&str>)> {
    match error {
        HttpError::AuthRequired(refused) => Some((401, Some(&refused.www_authenticate_header))),
        HttpError::InsufficientScope(refused)
            if refused.www_authenticate_header.contains("insufficient_scope") =>
        {
            Some((403, Some(&refused.www_authenticate_header)))
        }
        HttpError::Client(error) if error.status().is_some_and(|status| status == 401) => Some((401, None)),
        HttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => Some((401, None)),
        _ => None,
    }
}

impl StreamableHttpClient for SignedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message_with_max_sse_event_size(uri, message, session_id, token, headers, MAX_EVENT).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        max: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.send(|token| {
            let (uri, session_id, headers) = (Arc::clone(&uri), session_id.clone(), headers.clone());
            let message = message.clone();
            self.http.post_message_with_max_sse_event_size(uri, message, session_id, token, headers, max)
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
            let (uri, session_id) = (Arc::clone(&uri), Arc::clone(&session_id));
            self.http.delete_session(uri, session_id, token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.get_stream_with_max_sse_event_size(uri, session_id, last, token, headers, MAX_EVENT).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
        max: usize,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.send(|token| {
            let (uri, session_id, headers) = (Arc::clone(&uri), session_id.clone(), headers.clone());
            let last = last.clone();
            self.http.get_stream_with_max_sse_event_size(uri, session_id, last, token, headers, max)
        })
        .await
    }
}

/// The error of the transport, below those of the protocol.
pub(super) fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
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
