//! Servers over HTTP: requests with a token ([`signing`]), and another one where that is refused.
//!
//! 1. [`posted_answer`] reads the answer to a message, and [`sse`] the events of a stream.
//! 2. A server that [redirects](mod@redirects) is followed on its host.
//! 3. [`errors`] finds the meaning of an error of a server.

mod errors;
mod posted_answer;
mod redirects;
mod signing;
mod sse;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use http::header::ACCEPT;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpPostResponse,
};

use super::message::ListNotes;
use super::server_problem::ServerProblem;
use crate::credentials::Refused;
use errors::refusal;
use posted_answer::posted;
use redirects::{Moves, redirects};
use sse::readable_events;

pub(super) use errors::{HttpError, explain, http_error};
pub(super) use signing::{Signing, server_problem};

/// An HTTP client with the tokens of one connection.
#[derive(Clone)]
pub(in crate::mcp) struct SignedClient {
    http: reqwest::Client,
    signing: Arc<Signing>,
    notes: ListNotes,
    moves: Moves,
}

type Headers = HashMap<HeaderName, HeaderValue>;

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
pub(in crate::mcp) fn transport(
    url: &str,
    headers: Headers,
    signing: &Arc<Signing>,
    notes: &ListNotes,
) -> Result<StreamableHttpClientTransport<SignedClient>, ServerProblem> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().redirect(redirects()).connect_timeout(signing.endpoint.timeout);
    let http = http.user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))).build();
    let http = http.map_err(|error| error.to_string())?;
    let moves = Moves::of(signing);
    let client = SignedClient { http, signing: Arc::clone(signing), notes: Arc::clone(notes), moves };
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
            let address = self.moves.address(&uri);
            let request = self.http.post(address.as_ref()).headers(headers.clone().into_iter().collect());
            let request = request.header(ACCEPT, [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", "));
            posted(request, &message, session_id.as_deref(), token, &self.notes, &self.moves)
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
            self.http.delete_session(
                self.moves.address(&uri),
                Arc::clone(&session_id),
                token,
                headers.clone(),
            )
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
            self.http.get_stream(
                self.moves.address(&uri),
                session_id.clone(),
                last.clone(),
                token,
                headers.clone(),
            )
        });
        Ok(readable_events(stream.await?, Arc::clone(&self.notes)))
    }
}

#[cfg(test)]
mod tests;
