//! HTTP backends: one request for each call, to the configured server only.
//!
//! 1. [`request`] makes the whole request: [`parts`] assigns the arguments of a call to its parts, and [`template`], [`query`] and
//!    [`body`] write them.
//! 2. An [`Exchange`] sends it, retries it if that does no harm, and follows redirects if configured.
//! 3. [`response`] reads the answer within its limits, and [`error_response`] explains an error.

mod body;
mod error_response;
mod exchange;
mod expression;
mod file;
mod parts;
mod query;
mod request;
mod response;
mod template;
mod text;

use std::sync::OnceLock;
use std::time::Duration;

use http::HeaderValue;
use serde_json::Value;

use super::backend_error::{BackendError, Result};
use super::request::{BackendRequest, BackendResponse};
use super::servers::web_server;
use exchange::{Exchange, acting_caller};
use request::HttpRequest;
use toolcrib_definition::secret::REDACTED;
use toolcrib_definition::{HttpBackend, Location};
use toolcrib_front::mcp::{Connections, FilledSecrets};
use toolcrib_front::telemetry::{self, Operation};

pub(super) use text::plain;

/// Time for opening a connection. It is short, so that a dead server is noticed before the call times out.
const CONNECTING: Duration = Duration::from_secs(10);

/// Connections to all servers.
#[derive(Debug, Default)]
pub(super) struct Http {
    client: OnceLock<reqwest::Result<reqwest::Client>>,
}

impl Http {
    pub(super) async fn run(
        &self,
        backend: &HttpBackend,
        call: BackendRequest<'_>,
        connections: &Connections,
    ) -> Result<BackendResponse> {
        let (name, server) = web_server(backend, call.tool, call.config)?;
        let request = HttpRequest::new(backend, server, call)?;
        let mut secrets = FilledSecrets::default();
        let environment = connections.environment();
        let url = request.url(&request.base_query(call, environment, &mut secrets)?)?;
        let headers = request.headers(call, environment, &mut secrets)?;
        let mut exchange = Exchange {
            client: self.client()?,
            server: (name, server),
            call,
            request: &request,
            headers,
            secrets: &secrets,
            credentials: server.auth.as_ref().map(|_| &**connections.credentials()),
            caller: acting_caller((name, server), call.caller)?,
        };
        let sending = async {
            if let Some((header, span)) = telemetry::current() {
                let span = HeaderValue::try_from(span).ok();
                span.map(|span| exchange.headers.entry(header).or_insert(span));
            }
            exchange.run(url).await
        };
        let error = |sent: &Result<_>| Some(<&str>::from(sent.as_ref().err()?.kind).to_string());
        let operation = Operation::backend_request(request.method.as_str(), name);
        let mut response = operation.observe(sending, error).await?;
        // A server that echoes its request would give away our credentials.
        let (content, warning) = secrets.hide_in_result(response.content);
        response.content = content;
        response.warnings.extend(warning);
        Ok(response)
    }

    pub(super) fn client(&self) -> Result<&reqwest::Client> {
        let client = self.client.get_or_init(|| {
            // One provider of cryptography for the whole process; a second call does nothing.
            let _ = rustls::crypto::ring::default_provider().install_default();
            reqwest::Client::builder()
                // A small answer must not unpack into a large one.
                .gzip(false)
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .connect_timeout(CONNECTING)
                .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
                .build()
        });
        client
            .as_ref()
            .map_err(|error| BackendError::unconfigured(format!("cannot create an HTTP client: {error}")))
    }
}

/// The request of a call, without secrets. The name that an argument has in the request can also mark a secret.
pub(super) fn preview(backend: &HttpBackend, call: BackendRequest<'_>) -> Result<Value> {
    let (name, server) = web_server(backend, call.tool, call.config)?;
    HttpRequest::new(backend, server, call)?.url("")?;
    let mut preview = call.redacted();
    for (argument, place) in &backend.arguments {
        let is_secret = call.secrets().is_secret(place.name.as_deref().unwrap_or(argument));
        if (is_secret || place.location == Location::Cookie)
            && let Some(value) = preview.get_mut(argument)
        {
            *value = REDACTED.into();
        }
    }
    Ok(HttpRequest::new(backend, server, BackendRequest { arguments: &preview, ..call })?.preview(name, call))
}
