//! People sign in to the pages.
//!
//! 1. A browser that has not signed in gets the [`page`] of signing in, in place of a refusal. [`cookies`] hold a secret of this
//!    browser alone.
//! 2. [`form`] takes a token that a person types.
//! 3. [`provider`] is the identity provider (OpenID Connect), and [`provider_routes`] lead a browser there and back with an
//!    [`attempt`].
//! 4. [`session`] stores who is signed in, so that every replica knows, and finds the person of a request.
//! 5. [`return_address`] is the page to go back to; never one of another server.
//!
//! A cookie counts for pages and files that are read, and for nothing else: neither for calls nor for MCP.

mod attempt;
mod cookies;
mod form;
mod page;
mod provider;
mod provider_routes;
mod return_address;
mod session;

use http::header::{AUTHORIZATION, CACHE_CONTROL, REFERRER_POLICY, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::Shared;
use crate::config::ServeSignIn;
use crate::serve::response::problem::Problem;
use crate::serve::{Authenticator, Route};
use crate::state::StateStore;

use cookies::{CookieKind, CookieScope};
pub(super) use form::{sign_in, sign_out};
pub(super) use page::{refused, show};
use provider::Provider;
pub(super) use provider_routes::{callback, start};
pub(super) use session::Visitor;

/// Settings of signing in, and what it checks.
#[derive(Debug, Default)]
pub struct SignIns {
    settings: ServeSignIn,
    /// The identity provider, where people sign in there.
    provider: Option<Provider>,
    /// Whether anybody has to sign in.
    is_needed: bool,
    /// Whether callers reach this server over TLS, by its public address.
    is_public_https: bool,
}

impl SignIns {
    /// Signing in as callers that the server knows. `secret` is that of the client at the identity provider.
    pub fn new(callers: &Authenticator, settings: ServeSignIn, secret: Option<String>) -> Self {
        let provider = Provider::new(callers, &settings, secret);
        let is_public_https = callers.public_url().starts_with("https://");
        Self { settings, provider, is_needed: !callers.is_open(), is_public_https }
    }

    fn session_ms(&self) -> i64 {
        self.settings.session_ms()
    }
}

/// Whether a cookie counts for a request: it reads a page, or a file that pages link to, and shows no token.
pub(super) fn takes_cookies(route: Route, request: &Parts) -> bool {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    let is_read_by_people = !matches!(route, Route::Function | Route::Mcp);
    is_read_by_people && is_read && !request.headers.contains_key(AUTHORIZATION)
}

/// The person who is signed in where this request comes from.
pub(super) async fn visitor(
    shared: &Shared,
    state: &StateStore,
    request: &Parts,
) -> Result<Option<Visitor>, Problem> {
    if !shared.sign_ins.is_needed {
        return Ok(None);
    }
    match scope(shared, request).read(CookieKind::Session, &request.headers) {
        Some(secret) => shared.visitor_with(state, secret).await,
        None => Ok(None),
    }
}

/// Keeps pages from loading an answer that was made for a person of another site.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Marks an answer that a cookie has authorised: no shared cache keeps it, no page of another origin loads it, and a
/// browser sends the origin of its forms.
pub(super) fn mark_as_personal(headers: &mut HeaderMap) {
    if headers.get(CACHE_CONTROL).is_none_or(|known| known.as_bytes() != b"no-store") {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    let varies = headers.get(VARY).and_then(|known| known.to_str().ok());
    let varies = varies.map_or_else(|| "cookie".to_string(), |known| format!("{known}, cookie"));
    headers.insert(VARY, HeaderValue::try_from(varies).unwrap_or(HeaderValue::from_static("*")));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Names and attributes of the cookies of a request. Only on this machine they do without TLS.
fn scope(shared: &Shared, request: &Parts) -> CookieScope {
    match shared.hosts.loopback_port(request).filter(|_| !shared.sign_ins.is_public_https) {
        Some(port) => CookieScope::Loopback(port),
        None => CookieScope::Secure,
    }
}
