//! Servers over HTTP: requests with a token, and another one where that is refused; and the meaning of their errors.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};

use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};

use super::endpoint::{Endpoint, Problem};
use super::secrets::FilledSecrets;
use crate::config::{ActsAs, Server};
use crate::credentials::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, acts_as};
use crate::guard::locked;

/// The tokens of one connection.
pub(super) struct Signing {
    credentials: Arc<Credentials>,
    pub(super) endpoint: Endpoint,
    secrets: FilledSecrets,
    /// Whether the connection carries the sign-in of the operator. It stays as it began, so that callers can be told apart.
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
    pub(super) fn problem_of(&self, error: &(dyn Error + 'static)) -> Option<SignInProblem> {
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
        match self.acts_as_person() {
            true => SignInProblem::SignIn { reason, is_first: false, scopes: Vec::new() },
            false => SignInProblem::Refused(reason),
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
) -> Result<StreamableHttpClientTransport<SignedClient>, Problem> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(endpoint.timeout)
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())?;
    let client = SignedClient { http, signing: Arc::clone(signing) };
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
            let (uri, session_id) = (Arc::clone(&uri), session_id.clone());
            self.http.post_message(uri, message.clone(), session_id, token, headers.clone())
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
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.send(|token| {
            let (uri, session_id) = (Arc::clone(&uri), session_id.clone());
            self.http.get_stream(uri, session_id, last.clone(), token, headers.clone())
        })
        .await
    }
}

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
    match http_error(error) {
        Some(HttpError::Client(error)) => match error.status() {
            Some(status) => format!("it answered {status}"),
            None if error.is_timeout() => "it took too long".into(),
            None if error.is_connect() => "no connection".into(),
            None => "the connection broke".into(),
        },
        _ => innermost(error).to_string(),
    }
}
