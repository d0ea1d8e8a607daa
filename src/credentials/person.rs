//! Sign-ins of the operator.

use std::path::PathBuf;

use super::{CallerToken, Refused, SecretToken, SignInProblem};
use crate::config::{Environment, Server};

/// The sign-ins of the operator.
#[derive(Debug, Default)]
pub(super) struct Person {
    folder: Option<PathBuf>,
}

impl Person {
    pub(super) fn stored_in(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    pub(super) async fn token(
        &self,
        _server: (&str, &Server),
        _caller: Option<&CallerToken>,
        _environment: &Environment,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        Ok(None)
    }

    pub(super) async fn rejected(
        &self,
        _server: (&str, &Server),
        _caller: Option<&CallerToken>,
        _refused: Refused<'_>,
        _environment: &Environment,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        Ok(None)
    }
}
