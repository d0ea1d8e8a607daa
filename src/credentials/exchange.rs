//! Tokens that the token of a caller is exchanged for (RFC 8693).

use super::{CallerToken, Credentials, Refused, SecretToken, SignInProblem};
use crate::config::Server;

pub(super) async fn token(
    _credentials: &Credentials,
    _server: (&str, &Server),
    _caller: Option<&CallerToken>,
) -> Result<Option<SecretToken>, SignInProblem> {
    Err(SignInProblem::Setting("`as = \"exchange\"` is not available".into()))
}

pub(super) async fn rejected(
    _credentials: &Credentials,
    _server: (&str, &Server),
    _caller: Option<&CallerToken>,
    _refused: Refused<'_>,
) -> Result<Option<SecretToken>, SignInProblem> {
    Err(SignInProblem::Setting("`as = \"exchange\"` is not available".into()))
}
