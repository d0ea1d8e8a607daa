//! Tokens for servers: who signs in to them, where tokens lie, and how they stay valid.
//!
//! 1. [`Credentials`] answers one question: the token of a server, for the operator or for a caller.
//! 2. A server is called as the operator who has signed in ([`person`]), as a [`service`] (client credentials), or with the
//!    caller's own token.
//! 3. The operator signs in: [`sign_in`] begins and ends it and keeps tokens, [`person`] is the address that the browser comes back to,
//!    [`service`] finds and asks the authorization server. [`http`] sends requests.
//! 4. A [`SecretToken`] shows its value to a request alone. A [`SignInProblem`] explains a missing token.

pub mod http;
mod person;
mod service;
mod sign_in;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use subtle::ConstantTimeEq;

pub use person::wait_for_refreshes;
pub use sign_in::OfferedSignIn;
pub use sign_in::SignIn;
pub(crate) use sign_in::Stamp as SignInVersion;
pub use sign_in::{PendingSignIn, SignedOut};

use person::Person;
use service::{Service, Services};
use sign_in::Offered;
use toolcrib_catalog::config::{ActsAs, Environment, Server};
use toolcrib_definition::clean_line;
use toolcrib_definition::secret::REDACTED;

/// The way out where an authorization server does not know a configured client.
const WRONG_CLIENT: &str = "its `client_id` or its `client_secret` is wrong";
/// The reason where an answer has an empty token, or one with spaces or control characters.
const NO_TOKEN: &str = "its authorization server gave no token that a header can hold";

/// The tokens of a program for servers, shared by everything that calls them.
#[derive(Debug, Default)]
pub struct Credentials {
    environment: Environment,
    person: Person,
    offered: Offered,
    /// Tokens of services.
    services: Services,
}

/// A token that a server has refused, or a request without one.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'r> {
    /// The token that was sent.
    pub token: Option<&'r SecretToken>,
    /// 401, or 403 with `insufficient_scope`.
    pub status: u16,
    /// The header `WWW-Authenticate`.
    pub challenge: Option<&'r str>,
}

impl Credentials {
    /// No tokens yet. Secrets of clients come from this environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment, ..Self::default() }
    }

    /// The same, with the sign-ins of the operator, which lie in this folder.
    pub fn stored_in(mut self, folder: PathBuf) -> Self {
        self.person = Person { folder: Some(folder) };
        self
    }

    /// The token with which a server is called; `None` where it is called without one. A `caller` has a token or a name of
    /// its own; without one, the operator calls.
    pub async fn token(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        match acts_as(server.1) {
            None => Ok(None),
            Some(ActsAs::Person) => self.person.token(server, caller).await,
            Some(ActsAs::Service) => self.services.token(self.service(server.1)?).await.map(Some),
            // Tools are listed without a token.
            Some(ActsAs::Caller) => caller.map_or(Ok(None), |caller| {
                caller.token.clone().map(Some).ok_or(SignInProblem::NoCallerToken)
            }),
        }
    }

    /// A new token in place of one that a server has refused; `None` where there is no other one to try.
    pub async fn rejected(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        match acts_as(server.1) {
            None => Ok(None),
            Some(ActsAs::Person) => self.person.rejected(server, caller, refused).await,
            Some(ActsAs::Service) => self.services.replace(self.service(server.1)?, refused).await,
            Some(ActsAs::Caller) => Err(match refused.token {
                Some(_) => {
                    let status = refused.status;
                    SignInProblem::Refused(format!("it does not accept the token of the caller ({status})"))
                }
                None => SignInProblem::NoCallerToken,
            }),
        }
    }

    fn service<'s>(&'s self, server: &'s Server) -> Result<Service<'s>, SignInProblem> {
        let missing = || SignInProblem::Setting("it has no `auth`".into());
        let auth = server.auth.as_ref().ok_or_else(missing)?;
        Ok(Service { environment: &self.environment, server, auth })
    }

    /// Whether the operator is signed in to a server, and it is called with that.
    pub(crate) fn is_signed_in(&self, server: (&str, &Server)) -> bool {
        acts_as(server.1) == Some(ActsAs::Person) && self.person.is_signed_in(server)
    }

    /// The sign-in of the operator to a server as it is now; another one differs.
    pub(crate) fn sign_in_version(&self, server: (&str, &Server)) -> Option<SignInVersion> {
        self.person.place(server)?.stamp()
    }

    /// The environment.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// The identity with which a server is called; `None` for a command, and for a server whose `Authorization` is configured.
pub fn acts_as(server: &Server) -> Option<ActsAs> {
    let has_header = server.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    let is_asked = server.url.is_some() && !has_header;
    is_asked.then(|| server.auth.as_ref().map(|auth| auth.acts_as).unwrap_or_default())
}

/// The identity with which a server is called, for people; `None` for the operator, and where no token is looked for.
pub fn identity(server: &Server) -> Option<String> {
    let client = server.auth.as_ref().and_then(|auth| auth.client_id.as_deref()).unwrap_or_default();
    Some(match acts_as(server)? {
        ActsAs::Person => return None,
        ActsAs::Service => format!("the service `{}`", clean_line(client)),
        ActsAs::Caller => "the caller, with its own token".into(),
    })
}

/// Whether a server is called with the token of the caller.
pub fn wants_caller_token(server: &Server) -> bool {
    acts_as(server) == Some(ActsAs::Caller)
}

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

/// The reason why a sign-in did not come about or cannot be used, for people. It has no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SignInError(pub(crate) String);

impl From<String> for SignInError {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&str> for SignInError {
    fn from(reason: &str) -> Self {
        Self(reason.into())
    }
}

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
    fn of_authorization_server(reason: String) -> Self {
        if is_unknown_client(&reason) {
            Self::Setting(format!("{reason}; {WRONG_CLIENT}"))
        } else {
            Self::Refused(reason)
        }
    }

    fn refused(error: SignInError) -> Self {
        Self::Refused(error.0)
    }

    /// Whether nobody has signed in yet, so that the server may also want a token of another kind.
    pub(crate) fn is_first_sign_in(&self) -> bool {
        matches!(self, Self::SignIn { is_first: true, .. })
    }
}

/// Whether an authorization server refuses the client, rather than the token or the person (RFC 6749, section 5.2).
pub(super) fn is_unknown_client(reason: &str) -> bool {
    reason.contains("invalid_client")
}
