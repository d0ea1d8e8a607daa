//! Requests to servers and their authorization servers: the client, and an answer within limits.

use std::sync::LazyLock;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use reqwest::RequestBuilder;

use super::reasons::SignInError;

/// Longest time to connect, and longest wait for the first challenge.
pub(super) const CONNECTING: Duration = Duration::from_secs(10);
/// Longest answer, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The client, which follows no redirects; the reason where none can be made.
pub(super) fn client() -> Result<&'static reqwest::Client, SignInError> {
    static HTTP: LazyLock<Result<reqwest::Client, SignInError>> = LazyLock::new(|| {
        // The program has one cryptography provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().gzip(false).connect_timeout(CONNECTING);
        // Requests may come from different runtimes, and a connection belongs to one.
        let client = client.redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0);
        let client = client.user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))).build();
        client.map_err(|error| error.to_string().into())
    });
    HTTP.as_ref().map_err(Clone::clone)
}

/// A request that posts a form.
pub(super) fn form(url: &str, fields: &[(&str, &str)]) -> Result<RequestBuilder, SignInError> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Ok(client()?.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body))
}

/// Sends a request, and gives the status and the body of the answer. The error names neither the address nor anything that
/// was sent.
pub(super) async fn send(request: RequestBuilder) -> Result<(u16, Vec<u8>), SignInError> {
    let answer = request.header(ACCEPT, "application/json").send().await;
    let mut answer = answer.map_err(|error| match (error.is_timeout(), error.is_builder()) {
        (true, _) => "there was no answer in time",
        (_, true) => "its address is no address",
        _ => "there was no connection",
    })?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the answer broke off")? {
        if body.len() + piece.len() > MAX_BYTES {
            return Err("the answer is too long".into());
        }
        body.extend_from_slice(&piece);
    }
    Ok((answer.status().as_u16(), body))
}

/// The document at an address.
pub async fn document(url: &str) -> Result<Vec<u8>, SignInError> {
    match send(client()?.get(url)).await? {
        (200, body) => Ok(body),
        (status, _) => Err(SignInError::Status(status)),
    }
}
