//! The reason why there is no token for a server.

use std::fmt;

/// The way out where an authorization server does not know a configured client.
pub(super) const WRONG_CLIENT: &str = "its `client_id` or its `client_secret` is wrong";

/// The reason why there is no token for a server, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignInProblem {
    /// The operator has to sign in to this server.
    SignIn {
        /// The reason: never signed in, signed out, ended, or not enough.
        reason: String,
        /// Whether nobody has signed in yet.
        is_first: bool,
        /// The scopes that the server asks for.
        scopes: Vec<String>,
    },
    /// The operator's sign-in is not for a caller with a name of its own.
    NotShared,
    /// The caller has sent no token, and the server is called with it.
    NoCallerToken,
    /// The authorization server refused, or cannot be reached: the reason.
    Refused(String),
    /// A setting of the operator is missing or wrong: the reason.
    Setting(String),
}

impl SignInProblem {
    /// The next step, for a server of this name.
    pub(crate) fn next_step(&self, server: &str) -> String {
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
}

impl SignInProblem {
    /// The reason why an authorization server gives no token: a setting where it does not know the client.
    pub(super) fn of_authorization_server(reason: String) -> Self {
        match is_unknown_client(&reason) {
            true => Self::Setting(format!("{reason}; {WRONG_CLIENT}")),
            false => Self::Refused(reason),
        }
    }

    /// Whether nobody has signed in yet, so that the server may also want a token of another kind.
    pub(crate) fn is_first_sign_in(&self) -> bool {
        matches!(self, Self::SignIn { is_first: true, .. })
    }
}

impl fmt::Display for SignInProblem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn { reason, .. } | Self::Refused(reason) | Self::Setting(reason) => {
                to.write_str(reason)
            }
            Self::NotShared => to.write_str("the sign-in of the operator is not for other callers"),
            Self::NoCallerToken => {
                to.write_str("it is called with the token of the caller, and there is none")
            }
        }
    }
}

/// Whether an authorization server refuses the client, rather than the token or the person (RFC 6749, section 5.2).
pub(super) fn is_unknown_client(reason: &str) -> bool {
    reason.contains("invalid_client")
}
