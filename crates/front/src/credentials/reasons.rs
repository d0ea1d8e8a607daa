//! Reasons why a sign-in did not come about, in words for people: on one line, and without secrets.

use std::error::Error;

use rmcp::transport::auth::AuthError;

use toolcrib_definition::clean_line;
use toolcrib_definition::secret::Echo;

/// The way out where nobody can sign in.
pub(super) const OWN_TOKEN: &str = "give it a token with `headers = { Authorization = \"Bearer ${NAME}\" }`";
/// Most characters of a reason.
const MAX_REASON: usize = 300;
/// The code with which an authorization server refuses a client.
pub(super) const UNKNOWN_CLIENT: &str = "invalid_client";
/// The way out where an authorization server does not know a configured client.
pub(super) const WRONG_CLIENT: &str = "its `client_id` or its `client_secret` is wrong";

/// The reason why a sign-in did not come about or cannot be used, for people. It has no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// A document is not there, or cannot be had: the status.
    #[error("it answered {0}")]
    Status(u16),
    /// The authorization server refuses the client, rather than the token or the person (RFC 6749, section 5.2).
    #[error("{0}")]
    UnknownClient(String),
    /// Another reason, which nobody decides by.
    #[error("{0}")]
    Other(String),
}

impl SignInError {
    /// The same reason, with what it is about.
    pub(super) fn about(self, what: &str) -> Self {
        match self {
            Self::UnknownClient(reason) => Self::UnknownClient(format!("{what}: {reason}")),
            other => Self::Other(format!("{what}: {other}")),
        }
    }
}

impl<T: Into<String>> From<T> for SignInError {
    fn from(reason: T) -> Self {
        Self::Other(reason.into())
    }
}

/// The reason of an error on one line, without these secrets.
pub(super) fn reason(error: &AuthError, secrets: &[&str]) -> SignInError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    let reason = hidden(&text, secrets);
    // The SDK has the code of a refusal only in its text.
    if reason.contains(UNKNOWN_CLIENT) { SignInError::UnknownClient(reason) } else { reason.into() }
}

/// An untrusted text on one line, without these secrets.
pub(super) fn hidden(text: &str, secrets: &[&str]) -> String {
    // A server may answer with anything; encoded forms are searched for in the part that is shown and a little more.
    let start: String = text.chars().take(8 * MAX_REASON).collect();
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let hidden = secrets.fold(start, |text, secret| Echo::of(secret).hidden_in(&text));
    clean_line(&hidden).chars().take(MAX_REASON).collect()
}
