//! The token of each server, for the operator or for a caller.

use std::path::PathBuf;

use super::challenge::Refused;
use super::identity::acts_as;
use super::offered::Offered;
use super::person::Person;
use super::problem::SignInProblem;
use super::service::{Service, Services};
use super::sign_in_file::SignInVersion;
use super::token::{CallerToken, SecretToken};
use toolcrib_catalog::config::{ActsAs, Environment, Server};

/// The tokens of a program for servers, shared by everything that calls them.
#[derive(Default)]
pub struct Credentials {
    pub(super) environment: Environment,
    pub(super) person: Person,
    pub(super) offered: Offered,
    /// Tokens of services.
    services: Services,
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
        let own = |caller: &CallerToken| caller.token.clone().ok_or(SignInProblem::NoCallerToken);
        match acts_as(server.1) {
            None => Ok(None),
            Some(ActsAs::Person) => self.person.token(server, caller).await,
            Some(ActsAs::Service) => self.services.token(self.service(server.1)?).await.map(Some),
            // Tools are listed without a token.
            Some(ActsAs::Caller) => caller.map(own).transpose(),
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
            Some(ActsAs::Caller) if refused.token.is_none() => Err(SignInProblem::NoCallerToken),
            Some(ActsAs::Caller) => {
                let reason = format!("it does not accept the token of the caller ({})", refused.status);
                Err(SignInProblem::Refused(reason))
            }
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
        self.person.place(server)?.version()
    }

    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}
