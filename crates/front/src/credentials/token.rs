//! A token of a server or of a caller, which shows its value to a request alone.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq;

use toolcrib_definition::secret::REDACTED;

/// The reason where an answer has an empty token, or one with spaces or control characters.
pub(super) const NO_TOKEN: &str = "its authorization server gave no token that a header can hold";
/// Longest token, in bytes: a header holds it.
const MAX_TOKEN: usize = 16 * 1024;

/// A token of a server or of a caller.
#[derive(Clone)]
pub struct SecretToken(Arc<str>);

impl SecretToken {
    /// The token with this value.
    pub fn new(value: &str) -> Self {
        Self(value.into())
    }

    /// The value, for the header of a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl PartialEq for SecretToken {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for SecretToken {}

impl fmt::Debug for SecretToken {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(REDACTED)
    }
}

/// A caller with a name of its own, and the token of its request where it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerToken {
    /// The name, unique among all callers.
    pub name: Arc<str>,
    /// The token that the caller sent; `None` where no server gets it, or where the caller has none.
    pub token: Option<SecretToken>,
}

/// Whether a header can hold this token.
pub(super) fn is_sendable(token: &str) -> bool {
    (1..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
}
