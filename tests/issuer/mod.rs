//! An issuer of tokens for tests: OAuth 2.1 on a local port, with faults on demand.
//!
//! [`Issuer::start`] listens; [`Issuer::url`] is the issuer. It has discovery (RFC 8414 and OpenID), registration (RFC 7591),
//! client metadata documents, `/authorize` (agrees at once, as [`Behaviour::user`]; PKCE is a must), `/token` (codes, refresh with
//! rotation, client credentials), `/introspect` and `/revoke`.
//!
//! - [`Issuer::token`] signs any token, also wrong ones. [`Issuer::check`] is what a protected resource asks.
//! - [`Issuer::behave`] changes what it does from now on; [`Issuer::rotate`] replaces its keys.
//! - [`Issuer::requests`] counts the requests of a path.
//! - The program `issuer` (tests/issuer/program.rs) is the same for scripts: it prints its address, takes changes of
//!   [`Behaviour`] at `POST /control/behaviour`, and gives tokens with any claims at `POST /control/token`.
#![allow(dead_code, reason = "each user needs a part of it")]

mod authorization;
mod behaviour;
mod clients;
mod discovery;
mod grants;
mod http;
mod keys;
mod token;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

pub use behaviour::Behaviour;
pub use token::TokenRequest;

/// A running issuer. It ends when this is dropped.
pub struct Issuer {
    url: String,
    state: Shared,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

type Shared = Arc<Mutex<State>>;

/// Everything that the issuer knows.
struct State {
    url: String,
    behaviour: Behaviour,
    keys: keys::Keys,
    clients: HashMap<String, clients::Client>,
    /// Codes that were issued; a used one stays, to notice a second use.
    codes: HashMap<String, authorization::Code>,
    /// Refresh tokens, with the tokens that they came with.
    refresh_tokens: HashMap<String, grants::Refresh>,
    /// Claims of the access tokens that were issued, until they are revoked.
    issued: HashMap<String, Map<String, Value>>,
    requests: HashMap<String, usize>,
    /// Everything that was sent to an endpoint, to look for secrets and parameters.
    received: Vec<(String, String)>,
    /// Every code and token that it gave.
    given: Vec<String>,
}

impl Issuer {
    /// Starts an issuer on any free port.
    pub fn start() -> Self {
        let (url, state, stop) = http::start(([127, 0, 0, 1], 0).into());
        Self { url, state, stop: Some(stop) }
    }

    /// Starts an issuer on this address.
    pub fn at(address: SocketAddr) -> Self {
        let (url, state, stop) = http::start(address);
        Self { url, state, stop: Some(stop) }
    }

    /// The issuer identifier, such as `http://127.0.0.1:4000`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Changes what it does from now on.
    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.state().behaviour);
    }

    /// Replaces all keys; the old ones are no longer published.
    pub fn rotate(&self) {
        self.state().keys = keys::Keys::new();
    }

    /// The published keys.
    pub fn key_set(&self) -> Value {
        self.state().keys.public()
    }

    /// Registers a client with a secret that may use every grant, and be sent to any of these addresses.
    pub fn register(&self, client_id: &str, client_secret: &str, redirect_uris: &[&str]) {
        let client = clients::Client::known(client_secret, redirect_uris);
        self.state().clients.insert(client_id.into(), client);
    }

    /// A token to be signed: valid for an hour, for `sub` = "amy" and no audience, by default.
    pub fn token(&self) -> TokenRequest<'_> {
        TokenRequest::new(self)
    }

    /// Claims of a valid token for this resource with this scope; else the status and the `WWW-Authenticate` of the answer.
    pub fn check(
        &self,
        authorization: Option<&str>,
        resource: &str,
        scope: &str,
    ) -> Result<Map<String, Value>, (u16, String)> {
        token::check(&self.state(), authorization, resource, scope)
    }

    /// The number of requests of a path, such as `/token`.
    pub fn requests(&self, path: &str) -> usize {
        self.state().requests.get(path).copied().unwrap_or(0)
    }

    /// Form bodies and queries that were sent to a path, in their order.
    pub fn received(&self, path: &str) -> Vec<String> {
        let state = self.state();
        let sent = state.received.iter().filter(|(to, _)| to == path);
        sent.map(|(_, text)| text.clone()).collect()
    }

    /// Every code, access token, refresh token and ID token that it gave, to look for them.
    pub fn given(&self) -> Vec<String> {
        self.state().given.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
    }
}

fn lock(state: &Shared) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
