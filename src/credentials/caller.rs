//! The token of the caller, passed on as it is.

use super::{CallerToken, Refused, SecretToken, SignInProblem};
use crate::config::Server;

pub(super) fn token(
    _server: (&str, &Server),
    caller: Option<&CallerToken>,
) -> Result<Option<SecretToken>, SignInProblem> {
    let token = caller.and_then(|caller| caller.token.clone());
    token.map(Some).ok_or(SignInProblem::NoCallerToken)
}

pub(super) fn rejected(
    _server: (&str, &Server),
    refused: Refused<'_>,
) -> Result<Option<SecretToken>, SignInProblem> {
    Err(SignInProblem::Refused(format!("it refuses the token of the caller ({})", refused.status)))
}
