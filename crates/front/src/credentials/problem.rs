//! The reason why there is no token for a server, with the next step.

use super::reasons::{SignInError, WRONG_CLIENT, is_unknown_client};

/// The reason before the first sign-in.
pub(super) const NOBODY: &str = "nobody has signed in to it";

/// The reason why there is no token for a server, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInProblem {
    /// The operator has to sign in to this server.
    #[error("{reason}")]
    SignIn {
        /// The reason: never signed in, signed out, ended, or not enough.
        reason: String,
        /// Whether nobody has signed in yet.
        is_first: bool,
        /// The scopes that the server asks for.
        scopes: Vec<String>,
    },
    /// The operator's sign-in is not for a caller with a name of its own.
    #[error("the sign-in of the operator is not for other callers")]
    NotShared,
    /// The caller has sent no token, and the server is called with it.
    #[error("it is called with the caller's token, and the caller sent no token")]
    NoCallerToken,
    /// The authorization server refused, or cannot be reached: the reason.
    #[error("{0}")]
    Refused(String),
    /// A setting of the operator is missing or wrong: the reason.
    #[error("{0}")]
    Setting(String),
}

impl SignInProblem {
    /// The operator has to sign in, for this reason, and with these scopes.
    pub(super) fn sign_in(reason: &str, scopes: Vec<String>) -> Self {
        Self::SignIn { reason: reason.into(), is_first: reason == NOBODY, scopes }
    }

    /// The next step, for a server of this name.
    pub fn next_step(&self, server: &str) -> String {
        match self {
            Self::SignIn { .. } => format!("run `toolcrib login {server}`"),
            Self::NotShared => format!(
                "the operator has to give callers an identity of their own in `[server.{server}.auth]`, or set \
                 `shared = true` there"
            ),
            Self::NoCallerToken => "the client has to send a token of its own to toolcrib".into(),
            Self::Refused(_) => "try again later, or tell the operator".into(),
            Self::Setting(_) => {
                format!("the operator has to correct the `auth` of the server `{server}` in toolcrib.toml")
            }
        }
    }

    /// The reason why an authorization server gives no token: a setting where it does not know the client.
    pub(super) fn of_authorization_server(reason: String) -> Self {
        if is_unknown_client(&reason) {
            Self::Setting(format!("{reason}; {WRONG_CLIENT}"))
        } else {
            Self::Refused(reason)
        }
    }

    pub(super) fn refused(error: SignInError) -> Self {
        Self::Refused(error.0)
    }

    /// Whether nobody has signed in yet, so that the server may also want a token of another kind.
    pub(crate) fn is_first_sign_in(&self) -> bool {
        matches!(self, Self::SignIn { is_first: true, .. })
    }
}
