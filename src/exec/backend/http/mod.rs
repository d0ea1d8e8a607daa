//! HTTP backends: one request for each call, to the configured server only.
//!
//! 1. [`request`] assigns arguments to parts of the request; [`path`] with its [`path`]s, [`text`] and [`request`] write them.
//! 2. [`request`] is the whole request, with the server's headers.
//! 3. [`send`] sends it, retries where that does no harm, and follows redirects where these are configured.
//! 4. [`response`] reads the answer within its limits, and [`response`] explains an error.

mod path;
mod request;
mod response;
mod send;
mod text;

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use super::identity::Identity;
use super::{BackendError, BackendRequest, BackendResponse, backends};
use crate::secret::REDACTED;
use crate::sources::mcp::{Connections, FilledSecrets};
use crate::tool::{HttpBackend, Location};
use request::HttpRequest;
use send::Exchange;
pub(super) use text::plain;

/// Seconds for opening a connection: a server that is down is noticed before the call times out.
const CONNECTING: Duration = Duration::from_secs(10);

/// Connections to all servers.
#[derive(Debug, Default)]
pub(super) struct Http {
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl Http {
    pub(super) async fn run(
        &self,
        backend: &HttpBackend,
        call: BackendRequest<'_>,
        connections: &Connections,
    ) -> Result<BackendResponse, BackendError> {
        let (name, server) = backends::web_server(backend, call.tool, call.config)?;
        let request = HttpRequest::new(backend, server, call)?;
        let mut secrets = FilledSecrets::default();
        let (url, headers) =
            (request.url()?, request.headers(call, connections.environment(), &mut secrets)?);
        let identity = |_| Identity::new(connections.credentials(), (name, server), call.caller);
        let identity = server.auth.as_ref().map(identity).transpose()?;
        let (client, request, secrets) = (self.client()?, &request, &secrets);
        let exchange = Exchange { client, name, server, call, request, headers, secrets, identity };
        let mut response = exchange.run(url).await?;
        // A server that echoes its request would give away our credentials.
        let (content, warning) = secrets.hide_in_result(response.content);
        response.content = content;
        response.warnings.extend(warning);
        Ok(response)
    }

    fn client(&self) -> Result<&reqwest::Client, BackendError> {
        let client = self.client.get_or_init(|| {
            // One provider of cryptography for the whole process; a second call does nothing.
            let _ = rustls::crypto::ring::default_provider().install_default();
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .connect_timeout(CONNECTING)
                .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| error.to_string())
        });
        client
            .as_ref()
            .map_err(|error| BackendError::unconfigured(format!("no HTTP client could be made: {error}")))
    }
}

/// The request of a call, without secrets. An argument's name in the request can mark it as a secret too.
pub(super) fn preview(backend: &HttpBackend, call: BackendRequest<'_>) -> Result<Value, BackendError> {
    let (name, server) = backends::web_server(backend, call.tool, call.config)?;
    HttpRequest::new(backend, server, call)?.url()?;
    let mut preview = call.redacted();
    for (argument, place) in &backend.arguments {
        let is_secret = call.secrets().is_secret(place.name.as_deref().unwrap_or(argument));
        if let Some(value) =
            preview.get_mut(argument).filter(|_| is_secret || place.location == Location::Cookie)
        {
            *value = REDACTED.into();
        }
    }
    Ok(HttpRequest::new(backend, server, BackendRequest { arguments: &preview, ..call })?.preview(name, call))
}
