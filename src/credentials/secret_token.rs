//! Tokens whose values are shown to requests alone.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq;

use crate::secret::REDACTED;

/// A token of a server or of a caller.
#[derive(Clone)]
pub struct SecretToken(Arc<str>);

impl SecretToken {
    /// The token with this value.
    pub fn new(value: &str) -> Self {
        Self(value.into())
    }

    /// The value, for the header of a request.
    pub(crate) fn expose(&self) -> &str {
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
    pub(crate) name: Arc<str>,
    /// The token that the caller sent; `None` where no server gets it, or where the caller has none.
    pub(crate) token: Option<SecretToken>,
}
