//! The caller of a request: from a static token, from a token of an issuer, or named by a proxy. Without any, everybody may come
//! in.
//!
//! 1. [`Tokens`] are in the environment; only their hashes are kept.
//! 2. [`jwt`] checks the signature and the claims of a signed token with the keys that [`issuer_keys`] reads.
//! 3. [`grants`] turn claims into a caller, who is remembered, so that only the first request waits.
//! 4. A [`Proxy`] in front may name a person.
//! 5. [`resource`] says which tokens are for which endpoint, and how to get one.

mod grants;
mod issuer_keys;
mod jwt;
mod resource;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{Serve, ServeIssuer};
use crate::credentials::SecretToken;
use crate::exec::Caller;
use crate::state::now;
use crate::tool::Effect;

use grants::shown_token;
use resource::{Challenge, Proxy};

pub use grants::Tokens;
use issuer_keys::{IssuerKeys, KeysUnavailable};
pub use jwt::JwtProblem;
use jwt::{Claims, UnverifiedJwt};
pub use resource::{METADATA, Resource};

/// Most audiences of a token that are remembered.
const MAX_AUDIENCES: usize = 16;

/// Most verified tokens that are remembered.
const MAX_TOKENS: usize = 10_000;

/// The reason why a request has no caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No token.
    #[error("this server needs a token")]
    Missing,
    /// An unknown token.
    #[error("this token is not known")]
    Wrong,
    /// Several headers `Authorization`.
    #[error("the request has several headers `Authorization`, and one of them is allowed")]
    Twice,
    /// A header `Authorization` without a bearer token.
    #[error("the header `Authorization` has no bearer token: send `Bearer` and the token")]
    NotBearer,
    /// A token that is longer than any is.
    #[error("this token has more than {} bytes", jwt::MAX_TOKEN)]
    TooLong,
    /// The token of an issuer is not valid.
    #[error(transparent)]
    Invalid(#[from] JwtProblem),
    /// The claims of the token do not name a caller.
    #[error("this token does not name its caller")]
    Nameless,
    /// The token is valid, and no grant is for it.
    #[error("this token gives no rights here")]
    NoGrant,
    /// The issuer does not answer.
    #[error("the issuer of this token does not answer")]
    IssuerAway,
    /// Headers that only the proxy may send come from elsewhere, or twice.
    #[error("the headers of this request name a person as only the proxy may")]
    Forged,
}

/// A verified token.
#[derive(Clone, Debug)]
pub(super) struct Verified {
    /// Its caller.
    pub(super) caller: Caller,
    /// Its audiences that are ours.
    pub(super) audience: Audience,
    /// Milliseconds of Unix time until which it is remembered.
    pub(super) until: i64,
}

/// The resources that a token is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Audience {
    /// Every endpoint: one of the audiences that the configuration names.
    Configured,
    /// These addresses.
    Resources(Box<[String]>),
}

/// Finds the caller of a request.
#[derive(Debug, Default)]
pub struct Authenticator {
    tokens: Tokens,
    issuers: Vec<ServeIssuer>,
    /// The keys of each issuer.
    keys: Vec<IssuerKeys>,
    proxy: Option<Proxy>,
    /// The public address, without a slash at its end.
    public_url: String,
    /// Tokens that were verified, by their hashes, until they expire. Strangers cannot fill it.
    verified: RwLock<HashMap<blake3::Hash, Verified>>,
}

impl From<Tokens> for Authenticator {
    fn from(tokens: Tokens) -> Self {
        Self { tokens, ..Self::default() }
    }
}

impl Authenticator {
    /// The callers of a server: static tokens, those of the configured issuers, and people whom the proxy names, which has
    /// this secret. Files of keys are relative to `root`.
    pub fn new(tokens: Tokens, serve: &Serve, root: &Path, secret: Option<&str>) -> Result<Self, String> {
        let proxy = serve.proxy.as_ref().map(|proxy| Proxy::new(proxy, secret)).transpose()?;
        let configured = serve.issuers.clone();
        let places = configured.iter().map(|issuer| grants::place(&issuer.issuer));
        for place in places.chain(proxy.iter().map(|_| resource::PLACE)) {
            let end = format!("@{place}");
            if let Some(Caller { name, .. }) = tokens.callers().find(|caller| caller.name.ends_with(&end)) {
                return Err(format!(
                    "the token \"{name}\" has a name that a caller of an issuer or a proxy may have"
                ));
            }
        }
        if proxy.is_some() && configured.iter().any(|issuer| grants::place(&issuer.issuer) == resource::PLACE)
        {
            return Err("an issuer with the address https://proxy cannot be used beside a proxy".into());
        }
        let keys = configured.iter().map(|issuer| IssuerKeys::new(issuer, root)).collect();
        let public_url = serve.public_url.as_deref().unwrap_or_default().trim_end_matches('/').to_string();
        Ok(Self { tokens, issuers: configured, keys, proxy, public_url, verified: RwLock::default() })
    }

    /// The same server at this address, where the configuration has no public one.
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

    /// Whether callers may show tokens.
    pub fn takes_tokens(&self) -> bool {
        !self.tokens.is_empty() || self.has_issuers()
    }

    /// Whether callers may show tokens of an issuer.
    pub fn has_issuers(&self) -> bool {
        !self.issuers.is_empty()
    }

    /// A hash of the callers as they are configured, with their rights.
    pub(super) fn fingerprint(&self) -> blake3::Hash {
        let issuers = serde_json::json!(self.issuers).to_string();
        blake3::hash(format!("{}\n{issuers}", self.tokens.fingerprint()).as_bytes())
    }

    /// The bearer token of a request, for servers that are called with it; `None` for one of our own tokens.
    pub(super) fn token_for_servers(&self, headers: &HeaderMap) -> Option<SecretToken> {
        let shown = shown_token(headers).ok()?;
        let is_ours = self.tokens.of_hash(&blake3::hash(shown)).is_some();
        std::str::from_utf8(shown).ok().filter(|_| !is_ours).map(SecretToken::new)
    }

    /// Callers with every combination of roles and profiles that there can be.
    pub fn callers(&self) -> Result<Vec<Caller>, String> {
        let of_proxy = self.proxy.as_ref().map(Proxy::roles).unwrap_or_default();
        let mut callers = grants::combinations(&self.issuers, of_proxy)?;
        callers.extend(self.tokens.callers().cloned());
        Ok(callers)
    }

    /// Reads the keys of issuers ahead of the first request.
    pub fn warm_up(&self) {
        self.keys.iter().for_each(IssuerKeys::warm_up);
    }

    /// The person whom the proxy names; an error for a request that is none of its own and names one.
    pub(super) fn by_proxy(&self, request: &Parts) -> Result<Option<Caller>, AuthError> {
        self.proxy.as_ref().map_or(Ok(None), |proxy| proxy.caller(request))
    }

    /// The caller of a request. A token that is known does not wait.
    pub(super) async fn caller(&self, request: &Parts, resource: Resource<'_>) -> Result<Caller, AuthError> {
        match self.known(request, resource) {
            Some(known) => known,
            None => {
                let token = std::str::from_utf8(shown_token(&request.headers)?);
                let verified = Box::pin(self.verify(token.map_err(|_| AuthError::Wrong)?)).await?;
                self.for_resource(&verified, resource)
            }
        }
    }

    /// The caller as far as nothing has to be verified: everybody, one whom the proxy names, a static token, a remembered
    /// one.
    pub(super) fn known(&self, request: &Parts, resource: Resource<'_>) -> Option<Result<Caller, AuthError>> {
        if let Some(by_proxy) = self.by_proxy(request).transpose() {
            return Some(by_proxy);
        }
        if self.is_open() {
            return Some(Ok(Caller::default()));
        }
        let shown = match shown_token(&request.headers) {
            Ok(shown) => shown,
            Err(problem) => return Some(Err(problem)),
        };
        let hash = blake3::hash(shown);
        let verified = self.verified.read().unwrap_or_else(PoisonError::into_inner);
        let remembered = verified.get(&hash).filter(|verified| now() < verified.until);
        let known = remembered.map(|verified| self.for_resource(verified, resource));
        let known = known.or_else(|| self.tokens.of_hash(&hash).cloned().map(Ok));
        known.or_else(|| (!self.has_issuers()).then_some(Err(AuthError::Wrong)))
    }

    /// The caller with this token, for a person who types it: of any resource of this server.
    pub(super) async fn verified(&self, token: &str) -> Result<Verified, AuthError> {
        let known = self.tokens.of_hash(&blake3::hash(token.as_bytes())).cloned();
        match known {
            Some(caller) => Ok(Verified { caller, audience: Audience::Configured, until: i64::MAX }),
            None if self.has_issuers() => Box::pin(self.verify(token)).await,
            None => Err(AuthError::Wrong),
        }
    }

    async fn verify(&self, token: &str) -> Result<Verified, AuthError> {
        let verified = match UnverifiedJwt::read(token) {
            Some(token) => self.of_jwt(&token).await?,
            None if UnverifiedJwt::is_like(token) => return Err(JwtProblem::Malformed.into()),
            None => return Err(AuthError::Wrong),
        };
        let mut known = self.verified.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_TOKENS {
            known.retain(|_, verified| now() < verified.until);
        }
        if known.len() >= MAX_TOKENS {
            // Verifying a token again costs little.
            known.clear();
        }
        known.insert(blake3::hash(token.as_bytes()), verified.clone());
        Ok(verified)
    }

    fn for_resource(&self, verified: &Verified, resource: Resource<'_>) -> Result<Caller, AuthError> {
        match self.is_for(&verified.audience, resource) {
            true => Ok(verified.caller.clone()),
            false => Err(JwtProblem::Audience.into()),
        }
    }

    async fn of_jwt(&self, token: &UnverifiedJwt<'_>) -> Result<Verified, AuthError> {
        let name = token.claimed_issuer();
        let mut known = self.issuers.iter().zip(&self.keys);
        let known = known.find(|(issuer, _)| Some(&issuer.issuer) == name.as_ref());
        let (issuer, issuer_keys) = known.ok_or(JwtProblem::Issuer)?;
        token.precheck()?;
        let keys = issuer_keys.for_token(token).await.map_err(|KeysUnavailable| AuthError::IssuerAway)?;
        let is_ours = |audience: &str| self.is_ours(issuer, audience);
        let mut verified = token.verified(&issuer.issuer, &keys, is_ours);
        if verified.as_ref().err() == Some(&JwtProblem::Signature)
            && let Some(newer) = issuer_keys.newer_than(&keys).await
        {
            verified = token.verified(&issuer.issuer, &newer, is_ours);
        }
        let claims: Claims = verified?;
        let until = claims.expiry().unwrap_or_default().saturating_mul(1000);
        let ours = claims.texts("aud").filter(|audience| is_ours(audience)).take(MAX_AUDIENCES);
        let audience = match issuer.audience.is_empty() {
            true => Audience::Resources(ours.map(str::to_string).collect()),
            false => Audience::Configured,
        };
        Ok(Verified { caller: grants::caller(issuer, &claims)?, audience, until })
    }

    /// Whether an audience is one of this server: a configured one, else an address below its own.
    fn is_ours(&self, issuer: &ServeIssuer, audience: &str) -> bool {
        match issuer.audience.is_empty() {
            true => audience
                .strip_prefix(self.public_url.as_str())
                .is_some_and(|path| Resource::at(path).is_some()),
            false => issuer.audience.iter().any(|own| own == audience),
        }
    }

    /// Whether a token with this audience is for a resource.
    pub(super) fn is_for(&self, audience: &Audience, resource: Resource<'_>) -> bool {
        match audience {
            Audience::Configured => true,
            Audience::Resources(own) => own.iter().any(|audience| resource.is(audience, &self.public_url)),
        }
    }

    /// The metadata of a resource; `None` where no issuer is configured.
    pub fn metadata(&self, resource: Resource<'_>) -> Option<Value> {
        let issuers: Vec<&str> = self.issuers.iter().map(|issuer| issuer.issuer.as_str()).collect();
        let scopes = grants::scopes(&self.issuers);
        (!issuers.is_empty()).then(|| resource.metadata(&self.public_url, &issuers, &scopes))
    }

    /// The challenge of a refused request.
    pub fn challenge(&self, refused: AuthError, resource: Resource<'_>) -> HeaderValue {
        let error = match refused {
            AuthError::Missing => None,
            AuthError::Twice => Some("invalid_request"),
            AuthError::NoGrant => Some("insufficient_scope"),
            _ => Some("invalid_token"),
        };
        let scopes = grants::first_scopes(&self.issuers);
        let description = refused.to_string();
        let metadata = (!self.issuers.is_empty()).then(|| resource.metadata_url(&self.public_url));
        Challenge { error, description: &description, metadata, scopes: &scopes }.header()
    }

    /// The challenge for a token with more rights, where the issuer of this caller's token can give them. `most` is the
    /// strongest effect that the server allows at all.
    pub fn wider(&self, caller: &Caller, most: Effect, resource: Resource<'_>) -> Option<HeaderValue> {
        let (_, place) = caller.name.rsplit_once('@')?;
        let issuer = self.issuers.iter().find(|issuer| grants::place(&issuer.issuer) == place)?;
        let scopes = grants::wider_scopes(issuer, caller, most);
        let metadata = Some(resource.metadata_url(&self.public_url));
        let description = "this token does not allow it";
        let challenge =
            Challenge { error: Some("insufficient_scope"), description, metadata, scopes: &scopes };
        (!scopes.is_empty()).then(|| challenge.header())
    }
}
