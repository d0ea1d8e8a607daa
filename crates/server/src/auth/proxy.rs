//! A proxy in front of the server, such as oauth2-proxy, that names the person of a request in a header. Such headers
//! are trusted only if they come from the proxy, which is recognised by the address of the connection or by a secret.
//! From anybody else, they are forged.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use super::error::AuthError;
use super::grants::{self, escaped};
use toolcrib_catalog::config::{ServeProxy, network};
use toolcrib_definition::Effect;
use toolcrib_gateway::exec::Caller;

/// The header in which the proxy proves itself with its secret.
const SECRET: HeaderName = HeaderName::from_static("x-proxy-secret");
/// Shortest secret, in characters: shorter ones could be guessed.
const MIN_SECRET: usize = 16;
/// Suffix of the names that come from the proxy, which tells these people apart from callers of an issuer.
pub(super) const PLACE: &str = "proxy";

/// The proxy in front.
#[derive(Debug)]
pub(super) struct Proxy {
    user: HeaderName,
    roles: HeaderName,
    /// The roles that it may give.
    known: Vec<String>,
    networks: Vec<IpNet>,
    secret: Option<blake3::Hash>,
}

impl Proxy {
    /// The configured proxy. In `secret`, variables are already filled in.
    pub(super) fn new(configured: &ServeProxy, secret: Option<&str>) -> Result<Self, String> {
        if secret.is_some_and(|secret| secret.trim().len() < MIN_SECRET) {
            return Err(format!(
                "the `secret` of `[serve.proxy]` must have at least {MIN_SECRET} characters"
            ));
        }
        let name = |name: &str| name.parse().map_err(|_| format!("\"{name}\" is no name of a header"));
        Ok(Self {
            user: name(&configured.user_header)?,
            roles: name(&configured.roles_header)?,
            known: configured.roles.clone(),
            networks: configured.addresses.iter().filter_map(|text| network(text)).collect(),
            secret: secret.map(|secret| blake3::hash(secret.trim().as_bytes())),
        })
    }

    /// The roles that it may give.
    pub(super) fn roles(&self) -> &[String] {
        &self.known
    }

    /// Returns the person whom the proxy names, or `None` if the proxy names nobody.
    pub(super) fn caller(&self, request: &Parts) -> Result<Option<Caller>, AuthError> {
        let headers = &request.headers;
        if ![&self.user, &self.roles, &SECRET].iter().any(|name| headers.contains_key(*name)) {
            return Ok(None);
        }
        let peer = request.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
        if !self.is_from(headers, peer) {
            return Err(AuthError::Forged);
        }
        let user = one(headers, &self.user)?;
        let roles = one(headers, &self.roles)?;
        let Some(user) = user.filter(|user| !user.is_empty()) else { return Ok(None) };
        if !grants::fits_name(user) {
            return Err(AuthError::Nameless);
        }
        let given: Vec<&str> = roles.unwrap_or_default().split(',').map(str::trim).collect();
        let mut roles = self.known.clone();
        roles.retain(|role| given.contains(&role.as_str()));
        roles.sort();
        roles.dedup();
        Ok(Some(Caller {
            name: format!("{}@{PLACE}", escaped(user)).into(),
            roles: Some(roles),
            allow: Effect::Destructive,
            ..Caller::default()
        }))
    }

    /// Returns true if a request comes from the proxy. Checks the address and the secret, if they are configured.
    /// Headers such as `X-Forwarded-For` prove nothing.
    fn is_from(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> bool {
        let peer = peer.map(|peer| peer.to_canonical());
        let is_near = self.networks.is_empty()
            || peer.is_some_and(|peer| self.networks.iter().any(|own| own.contains(&peer)));
        let mut shown = headers.get_all(SECRET).iter();
        let knows = match (&self.secret, shown.next(), shown.next()) {
            (None, ..) => true,
            // Hashes are compared in constant time.
            (Some(secret), Some(shown), None) => blake3::hash(shown.as_bytes()) == *secret,
            _ => false,
        };
        is_near && knows && (!self.networks.is_empty() || self.secret.is_some())
    }
}

/// Returns the only value of a header. Two values are an error: the proxy may have added its value to a value of the
/// client.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, AuthError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(|value| Some(value.trim()))
            .map_err(|_| AuthError::Forged),
        (None, _) => Ok(None),
        _ => Err(AuthError::Forged),
    }
}
