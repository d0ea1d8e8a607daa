//! Finds the caller of a request: from a static token, from an issuer's token, or from the name that a proxy sends.
//! If no tokens, issuers or proxy are configured, everybody may come in.
//!
//! 1. [`Tokens`] come from the environment; only their hashes are kept.
//! 2. [`jwt`] checks the signature and the claims of a signed token with the keys of its issuer.
//! 3. [`grants`] turns claims into a caller. Callers are remembered, so that only the first request waits.
//! 4. A [`Proxy`] in front of the server may name a person.
//! 5. [`resource`] decides which tokens an endpoint accepts, and tells clients how to get a token.

mod error;
mod grants;
mod issuer;
mod jwt;
mod key_set;
mod proxy;
mod resource;
mod signature;
mod tokens;

pub(crate) use error::AuthError;
pub use error::JwtProblem;
pub use resource::{METADATA, Resource};
pub use tokens::Tokens;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use issuer::Issuer;
use jwt::UnverifiedJwt;
use proxy::Proxy;
use resource::challenge;
use tokens::shown_token;

use toolcrib_catalog::config::{IssuerGrant, Serve, ServeIssuer};
use toolcrib_definition::Effect;
use toolcrib_front::credentials::SecretToken;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::state::now;

/// Most audiences of a token that are remembered.
const MAX_AUDIENCES: usize = 16;

/// Most verified tokens that are remembered.
const MAX_TOKENS: usize = 10_000;

/// A verified token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Verified {
    #[serde(flatten)]
    pub(super) caller: Caller,
    /// The addresses of the resources that the token is for; `None` if it is for all, because the configuration names
    /// its audience.
    pub(super) audience: Option<Vec<String>>,
    /// The time at which the token ends, in milliseconds of Unix time.
    pub(super) until: i64,
}

/// Finds the caller of a request.
#[derive(Debug, Default)]
pub struct Authenticator {
    tokens: Tokens,
    issuers: Vec<Arc<Issuer>>,
    proxy: Option<Proxy>,
    /// The public address, without a slash at its end.
    public_url: String,
    /// Verified tokens by their hashes, until they expire. Strangers cannot fill the map, since only valid tokens go
    /// in.
    verified: RwLock<HashMap<blake3::Hash, Verified>>,
}

impl Authenticator {
    /// Finds callers by static tokens, by tokens of the configured issuers, and by the proxy, which proves itself
    /// with `secret`. Paths of key files are relative to `root`.
    pub fn new(tokens: Tokens, serve: &Serve, root: &Path, secret: Option<&str>) -> Result<Self, String> {
        let proxy = serve.proxy.as_ref().map(|proxy| Proxy::new(proxy, secret)).transpose()?;
        let places = serve.issuers.iter().map(|issuer| grants::place(&issuer.issuer));
        for place in places.clone().chain(proxy.iter().map(|_| proxy::PLACE)) {
            let end = format!("@{place}");
            if let Some(Caller { name, .. }) = tokens.callers().find(|caller| caller.name.ends_with(&end)) {
                return Err(format!(
                    "the token \"{name}\" has a name that a caller of an issuer or a proxy may have"
                ));
            }
        }
        if proxy.is_some() && places.clone().any(|place| place == proxy::PLACE) {
            return Err(
                "an issuer with the address https://proxy cannot be used together with a proxy".into()
            );
        }
        let issuers = serve.issuers.iter().map(|settings| Issuer::new(settings.clone(), root)).collect();
        let public_url = serve.public_url.as_deref().unwrap_or_default().trim_end_matches('/').to_string();
        Ok(Self { tokens, issuers, proxy, public_url, verified: RwLock::default() })
    }

    /// Uses this address as the public address, if the configuration has no public address.
    pub fn at(mut self, address: std::net::SocketAddr) -> Self {
        if self.public_url.is_empty() {
            self.public_url = format!("http://{address}");
        }
        self
    }

    /// The public address, without a slash at its end.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Whether everybody may come in.
    pub fn is_open(&self) -> bool {
        !self.takes_tokens() && self.proxy.is_none()
    }

    /// Whether the server accepts tokens.
    pub fn takes_tokens(&self) -> bool {
        !self.tokens.is_empty() || self.has_issuers()
    }

    /// Whether the server accepts tokens of an issuer.
    pub fn has_issuers(&self) -> bool {
        !self.issuers.is_empty()
    }

    fn settings(&self) -> impl Iterator<Item = &ServeIssuer> {
        self.issuers.iter().map(|issuer| &issuer.settings)
    }

    /// The grants of all issuers.
    fn grants(&self) -> impl Iterator<Item = &IssuerGrant> + Clone {
        self.issuers.iter().flat_map(|issuer| &issuer.settings.grants)
    }

    /// A hash of the configured callers and their rights.
    pub(super) fn fingerprint(&self) -> blake3::Hash {
        let issuers = json!(self.settings().collect::<Vec<_>>());
        blake3::hash(format!("{}\n{issuers}", self.tokens.fingerprint()).as_bytes())
    }

    /// Returns the bearer token of a request, to be passed on to other servers; `None` if it is a static token of
    /// toolcrib.
    pub(super) fn token_for_servers(&self, headers: &HeaderMap) -> Option<SecretToken> {
        let shown = shown_token(headers).ok()?;
        let is_ours = self.tokens.of_hash(&blake3::hash(shown)).is_some();
        if is_ours { None } else { std::str::from_utf8(shown).ok().map(SecretToken::new) }
    }

    /// Returns a caller for every possible combination of roles and profiles.
    pub fn callers(&self) -> Result<Vec<Caller>, String> {
        let of_proxy = self.proxy.as_ref().map(Proxy::roles).unwrap_or_default();
        let mut callers = grants::combinations(self.settings(), of_proxy)?;
        callers.extend(self.tokens.callers().cloned());
        Ok(callers)
    }

    /// Reads the keys of issuers ahead of the first request.
    pub fn warm_up(&self) {
        self.issuers.iter().for_each(Issuer::warm_up);
    }

    /// Returns the person whom the proxy names, or an error if the proxy's headers come from somebody else.
    pub(super) fn by_proxy(&self, request: &Parts) -> Result<Option<Caller>, AuthError> {
        self.proxy.as_ref().map_or(Ok(None), |proxy| proxy.caller(request))
    }

    /// Returns the caller of a request. Only an unknown token makes the request wait: not a known token, a person
    /// whom the proxy names, or a server that is open to everybody.
    pub(super) async fn caller(&self, request: &Parts, resource: Resource<'_>) -> Result<Caller, AuthError> {
        if let Some(person) = self.by_proxy(request)? {
            return Ok(person);
        }
        if self.is_open() {
            return Ok(Caller::default());
        }
        let verified = self.verified(shown_token(&request.headers)?).await?;
        if self.is_for(&verified, resource) { Ok(verified.caller) } else { Err(JwtProblem::Audience.into()) }
    }

    /// The caller with this token, whatever the resource.
    pub(super) async fn verified(&self, token: &[u8]) -> Result<Verified, AuthError> {
        let hash = blake3::hash(token);
        if let Some(caller) = self.tokens.of_hash(&hash).cloned() {
            return Ok(Verified { caller, audience: None, until: i64::MAX });
        }
        let known = self.verified.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        if let Some(known) = known.filter(|verified| now() < verified.until) {
            return Ok(known);
        }
        if !self.has_issuers() {
            return Err(AuthError::Wrong);
        }
        let token = std::str::from_utf8(token).map_err(|_| AuthError::Wrong)?;
        let verified = Box::pin(self.of_issuer(token)).await?;
        let mut known = self.verified.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_TOKENS {
            known.retain(|_, verified| now() < verified.until);
        }
        if known.len() >= MAX_TOKENS {
            // Verifying a token again costs little.
            known.clear();
        }
        known.insert(hash, verified.clone());
        Ok(verified)
    }

    async fn of_issuer(&self, token: &str) -> Result<Verified, AuthError> {
        let token = UnverifiedJwt::read(token)?;
        let name = token.claimed_issuer();
        let issuer = self.issuers.iter().find(|issuer| Some(&issuer.settings.issuer) == name.as_ref());
        let issuer = issuer.ok_or(JwtProblem::Issuer)?;
        let is_ours = |audience: &str| self.is_ours(&issuer.settings, audience);
        let claims = issuer.verified(&token, is_ours).await?;
        let ours = claims.texts("aud").filter(|audience| is_ours(audience)).take(MAX_AUDIENCES);
        let is_by_address = issuer.settings.audience.is_empty();
        Ok(Verified {
            caller: grants::caller(&issuer.settings, &claims)?,
            audience: is_by_address.then(|| ours.map(str::to_string).collect()),
            until: claims.expiry().unwrap_or_default().saturating_mul(1000),
        })
    }

    /// Returns true if an audience belongs to this server: if the configuration names it or, without audiences in the
    /// configuration, if it is an address below the server's own.
    fn is_ours(&self, issuer: &ServeIssuer, audience: &str) -> bool {
        if issuer.audience.is_empty() {
            audience.strip_prefix(self.public_url.as_str()).is_some_and(|path| Resource::at(path).is_some())
        } else {
            issuer.audience.iter().any(|own| own == audience)
        }
    }

    /// Whether a token is for a resource.
    pub(super) fn is_for(&self, token: &Verified, resource: Resource<'_>) -> bool {
        let is = |audience: &String| resource.is(audience, &self.public_url);
        token.audience.as_ref().is_none_or(|audiences| audiences.iter().any(is))
    }

    /// The metadata of a resource; `None` if no issuer is configured.
    pub fn metadata(&self, resource: Resource<'_>) -> Option<Value> {
        let issuers: Vec<&str> = self.settings().map(|issuer| issuer.issuer.as_str()).collect();
        let scopes = grants::scopes(self.grants());
        (!issuers.is_empty()).then(|| resource.metadata(&self.public_url, &issuers, &scopes))
    }

    /// The challenge for a rejected request.
    pub fn challenge(&self, refused: AuthError, resource: Resource<'_>) -> HeaderValue {
        let error = match refused {
            AuthError::Missing => None,
            AuthError::Twice => Some("invalid_request"),
            AuthError::NoGrant => Some("insufficient_scope"),
            _ => Some("invalid_token"),
        };
        let metadata = self.has_issuers().then(|| resource.metadata_url(&self.public_url));
        let scopes = grants::first_scopes(self.grants());
        challenge(error, &refused.to_string(), metadata.as_deref(), &scopes)
    }

    /// The challenge that asks for a token with more rights, if the issuer of this caller's token can grant them.
    /// `most` is the strongest effect that the server allows at all.
    pub fn wider(&self, caller: &Caller, most: Effect, resource: Resource<'_>) -> Option<HeaderValue> {
        let (_, place) = caller.name.rsplit_once('@')?;
        let issuer = self.settings().find(|issuer| grants::place(&issuer.issuer) == place)?;
        let scopes = grants::wider_scopes(issuer, caller, most);
        let metadata = resource.metadata_url(&self.public_url);
        let description = "this token does not allow this request";
        let wider = challenge(Some("insufficient_scope"), description, Some(&metadata), &scopes);
        (!scopes.is_empty()).then_some(wider)
    }
}
