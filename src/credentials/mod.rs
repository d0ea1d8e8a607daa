//! Tokens for servers: who signs in to them, where tokens lie, and how they stay valid.
//!
//! 1. [`Credentials`] answers one question: the token of a server, for the operator or for a caller.
//! 2. A server is called as the operator who has signed in ([`person`]), as a service (client credentials), or with the
//!    caller's own token. [`token_request`] asks a [`token_endpoint`], and [`token_cache`] keeps
//!    the answer; [`challenge`] has the scopes that a server asks for.
//! 3. The operator signs in: [`sign_in`] begins it, [`callback`] is the address that the browser comes back to,
//!    [`authorization`] finds and asks the authorization server, [`token_store`] keeps tokens, [`offered`] has the
//!    sign-ins that clients were asked for, [`sign_out`] ends one.
//! 4. A [`SecretToken`] shows its value to a request alone. A [`SignInProblem`] is the reason why there is none.

mod authorization;
mod callback;
mod challenge;
mod http_client;
mod offered;
mod person;
mod problem;
mod secret_token;
mod sign_in;
mod sign_out;
mod token_cache;
mod token_endpoint;
mod token_request;
mod token_store;

use std::path::PathBuf;

pub(crate) use problem::SignInProblem;
pub(crate) use secret_token::{CallerToken, SecretToken};
pub use sign_in::{PendingSignIn, SignedIn};
pub use sign_out::SignedOut;

use crate::config::{ActsAs, Environment, Server};
use crate::tool::clean_line;
use offered::Offered;
pub(crate) use offered::OfferedSignIn;
use person::Person;
use token_cache::TokenCache;
use token_request::TokenRequest;
pub(crate) use token_store::Stamp as SignInVersion;

/// The tokens of a program for servers, shared by everything that calls them.
#[derive(Debug, Default)]
pub struct Credentials {
    environment: Environment,
    person: Person,
    offered: Offered,
    /// Tokens of services.
    issued: TokenCache,
}

/// A token that a server has refused, or a request without one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'r> {
    /// The token that was sent.
    pub(crate) token: Option<&'r SecretToken>,
    /// 401, or 403 with `insufficient_scope`.
    pub(crate) status: u16,
    /// The header `WWW-Authenticate`.
    pub(crate) challenge: Option<&'r str>,
}

impl Credentials {
    /// No tokens yet. Secrets of clients come from this environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment, ..Self::default() }
    }

    /// The same, with the sign-ins of the operator, which lie in this folder.
    pub fn stored_in(mut self, folder: PathBuf) -> Self {
        self.person = Person::stored_in(folder);
        self
    }

    /// The token with which a server is called; `None` where it is called without one. A `caller` has a token or a name of
    /// its own; without one, the operator calls.
    pub(crate) async fn token(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        match acts_as(server.1) {
            None => Ok(None),
            Some(ActsAs::Person) => self.person.token(server, caller).await,
            Some(ActsAs::Service) => {
                let request = TokenRequest::new(self, server)?;
                self.issued.token(&request).await.map(Some)
            }
            // Tools are listed without a token.
            Some(ActsAs::Caller) => caller.map_or(Ok(None), |caller| {
                caller.token.clone().map(Some).ok_or(SignInProblem::NoCallerToken)
            }),
        }
    }

    /// A new token in place of one that a server has refused; `None` where there is no other one to try.
    pub(crate) async fn rejected(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        match acts_as(server.1) {
            None => Ok(None),
            Some(ActsAs::Person) => self.person.rejected(server, caller, refused).await,
            Some(ActsAs::Service) => {
                let request = TokenRequest::new(self, server)?;
                self.issued.replace(&request, refused).await
            }
            Some(ActsAs::Caller) => Err(match refused.token {
                Some(_) => {
                    let status = refused.status;
                    SignInProblem::Refused(format!("it does not accept the token of the caller ({status})"))
                }
                None => SignInProblem::NoCallerToken,
            }),
        }
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
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// The identity with which a server is called; `None` for a command, and for a server whose `Authorization` is configured.
pub(crate) fn acts_as(server: &Server) -> Option<ActsAs> {
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
pub(crate) fn wants_caller_token(server: &Server) -> bool {
    acts_as(server) == Some(ActsAs::Caller)
}
