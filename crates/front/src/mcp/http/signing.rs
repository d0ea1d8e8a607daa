//! The tokens of one connection, and the reason why the last request had none that counts.

use std::error::Error;
use std::sync::{Arc, Mutex};

use super::super::endpoint::Endpoint;
use super::super::secrets::FilledSecrets;
use super::super::server_problem::{NoToken, ServerProblem};
use super::errors::{HttpError, explain, http_error, refusal, status_of};
use crate::credentials::{
    CallerToken, Credentials, NotSignedIn, Refused, SecretToken, SignInProblem, acts_as,
};
use toolcrib_catalog::config::{ActsAs, Server};
use toolcrib_definition::guard::locked;

/// The tokens of one connection.
pub(in crate::mcp) struct Signing {
    credentials: Arc<Credentials>,
    pub(super) endpoint: Endpoint,
    pub(super) secrets: FilledSecrets,
    signed: Mutex<Signed>,
}

/// What its requests have shown so far.
#[derive(Default)]
struct Signed {
    /// Whether the connection carries the operator's sign-in. It is set once, so that callers stay distinguishable.
    is_personal: Option<bool>,
    /// Whether the server has refused the headers that a program made for the connection.
    is_refused: bool,
    /// The reason of the last request that had no token, or a refused one.
    problem: Option<SignInProblem>,
}

impl Signing {
    pub(in crate::mcp) fn new(
        endpoint: &Endpoint,
        credentials: &Arc<Credentials>,
        secrets: &FilledSecrets,
    ) -> Self {
        Self {
            credentials: Arc::clone(credentials),
            endpoint: endpoint.clone(),
            secrets: secrets.clone(),
            signed: Mutex::default(),
        }
    }

    /// The server, as its credentials know it.
    fn server(&self) -> (&str, &Server) {
        (&self.endpoint.name, &self.endpoint.server)
    }

    fn acts_as_person(&self) -> bool {
        acts_as(&self.endpoint.server) == Some(ActsAs::Person)
    }

    fn caller(&self) -> Option<&CallerToken> {
        self.endpoint.user.token.as_ref()
    }

    /// Whether the connection carries the sign-in of the operator.
    pub(in crate::mcp) fn is_personal(&self) -> bool {
        locked(&self.signed).is_personal.unwrap_or_default()
    }

    /// Whether the operator has signed in or out since the connection began, or its headers are refused and can be made again.
    pub(in crate::mcp) fn is_outdated(&self) -> bool {
        if locked(&self.signed).is_refused {
            return true;
        }
        let is_of_operator = self.caller().is_none() && self.acts_as_person();
        let is_signed_in = || self.credentials.is_signed_in(self.server());
        is_of_operator && locked(&self.signed).is_personal.is_some_and(|was| was != is_signed_in())
    }

    /// The reason of an error of this connection, where it is a refused or missing token.
    pub(in crate::mcp) fn problem_of(&self, error: &(dyn Error + 'static)) -> Option<SignInProblem> {
        let error = http_error(error)?;
        let is_about_tokens = refusal(error).is_some() || matches!(error, HttpError::Auth(_));
        let problem = || locked(&self.signed).problem.clone();
        is_about_tokens.then(problem).flatten()
    }

    /// The token of the next request.
    pub(super) async fn token(&self) -> Result<Option<SecretToken>, SignInProblem> {
        let token = self.credentials.token(self.server(), self.caller()).await?;
        let is_used =
            !self.acts_as_person() || *locked(&self.signed).is_personal.get_or_insert(token.is_some());
        let token = if is_used { token } else { None };
        token.iter().for_each(|token| self.secrets.add_token(token));
        Ok(token)
    }

    /// Another token in place of a refused one.
    pub(super) async fn other(&self, refused: Refused<'_>) -> Option<SecretToken> {
        locked(&self.signed).is_refused = !self.endpoint.server.headers_command.is_empty();
        let problem = match self.credentials.rejected(self.server(), self.caller(), refused).await {
            Ok(Some(token)) if refused.token.is_some() => {
                self.secrets.add_token(&token);
                return Some(token);
            }
            Ok(Some(_)) => SignInProblem::Refused("somebody has just signed in to it".into()),
            Ok(None) => return None,
            Err(problem) => problem,
        };
        self.fail(problem);
        None
    }

    /// The problem where a server refuses even a new token. Only the operator could sign in again.
    pub(super) fn refused_twice(&self) -> SignInProblem {
        if self.acts_as_person() {
            NotSignedIn::Useless.into()
        } else {
            SignInProblem::Refused(NotSignedIn::Useless.to_string())
        }
    }

    pub(super) fn fail(&self, problem: SignInProblem) {
        locked(&self.signed).problem = Some(problem);
    }
}

/// The reason of an error, in the server's place.
pub(in crate::mcp) fn server_problem(
    error: &(dyn Error + 'static),
    signing: Option<&Signing>,
) -> ServerProblem {
    let no_token = signing.and_then(|signing| {
        Some(NoToken { server: signing.endpoint.name.clone(), problem: signing.problem_of(error)? })
    });
    let is_new = no_token.as_ref().is_none_or(|no_token| no_token.problem == NotSignedIn::Never.into());
    match (http_error(error).and_then(status_of), no_token) {
        // With these, a server asks for a token.
        (Some((status @ (401 | 403), _)), no_token) if is_new => ServerProblem::WantsToken(status, no_token),
        (_, Some(no_token)) => ServerProblem::NoToken(no_token),
        (_, None) => ServerProblem::ended(explain(error)),
    }
}
