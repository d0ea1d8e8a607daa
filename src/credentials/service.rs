//! Tokens of a service: client credentials.

use super::{Credentials, Refused, SecretToken, SignInProblem};
use crate::config::Server;

pub(super) async fn token(
    _credentials: &Credentials,
    _server: (&str, &Server),
) -> Result<Option<SecretToken>, SignInProblem> {
    Err(SignInProblem::Setting("`as = \"service\"` is not available".into()))
}

pub(super) async fn rejected(
    _credentials: &Credentials,
    _server: (&str, &Server),
    _refused: Refused<'_>,
) -> Result<Option<SecretToken>, SignInProblem> {
    Err(SignInProblem::Setting("`as = \"service\"` is not available".into()))
}
