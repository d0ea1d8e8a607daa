//! The caller of a request: from a static token, or from a token of an issuer. Without any, everybody may come in.
//!
//! 1. [`static_tokens`] are in the environment; only their hashes are kept.
//! 2. [`jwt`] checks a signed token ([`signature`]) with a [`key_set`], which [`issuer_keys`] reads ([`fetch`], [`discovery`]);
//!    [`introspection`] asks about opaque ones. Both give [`claims`].
//! 3. [`grants`] turn claims into a caller; [`verified_tokens`] remembers it, so that only the first request waits.
//!    [`id_token`] is for a person who signs in.
//! 4. [`resource`] says which tokens are for which endpoint, and [`challenge`] how to get one.

mod bearer;
mod challenge;
mod claims;
mod discovery;
mod fetch;
mod grants;
mod id_token;
mod introspection;
mod issuer_keys;
mod jwt;
mod key_set;
mod resource;
mod signature;
mod static_tokens;
mod verified_tokens;

use std::path::Path;

use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::config::{Serve, ServeIssuer};
use crate::credentials::SecretToken;
use crate::exec::Caller;
use crate::state::now;
use crate::tool::Effect;

use bearer::shown_token;
use challenge::Challenge;
use grants::NoCaller;
use introspection::IntrospectionEndpoint;
use verified_tokens::{Audience, Verified, VerifiedTokens};

pub use claims::Claims;
pub use discovery::IssuerMetadata;
pub use id_token::{CodeClient, IdTokenRules};
pub use issuer_keys::{IssuerKeys, KeysUnavailable};
pub use jwt::{JwtProblem, TokenRules, UnverifiedJwt};
pub use key_set::KeySet;
pub use resource::{METADATA, Resource};
pub use static_tokens::Tokens;

/// Most audiences of a token that are remembered.
const MAX_AUDIENCES: usize = 16;

/// The reason why a request has no caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthError {
    /// No token.
    Missing,
    /// An unknown token.
    Wrong,
    /// Several headers `Authorization`.
    Twice,
    /// A header `Authorization` without a bearer token.
    NotBearer,
    /// A token that is longer than any is.
    TooLong,
    /// The token of an issuer is not valid.
    Invalid(JwtProblem),
    /// The issuer says that the token is not valid.
    Inactive,
    /// The claims of the token do not name a caller.
    Nameless,
    /// The token is valid, and no grant is for it.
    NoGrant,
    /// The issuer does not answer.
    IssuerAway,
}

/// Finds the caller of a request.
#[derive(Debug, Default)]
pub struct Authenticator {
    tokens: Tokens,
    issuers: Vec<KnownIssuer>,
    configured: Vec<ServeIssuer>,
    /// The public address, without a slash at its end.
    public_url: String,
    verified: VerifiedTokens,
}

/// An issuer with its keys.
#[derive(Debug)]
struct KnownIssuer {
    configured: ServeIssuer,
    keys: IssuerKeys,
    introspection: Option<IntrospectionEndpoint>,
}

/// The secret of the introspection of an issuer, with its variables filled in.
pub type FilledSecret<'s> = dyn Fn(&str) -> Result<String, String> + 's;

impl From<Tokens> for Authenticator {
    fn from(tokens: Tokens) -> Self {
        Self { tokens, ..Self::default() }
    }
}

impl Authenticator {
    /// The callers of a server: static tokens, and those of the configured issuers. Files of keys are relative to `root`.
    pub fn new(
        tokens: Tokens,
        serve: &Serve,
        root: &Path,
        filled: &FilledSecret<'_>,
    ) -> Result<Self, String> {
        let mut issuers = Vec::with_capacity(serve.issuers.len());
        for configured in &serve.issuers {
            let end = format!("@{}", grants::place(&configured.issuer));
            if let Some(caller) = tokens.callers().find(|caller| caller.name.ends_with(&end)) {
                let name = &caller.name;
                return Err(format!("the token \"{name}\" has a name that a caller of an issuer may have"));
            }
            let introspection = match &configured.introspection {
                Some(endpoint) => {
                    let secret = filled(&endpoint.client_secret)?;
                    Some(IntrospectionEndpoint::new(endpoint.url.clone(), endpoint.client_id.clone(), secret))
                }
                None => None,
            };
            let keys = IssuerKeys::new(configured, root);
            issuers.push(KnownIssuer { configured: configured.clone(), keys, introspection });
        }
        let public_url = serve.public_url.as_deref().unwrap_or_default().trim_end_matches('/').to_string();
        let configured = serve.issuers.clone();
        Ok(Self { tokens, issuers, configured, public_url, verified: VerifiedTokens::default() })
    }

    /// The same server at this address, where the configuration has no public one.
    pub fn at(mut self, address: std::net::SocketAddr) -> Self {
        if self.public_url.is_empty() {
            self.public_url = format!("http://{address}");
        }
        self
    }

    /// The static tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The public address, without a slash at its end.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Whether everybody may come in.
    pub fn is_open(&self) -> bool {
        self.tokens.is_empty() && self.issuers.is_empty()
    }

    /// The bearer token of a request, for servers that are called with it; `None` for one of our own tokens.
    pub(super) fn token_for_servers(&self, headers: &HeaderMap) -> Option<SecretToken> {
        let shown = shown_token(headers).ok()?;
        let is_ours = self.tokens.of_hash(&blake3::hash(shown)).is_some();
        std::str::from_utf8(shown).ok().filter(|_| !is_ours).map(SecretToken::new)
    }

    /// Whether callers may show tokens of an issuer.
    pub fn has_issuers(&self) -> bool {
        !self.issuers.is_empty()
    }

    /// Callers with every combination of roles and profiles that there can be.
    pub fn callers(&self) -> Result<Vec<Caller>, String> {
        let mut callers = grants::combinations(&self.configured)?;
        callers.extend(self.tokens.callers().cloned());
        Ok(callers)
    }

    /// Reads the keys of issuers ahead of the first request.
    pub fn warm_up(&self) {
        self.issuers.iter().for_each(|issuer| issuer.keys.warm_up());
    }

    /// The keys of a configured issuer.
    pub fn keys_of(&self, issuer: &str) -> Option<&IssuerKeys> {
        self.issuers.iter().find(|known| known.configured.issuer == issuer).map(|known| &known.keys)
    }

    /// The caller with these claims of a verified token of a configured issuer.
    pub fn caller_of_claims(&self, issuer: &str, claims: &Claims) -> Result<Caller, AuthError> {
        let known = self.configured.iter().find(|known| known.issuer == issuer);
        caller_of_claims(known.ok_or(AuthError::Invalid(JwtProblem::Issuer))?, claims)
    }

    /// The caller of a request. A token that is known does not wait.
    pub async fn caller(&self, headers: &HeaderMap, resource: Resource<'_>) -> Result<Caller, AuthError> {
        match self.known(headers, resource) {
            Some(known) => known,
            None => Box::pin(self.verify(headers, resource)).await,
        }
    }

    /// The caller as far as nothing has to be verified: everybody, a static token, a remembered one.
    pub fn known(&self, headers: &HeaderMap, resource: Resource<'_>) -> Option<Result<Caller, AuthError>> {
        if self.issuers.is_empty() {
            return Some(self.tokens.caller(headers));
        }
        let shown = match shown_token(headers) {
            Ok(shown) => shown,
            Err(problem) => return Some(Err(problem)),
        };
        let of = |verified: &Verified| match self.is_for(&verified.audience, resource) {
            true => Ok(verified.caller.clone()),
            false => Err(AuthError::Invalid(JwtProblem::Audience)),
        };
        let remembered = self.verified.get(shown, now(), of);
        remembered.or_else(|| self.tokens.of_hash(&blake3::hash(shown)).cloned().map(Ok))
    }

    async fn verify(&self, headers: &HeaderMap, resource: Resource<'_>) -> Result<Caller, AuthError> {
        let shown = std::str::from_utf8(shown_token(headers)?).map_err(|_| AuthError::Wrong)?;
        let verified = match UnverifiedJwt::read(shown) {
            Some(token) => self.of_jwt(&token).await?,
            None if UnverifiedJwt::is_like(shown) => return Err(AuthError::Invalid(JwtProblem::Malformed)),
            None => self.of_opaque(shown).await?,
        };
        let caller = match self.is_for(&verified.audience, resource) {
            true => Ok(verified.caller.clone()),
            false => Err(AuthError::Invalid(JwtProblem::Audience)),
        };
        self.verified.remember(shown.as_bytes(), verified, now());
        caller
    }

    async fn of_jwt(&self, token: &UnverifiedJwt<'_>) -> Result<Verified, AuthError> {
        let issuer = token.claimed_issuer();
        let known = self.issuers.iter().find(|known| Some(&known.configured.issuer) == issuer.as_ref());
        let known = known.ok_or(AuthError::Invalid(JwtProblem::Issuer))?;
        let configured = &known.configured;
        let rules = TokenRules {
            issuer: &configured.issuer,
            algorithms: &configured.algorithms,
            clock_skew: configured.clock_skew(),
        };
        token.precheck(&rules).map_err(AuthError::Invalid)?;
        let keys = known.keys.for_token(token).await.map_err(|KeysUnavailable| AuthError::IssuerAway)?;
        let is_ours = |audience: &str| self.is_ours(configured, audience);
        let mut verified = token.verified(&rules, &keys, is_ours);
        if verified.as_ref().err() == Some(&JwtProblem::Signature)
            && let Some(newer) = known.keys.newer_than(&keys).await
        {
            verified = token.verified(&rules, &newer, is_ours);
        }
        let claims = verified.map_err(AuthError::Invalid)?;
        let until = claims.expiry().unwrap_or_default().saturating_mul(1000);
        self.verified_caller(configured, &claims, until)
    }

    async fn of_opaque(&self, token: &str) -> Result<Verified, AuthError> {
        let mut issuers = self.issuers.iter();
        let asked = issuers.find_map(|known| Some((&known.configured, known.introspection.as_ref()?)));
        let (configured, endpoint) = asked.ok_or(AuthError::Wrong)?;
        let (at, hash) = (now(), blake3::hash(token.as_bytes()));
        if self.verified.is_refused(&hash, at) {
            return Err(AuthError::Inactive);
        }
        let claims = endpoint.claims(token).await.map_err(|problem| {
            let issuer = configured.issuer.as_str();
            tracing::warn!(issuer, problem, "an issuer does not answer about a token");
            AuthError::IssuerAway
        })?;
        let Some(claims) = claims.filter(|claims| is_current(claims, configured, at)) else {
            self.verified.refuse(hash, at);
            return Err(AuthError::Inactive);
        };
        if !claims.audiences().any(|audience| self.is_ours(configured, audience)) {
            return Err(AuthError::Invalid(JwtProblem::Audience));
        }
        let expiry = claims.expiry().map_or(i64::MAX, |seconds| seconds.saturating_mul(1000));
        self.verified_caller(configured, &claims, expiry.min(at.saturating_add(introspection::REMEMBERED)))
    }

    fn verified_caller(
        &self,
        issuer: &ServeIssuer,
        claims: &Claims,
        until: i64,
    ) -> Result<Verified, AuthError> {
        let caller = caller_of_claims(issuer, claims)?;
        let mut audiences = claims.audiences();
        let audience =
            match audiences.by_ref().any(|audience| issuer.audience.iter().any(|own| own == audience)) {
                true => Audience::Configured,
                false => {
                    let ours = claims.audiences().filter(|audience| self.is_ours(issuer, audience));
                    Audience::Resources(ours.take(MAX_AUDIENCES).map(str::to_string).collect())
                }
            };
        Ok(Verified { caller, audience, until })
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

    fn is_for(&self, audience: &Audience, resource: Resource<'_>) -> bool {
        match audience {
            Audience::Configured => true,
            Audience::Resources(own) => own.iter().any(|audience| resource.is(audience, &self.public_url)),
        }
    }

    /// The metadata of a resource; `None` where no issuer is configured.
    pub fn metadata(&self, resource: Resource<'_>) -> Option<Value> {
        let issuers: Vec<&str> = self.configured.iter().map(|issuer| issuer.issuer.as_str()).collect();
        let scopes = grants::scopes(&self.configured);
        (!issuers.is_empty()).then(|| resource.metadata(&self.public_url, &issuers, &scopes))
    }

    /// The challenge of a refused request.
    pub fn challenge(&self, refused: AuthError, resource: Resource<'_>) -> HeaderValue {
        let (error, scopes) = match refused {
            AuthError::Missing => (None, grants::first_scopes(&self.configured)),
            AuthError::Twice => (Some("invalid_request"), grants::first_scopes(&self.configured)),
            AuthError::NoGrant => (Some("insufficient_scope"), grants::first_scopes(&self.configured)),
            _ => (Some("invalid_token"), grants::first_scopes(&self.configured)),
        };
        let description = refused.to_string();
        let metadata = (!self.issuers.is_empty()).then(|| resource.metadata_url(&self.public_url));
        Challenge { error, description: &description, metadata, scopes: &scopes }.header()
    }

    /// The challenge for a token with more rights, where the issuer of this caller's token can give them. `most` is the
    /// strongest effect that the server allows at all.
    pub fn wider(&self, caller: &Caller, most: Effect, resource: Resource<'_>) -> Option<HeaderValue> {
        let (_, place) = caller.name.rsplit_once('@')?;
        let issuer = self.configured.iter().find(|issuer| grants::place(&issuer.issuer) == place)?;
        let scopes = grants::wider_scopes(issuer, caller, most);
        let metadata = Some(resource.metadata_url(&self.public_url));
        let description = "this token does not allow it";
        let challenge =
            Challenge { error: Some("insufficient_scope"), description, metadata, scopes: &scopes };
        (!scopes.is_empty()).then(|| challenge.header())
    }
}

fn caller_of_claims(issuer: &ServeIssuer, claims: &Claims) -> Result<Caller, AuthError> {
    grants::caller(issuer, claims).map_err(|problem| match problem {
        NoCaller::Nameless => AuthError::Nameless,
        NoCaller::NoGrant => AuthError::NoGrant,
    })
}

/// Whether an answer about an opaque token holds now: it may be stored, or of another issuer.
fn is_current(claims: &Claims, issuer: &ServeIssuer, at: i64) -> bool {
    let (seconds, skew) = (at / 1000, issuer.clock_skew() as i64);
    claims.text("iss").is_none_or(|named| named == issuer.issuer)
        && claims.expiry().is_none_or(|expiry| seconds < expiry.saturating_add(skew))
        && claims.not_before().is_none_or(|start| start <= seconds.saturating_add(skew))
}

impl std::fmt::Display for AuthError {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AuthError::Missing => to.write_str("this server needs a token"),
            AuthError::Wrong => to.write_str("this token is not known"),
            AuthError::Twice => {
                to.write_str("the request has several headers `Authorization`, and one of them is allowed")
            }
            AuthError::NotBearer => {
                to.write_str("the header `Authorization` has no bearer token: send `Bearer` and the token")
            }
            AuthError::TooLong => write!(to, "this token has more than {} bytes", jwt::MAX_TOKEN),
            AuthError::Invalid(problem) => problem.fmt(to),
            AuthError::Inactive => to.write_str("this token is not valid any more"),
            AuthError::Nameless => to.write_str("this token does not name its caller"),
            AuthError::NoGrant => to.write_str("this token gives no rights here"),
            AuthError::IssuerAway => to.write_str("the issuer of this token does not answer"),
        }
    }
}
