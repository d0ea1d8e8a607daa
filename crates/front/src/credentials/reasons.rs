//! Reasons why a sign-in did not come about, in words for people: on one line, and without secrets.

use std::error::Error;

use rmcp::transport::auth::AuthError;

use toolcrib_definition::clean_line;
use toolcrib_definition::secret::Echo;

/// The way out where nobody can sign in.
pub(super) const OWN_TOKEN: &str = "give it a token with `headers = { Authorization = \"Bearer ${NAME}\" }`";
/// Most characters of a reason.
const MAX_REASON: usize = 300;
/// The way out where an authorization server does not know a configured client.
pub(super) const WRONG_CLIENT: &str = "its `client_id` or its `client_secret` is wrong";

/// The reason why a sign-in did not come about or cannot be used, for people. It has no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SignInError(pub(crate) String);

impl<T: Into<String>> From<T> for SignInError {
    fn from(reason: T) -> Self {
        Self(reason.into())
    }
}

/// The reason of an error on one line, without these secrets.
pub(super) fn reason(error: &AuthError, secrets: &[&str]) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    hidden(&text, secrets)
}

/// An untrusted text on one line, without these secrets.
pub(super) fn hidden(text: &str, secrets: &[&str]) -> String {
    // A server may answer with anything; encoded forms are searched for in the part that is shown and a little more.
    let start: String = text.chars().take(8 * MAX_REASON).collect();
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let hidden = secrets.fold(start, |text, secret| Echo::of(secret).hidden_in(&text));
    clean_line(&hidden).chars().take(MAX_REASON).collect()
}

/// Whether an authorization server refuses the client, rather than the token or the person (RFC 6749, section 5.2).
pub(super) fn is_unknown_client(reason: &str) -> bool {
    reason.contains("invalid_client")
}
