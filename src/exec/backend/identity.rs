//! The identity of a request to a server: the token that it is sent with.

use std::pin::Pin;

use super::BackendError;
use crate::config::{ActsAs, Server};
use crate::credentials::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, acts_as};
use crate::exec::Caller;

/// A question for a token. Its type is erased: a whole sign-in is within.
type Asked<'a> = Pin<Box<dyn Future<Output = Result<Option<SecretToken>, SignInProblem>> + Send + 'a>>;

/// The identity of requests to one server for one caller.
pub(super) struct Identity<'i> {
    credentials: &'i Credentials,
    server: (&'i str, &'i Server),
    caller: Option<CallerToken>,
}

impl<'i> Identity<'i> {
    /// The identity for a caller. A caller without a token that the server is called with is refused.
    pub(super) fn new(
        credentials: &'i Credentials,
        server: (&'i str, &'i Server),
        caller: &Caller,
    ) -> Result<Self, BackendError> {
        let of_operator = |name: &str| name.is_empty() || acts_as(server.1) != Some(ActsAs::Person);
        let caller = match caller_token(server, caller)? {
            None if !of_operator(&caller.name) => {
                Some(CallerToken { name: caller.name.clone(), token: None })
            }
            caller => caller,
        };
        Ok(Self { credentials, server, caller })
    }

    /// The token of a request; `None` where it is sent without one.
    pub(super) async fn token(&self) -> Result<Option<SecretToken>, BackendError> {
        let asked: Asked<'_> = Box::pin(self.credentials.token(self.server, self.caller.as_ref()));
        asked.await.map_err(|problem| self.error(&problem))
    }

    /// Another token in place of a refused one; `None` where there is none.
    pub(super) async fn other(&self, refused: Refused<'_>) -> Result<Option<SecretToken>, BackendError> {
        let asked: Asked<'_> =
            Box::pin(self.credentials.rejected(self.server, self.caller.as_ref(), refused));
        asked.await.map_err(|problem| self.error(&problem))
    }

    fn error(&self, problem: &SignInProblem) -> BackendError {
        BackendError::of_sign_in(self.server.0, problem)
    }
}

/// The token of a caller for a server that is called with it; `None` for other servers.
pub(super) fn caller_token(
    (name, server): (&str, &Server),
    caller: &Caller,
) -> Result<Option<CallerToken>, BackendError> {
    if acts_as(server) != Some(ActsAs::Caller) {
        return Ok(None);
    }
    let missing = || BackendError::of_sign_in(name, &SignInProblem::NoCallerToken);
    let token = caller.token.clone().ok_or_else(missing)?;
    Ok(Some(CallerToken { name: caller.name.clone(), token: Some(token) }))
}
