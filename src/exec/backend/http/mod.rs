//! HTTP backends: one request for each call, to the configured server and nowhere else.
//!
//! 1. [`parts`] says which argument goes where; [`path`] with its [`expression`]s, [`text`] and [`body`] write them.
//! 2. [`request`] is all of it, with the server's headers.
//! 3. [`send`] sends it, again where that cannot do harm, and follows redirects where that is configured.
//! 4. [`reply`] reads the answer within its limits, and [`refused`] says what an error means.

mod body;
mod expression;
mod parts;
mod path;
mod refused;
mod reply;
mod request;
mod send;
mod text;

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use super::{Fault, Order, Reply, choice};
use crate::secret::REDACTED;
use crate::sources::mcp::{Environment, Secrets};
use crate::tool::{HttpBackend, Location};
use request::Request;
use send::Exchange;
pub(super) use text::plain;

/// How long a connection may take, whatever the call may.
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
        order: Order<'_>,
        environment: &Environment,
    ) -> Result<Reply, Fault> {
        let (name, server) = choice::web_server(backend, order.tool, order.config)?;
        let request = Request::new(backend, server, order)?;
        let mut secrets = Secrets::default();
        let (url, headers) = (request.url()?, request.headers(order, environment, &mut secrets)?);
        let client = self.client()?;
        let exchange =
            Exchange { client, name, server, order, request: &request, headers, secrets: &secrets };
        let mut reply = exchange.run(url).await?;
        // A server that echoes what it was sent would tell our credentials.
        reply.content = secrets.hide_in(reply.content);
        Ok(reply)
    }

    fn client(&self) -> Result<&reqwest::Client, Fault> {
        let client = self.client.get_or_init(|| {
            // One provider of cryptography for the whole program; a second call changes nothing.
            let _ = rustls::crypto::ring::default_provider().install_default();
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .connect_timeout(CONNECTING)
                .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| error.to_string())
        });
        client.as_ref().map_err(|error| Fault::unconfigured(format!("no HTTP client could be made: {error}")))
    }
}

/// What a call would send, without secrets: what an argument is called there may say that it is one.
pub(super) fn preview(backend: &HttpBackend, order: Order<'_>) -> Result<Value, Fault> {
    let (name, server) = choice::web_server(backend, order.tool, order.config)?;
    Request::new(backend, server, order)?.url()?;
    let mut shown = order.shown();
    for (argument, place) in &backend.arguments {
        let is_secret = order.secrets().is_secret(place.name.as_deref().unwrap_or(argument));
        if let Some(value) =
            shown.get_mut(argument).filter(|_| is_secret || place.location == Location::Cookie)
        {
            *value = REDACTED.into();
        }
    }
    Ok(Request::new(backend, server, Order { arguments: &shown, ..order })?.preview(name, order))
}
