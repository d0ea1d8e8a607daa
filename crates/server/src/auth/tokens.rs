//! Bearer tokens (RFC 6750), and the configured ones: callers with their names, roles, profiles and strongest effects.
//! Only hashes are kept, and comparing them takes the same time for every token.

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde_json::json;

use super::error::{AuthError, MAX_TOKEN};
use toolcrib_catalog::config::ServeToken;
use toolcrib_definition::Effect;
use toolcrib_gateway::exec::Caller;

/// Shortest token, in characters: shorter ones could be guessed.
const MIN_TOKEN_LENGTH: usize = 16;

/// The known tokens. Without any, everybody may come in.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<(blake3::Hash, Caller)>,
}

impl Tokens {
    /// Adds a configured token. The error does not contain the token.
    pub fn add(&mut self, secret: &str, configured: &ServeToken) -> Result<(), String> {
        let secret = secret.trim();
        if secret.len() < MIN_TOKEN_LENGTH {
            return Err(format!("a token has at least {MIN_TOKEN_LENGTH} characters"));
        }
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token has letters, digits and signs only".into());
        }
        let hash = blake3::hash(secret.as_bytes());
        if self.known.iter().any(|(known, _)| *known == hash) {
            let twice =
                "another `[[serve.token]]` has the same value, so it is not known which of them is meant";
            return Err(twice.into());
        }
        let profiles = Some(&configured.profiles).filter(|profiles| !profiles.is_empty());
        let profiles = profiles.map(|profiles| Arc::from(profiles.as_slice()));
        let mut roles = configured.roles.clone();
        roles.sort();
        roles.dedup();
        let name: Arc<str> = configured.name.as_deref().unwrap_or(&configured.env).into();
        if self.callers().any(|known| known.name == name && known.profiles != profiles) {
            return Err(format!(
                "another `[[serve.token]]` has the name \"{name}\" too, and other `profiles`; callers of one name share their \
                 sessions, so give it a name of its own"
            ));
        }
        let allow = configured.allow.unwrap_or(Effect::Destructive);
        let caller = Caller { name, roles: Some(roles), profiles, allow, ..Caller::default() };
        self.known.push((hash, caller));
        Ok(())
    }

    /// Whether no token is configured.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The callers with a token.
    pub fn callers(&self) -> impl Iterator<Item = &Caller> {
        self.known.iter().map(|(_, caller)| caller)
    }

    /// A hash of the tokens, with their rights.
    pub(super) fn fingerprint(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for (hash, caller) in &self.known {
            hasher.update(hash.as_bytes()).update(json!(caller).to_string().as_bytes());
        }
        hasher.finalize()
    }

    /// The caller whose token has this hash.
    pub(super) fn of_hash(&self, shown: &blake3::Hash) -> Option<&Caller> {
        // Hashes are compared in constant time, and every token is compared, even after a match.
        self.known
            .iter()
            .fold(None, |found, (known, caller)| if known == shown { Some(caller) } else { found })
    }
}

/// The one bearer token of a request.
pub(super) fn shown_token(headers: &HeaderMap) -> Result<&[u8], AuthError> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let first = shown.next().ok_or(AuthError::Missing)?.as_bytes();
    // A proxy could have checked the other one.
    if shown.next().is_some() {
        return Err(AuthError::Twice);
    }
    let (scheme, token) = first.split_at_checked(7).ok_or(AuthError::NotBearer)?;
    match token.trim_ascii() {
        _ if !scheme.eq_ignore_ascii_case(b"bearer ") => Err(AuthError::NotBearer),
        b"" => Err(AuthError::NotBearer),
        token if token.len() > MAX_TOKEN => Err(AuthError::TooLong),
        token => Ok(token),
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} tokens", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::super::{Authenticator, Resource};
    use super::*;

    /// The caller with these headers.
    fn caller_with(tokens: &Tokens, headers: &[&str]) -> Result<Caller, AuthError> {
        let request = headers
            .iter()
            .fold(http::Request::builder(), |request, value| request.header(AUTHORIZATION, *value));
        let (request, ()) = request.body(()).unwrap().into_parts();
        let whole = Resource { root: "", is_mcp: false };
        let authenticator = Authenticator { tokens: tokens.clone(), ..Authenticator::default() };
        authenticator.caller(&request, whole).now_or_never().unwrap()
    }

    #[test]
    fn a_token_brings_its_roles_and_no_other_gets_in() {
        let mut tokens = Tokens::default();
        let configured = ServeToken {
            env: "AMY".into(),
            name: None,
            allow: Some(Effect::Write),
            roles: vec!["b".into(), "a".into(), "a".into()],
            profiles: Vec::new(),
        };
        tokens.add("0123456789abcdef", &configured).unwrap();
        let caller = |value: &str| caller_with(&tokens, &[value]);
        let roles = Some(vec!["a".to_string(), "b".to_string()]);
        let amy = Caller { name: "AMY".into(), roles, allow: Effect::Write, ..Caller::default() };
        assert_eq!(caller("Bearer 0123456789abcdef"), Ok(amy.clone()));
        assert_eq!(caller("bearer  0123456789abcdef "), Ok(amy));
        assert_eq!(caller("Bearer 0123456789abcdeX"), Err(AuthError::Wrong));
        for wrong in ["Bearer ", "Basic 0123456789abcdef", "Bearer", "0123456789abcdef"] {
            assert_eq!(caller(wrong), Err(AuthError::NotBearer), "{wrong}");
        }
        assert_eq!(caller_with(&tokens, &[]), Err(AuthError::Missing));
        assert!(!format!("{tokens:?}").contains("0123"));
    }

    #[test]
    fn two_tokens_with_one_value_are_refused() {
        let mut tokens = Tokens::default();
        tokens.add("0123456789abcdef", &ServeToken::default()).unwrap();
        let again = tokens.add(" 0123456789abcdef ", &ServeToken::default());
        assert!(again.unwrap_err().contains("the same value"));
    }

    #[test]
    fn two_tokens_of_one_name_are_for_the_same_profiles() {
        let mut tokens = Tokens::default();
        let token = |profile: &str| ServeToken {
            env: "AMY".into(),
            profiles: vec![profile.into()],
            ..ServeToken::default()
        };
        tokens.add("0123456789abcdef", &token("creator")).unwrap();
        tokens.add("0123456789abcdeg", &token("creator")).unwrap();
        let other = tokens.add("0123456789abcdeh", &token("validator"));
        assert!(other.unwrap_err().contains("a name of its own"));
    }

    #[test]
    fn short_tokens_are_refused_without_being_told() {
        let error = Tokens::default().add("hunter2", &ServeToken::default()).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
        assert!(Tokens::default().add("with a space in the middle", &ServeToken::default()).is_err());
        assert_eq!(caller_with(&Tokens::default(), &[]), Ok(Caller::default()));
    }
}
