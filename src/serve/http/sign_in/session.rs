//! Sessions of people: the proof that a person has shown, stored under the hash of the browser's secret. The rights of a
//! person are those of the current configuration, so that a token that is removed takes its sessions with it.

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::cookies::BrowserSecret;
use crate::exec::Caller;
use crate::serve::auth::Claims;
use crate::serve::http::Shared;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::state::{SignIn, StateError, StateStore, now};
use crate::tool::clean_line;

/// Uses of a browser's secret; each has a key of its own.
const SESSION_ID: &str = "toolcrib 2026 id of a session of the pages";
const TOKEN_SEAL: &str = "toolcrib 2026 seal of a token in a session of the pages";
const SIGN_OUT_FORM: &str = "toolcrib 2026 form that signs out";

/// Claims about an ID token, and not about the person.
const OF_THE_TOKEN: [&str; 9] = ["iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "at_hash", "jti"];

/// Most characters of a name that pages show.
const MAX_SHOWN: usize = 80;

/// A person who is signed in.
#[derive(Clone, Debug)]
pub(in crate::serve::http) struct Visitor {
    /// The caller.
    pub(in crate::serve::http) caller: Caller,
    /// The name that pages show.
    pub(in crate::serve::http) name: String,
    secret: BrowserSecret,
    /// Whether they have signed in at the identity provider.
    pub(super) is_of_provider: bool,
}

/// The proof of a session.
#[derive(Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub(super) enum Proof {
    /// A configured token, sealed with a key that state does not have.
    Token { seal: String },
    /// Claims of the identity provider about the person.
    IdToken { claims: Claims },
}

impl Visitor {
    /// The value in forms that sign this person out.
    pub(in crate::serve::http) fn sign_out_value(&self) -> String {
        self.secret.hex_key(SIGN_OUT_FORM)
    }

    /// Whether a form comes from a page of this session.
    pub(super) fn has_sent(&self, csrf: &str) -> bool {
        bool::from(self.sign_out_value().as_bytes().ct_eq(csrf.as_bytes()))
    }
}

impl Shared {
    /// Begins a session with a token. `None` where the token is not known.
    pub(super) async fn begin_session_with_token(
        &self,
        state: &StateStore,
        token: &str,
    ) -> Result<Option<BrowserSecret>, Problem> {
        let secret = new_secret()?;
        let Some(seal) = self.authenticator.tokens().seal(token, &secret.key(TOKEN_SEAL)) else {
            return Ok(None);
        };
        self.begin_session(state, &secret, &Proof::Token { seal }).await?;
        Ok(Some(secret))
    }

    /// Begins a session with the claims of a verified ID token.
    pub(super) async fn begin_session_with_claims(
        &self,
        state: &StateStore,
        mut claims: Claims,
    ) -> Result<BrowserSecret, Problem> {
        let secret = new_secret()?;
        claims.forget(&OF_THE_TOKEN);
        self.begin_session(state, &secret, &Proof::IdToken { claims }).await?;
        Ok(secret)
    }

    async fn begin_session(
        &self,
        state: &StateStore,
        secret: &BrowserSecret,
        proof: &Proof,
    ) -> Result<(), Problem> {
        let data = serde_json::to_string(proof).unwrap_or_default();
        let until = now().saturating_add(self.sign_ins.session_ms());
        let session = SignIn { id: secret.hex_key(SESSION_ID), data, until };
        state.store_sign_in(&session).await.map_err(unavailable)
    }

    /// The person whose browser has this secret, if the session has not ended.
    pub(super) async fn visitor_with(
        &self,
        state: &StateStore,
        secret: BrowserSecret,
    ) -> Result<Option<Visitor>, Problem> {
        let session = state.sign_in(&secret.hex_key(SESSION_ID)).await.map_err(unavailable)?;
        let proof = session.and_then(|session| serde_json::from_str(&session.data).ok());
        Ok(proof.and_then(|proof| self.visitor_by(proof, secret)))
    }

    fn visitor_by(&self, proof: Proof, secret: BrowserSecret) -> Option<Visitor> {
        match proof {
            Proof::Token { seal } => {
                let tokens = self.authenticator.tokens();
                let caller = tokens.sealed(&seal, &secret.key(TOKEN_SEAL))?.clone();
                Some(Visitor { name: caller.name.to_string(), caller, secret, is_of_provider: false })
            }
            Proof::IdToken { claims } => {
                let issuer = self.sign_ins.provider.as_ref()?.issuer();
                let caller = self.authenticator.caller_of_claims(issuer, &claims).ok()?;
                Some(Visitor { name: shown_name(&claims, &caller), caller, secret, is_of_provider: true })
            }
        }
    }

    /// Ends the session of a browser.
    pub(super) async fn end_session(
        &self,
        state: &StateStore,
        secret: &BrowserSecret,
    ) -> Result<(), Problem> {
        state.take_sign_in(&secret.hex_key(SESSION_ID)).await.map(drop).map_err(unavailable)
    }
}

/// The name that pages show: the one that people know, else that of the caller.
pub(super) fn shown_name(claims: &Claims, caller: &Caller) -> String {
    let known = ["name", "preferred_username", "email"].into_iter().filter_map(|claim| claims.text(claim));
    let mut known = known.map(clean_line).filter(|name| !name.trim().is_empty());
    let name = known.next().unwrap_or_else(|| caller.name.to_string());
    name.chars().take(MAX_SHOWN).collect()
}

/// A new secret for a browser.
pub(super) fn new_secret() -> Result<BrowserSecret, Problem> {
    BrowserSecret::random()
        .ok_or_else(|| Problem::new(ProblemCode::Internal, "this machine has no random numbers"))
}

/// The problem of state that cannot be read or written.
pub(super) fn unavailable(error: StateError) -> Problem {
    tracing::warn!(%error, "sign-ins cannot be read or written");
    Problem::new(ProblemCode::StateUnavailable, "sign-ins cannot be read or written now")
}
