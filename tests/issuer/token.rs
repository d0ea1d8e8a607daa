//! Tokens: signed with any claims, issued, and checked.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, Header};
use serde_json::{Map, Value, json};

use super::keys::random_text;
use super::{Issuer, State};

/// A token to be signed. Every claim can be set, also wrong ones.
pub struct TokenRequest<'i> {
    issuer: &'i Issuer,
    claims: Map<String, Value>,
    algorithm: Option<Algorithm>,
    key_id: Option<String>,
}

impl<'i> TokenRequest<'i> {
    pub(super) fn new(issuer: &'i Issuer) -> Self {
        let request = Self { issuer, claims: Map::new(), algorithm: None, key_id: None };
        request.claim("iss", issuer.url()).claim("sub", "amy").claim("iat", now()).seconds(3600)
    }

    /// Sets a claim; null removes it.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        match value.into() {
            Value::Null => self.claims.shift_remove(name),
            value => self.claims.insert(name.into(), value),
        };
        self
    }

    /// The audience.
    pub fn audience(self, audience: &str) -> Self {
        self.claim("aud", audience)
    }

    /// The scopes, with spaces between them.
    pub fn scope(self, scope: &str) -> Self {
        self.claim("scope", scope)
    }

    /// Seconds until it expires; negative for one that has.
    pub fn seconds(self, seconds: i64) -> Self {
        self.claim("exp", now() as i64 + seconds)
    }

    /// The algorithm, if it is not that of the issuer.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// The key id of the header, if it is not that of the key.
    pub fn key_id(mut self, id: &str) -> Self {
        self.key_id = Some(id.into());
        self
    }

    /// The token, signed with the issuer's key.
    pub fn sign(self) -> String {
        let state = self.issuer.state();
        let algorithm = self.algorithm.unwrap_or_else(|| state.behaviour.algorithm.parse().unwrap());
        let (id, key) = state.keys.of(algorithm);
        let header = header(algorithm, self.key_id.as_deref().unwrap_or(id));
        token(&header, &self.claims, |message| key.sign(message))
    }

    /// The same token as one that was issued: it can be checked, exchanged, introspected and revoked.
    pub fn issue(self) -> String {
        let (issuer, claims) = (self.issuer, self.claims.clone());
        let token = self.sign();
        issuer.state().issued.insert(token.clone(), claims);
        token
    }

    /// The token with the algorithm `none` and without a signature.
    pub fn unsigned(self) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.", part(&json!({"alg": "none", "typ": "JWT"})), part(&Value::Object(self.claims)))
    }

    /// The token signed with HS256, and the public key of the issuer as the secret: the confusion of algorithms.
    pub fn confused(self) -> String {
        let state = self.issuer.state();
        let (id, _) = state.keys.of(Algorithm::RS256);
        let public = state.keys.public();
        let key = public["keys"].as_array().into_iter().flatten().find(|key| key["kid"] == *id);
        let secret = key.map(|key| key["n"].as_str().unwrap_or_default().to_string()).unwrap_or_default();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        token(&header(Algorithm::HS256, id), &self.claims, |message| {
            ring::hmac::sign(&key, message).as_ref().to_vec()
        })
    }

    /// The token signed by keys of somebody else, with the key id of the issuer.
    pub fn forged(self) -> String {
        let state = self.issuer.state();
        let algorithm: Algorithm = state.behaviour.algorithm.parse().unwrap();
        let others = super::keys::Keys::new();
        let key = match algorithm {
            // There is one RSA key for tests.
            Algorithm::RS256 => Algorithm::ES256,
            other => other,
        };
        let header = header(key, state.keys.of(key).0);
        token(&header, &self.claims, |message| others.of(key).1.sign(message))
    }
}

/// A token with the signature that `sign` makes of its text.
fn token(header: &Header, claims: &Map<String, Value>, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let part = |value: String| URL_SAFE_NO_PAD.encode(value);
    let header = part(serde_json::to_string(header).unwrap());
    let text = format!("{header}.{}", part(serde_json::to_string(claims).unwrap()));
    let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
    format!("{text}.{signature}")
}

fn header(algorithm: Algorithm, key_id: &str) -> Header {
    let mut header = Header::new(algorithm);
    header.kid = Some(key_id.into());
    header.typ = Some("at+jwt".into());
    header
}

/// Signs claims, with issuer and times.
pub(super) fn signed(state: &State, mut claims: Map<String, Value>, seconds: u64) -> String {
    let issuer = state.behaviour.claims_issuer.clone().unwrap_or_else(|| state.url.clone());
    claims.insert("iss".into(), issuer.into());
    claims.insert("iat".into(), now().into());
    claims.insert("exp".into(), (now() + seconds).into());
    claims.insert("jti".into(), random_text("id").into());
    let algorithm: Algorithm = state.behaviour.algorithm.parse().unwrap();
    let (id, key) = state.keys.of(algorithm);
    let mut header = Header::new(algorithm);
    header.kid = Some(id.into());
    token(&header, &claims, |message| key.sign(message))
}

/// Issues an access token, and remembers its claims.
pub(super) fn issue(state: &mut State, mut claims: Map<String, Value>, seconds: u64) -> String {
    let token = signed(state, claims.clone(), seconds);
    claims.insert("iss".into(), state.url.clone().into());
    claims.insert("exp".into(), (now() + seconds).into());
    state.issued.insert(token.clone(), claims);
    token
}

/// The claims of a token that was issued here, is not revoked and has not expired.
pub(super) fn claims(state: &State, token: &str) -> Option<Map<String, Value>> {
    let claims = state.issued.get(token)?;
    let expires = claims.get("exp").and_then(Value::as_u64).unwrap_or(0);
    (expires > now()).then(|| claims.clone())
}

/// Does what a protected resource does with a request.
pub(super) fn check(
    state: &State,
    authorization: Option<&str>,
    resource: &str,
    scope: &str,
) -> Result<Map<String, Value>, (u16, String)> {
    let (origin, path) = match resource
        .find("://")
        .and_then(|start| resource[start + 3..].find('/').map(|end| start + 3 + end))
    {
        Some(end) => resource.split_at(end),
        None => (resource, ""),
    };
    let metadata = format!("{origin}/.well-known/oauth-protected-resource{path}");
    let challenge = |error: &str| {
        let error = if error.is_empty() { String::new() } else { format!(", error=\"{error}\"") };
        format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scope}\"{error}")
    };
    let token = authorization.and_then(|value| value.strip_prefix("Bearer "));
    let token = token.ok_or_else(|| (401, challenge("")))?;
    let claims = claims(state, token).filter(|claims| claims.get("aud").is_some_and(|aud| aud == resource));
    let claims = claims.ok_or_else(|| (401, challenge("invalid_token")))?;
    let given = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
    match scope.split_whitespace().all(|one| given.split_whitespace().any(|has| has == one)) {
        true => Ok(claims),
        false => Err((403, challenge("insufficient_scope"))),
    }
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "tokens have times")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
