//! The reason why there is no token for a server, with the next step.

use super::reasons::{SignInError, WRONG_CLIENT};

/// The reason why there is no token for a server, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInProblem {
    /// The operator has to sign in to this server.
    #[error(transparent)]
    SignIn(#[from] NotSignedIn),
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

/// The reason why the operator has to sign in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSignedIn {
    /// Before the first sign-in: the server may also want a token of another kind.
    #[error("nobody has signed in to it")]
    Never,
    #[error("the sign-in to it has ended")]
    Ended,
    /// The server asks for these scopes.
    #[error("the sign-in to it does not cover this: it asks for {}", .0.join(" "))]
    NotEnough(Vec<String>),
    /// The server refuses a new token.
    #[error("it refuses the token that it was just given")]
    Useless,
}

impl SignInProblem {
    /// The next step, for a server of this name.
    pub fn next_step(&self, server: &str) -> String {
        match self {
            Self::SignIn(_) => format!("run `toolcrib login {server}`"),
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
}

/// The reason why an authorization server gives no token: a setting where it does not know the client.
impl From<SignInError> for SignInProblem {
    fn from(error: SignInError) -> Self {
        match error {
            SignInError::UnknownClient(reason) => Self::Setting(format!("{reason}; {WRONG_CLIENT}")),
            other => Self::Refused(other.to_string()),
        }
    }
}
