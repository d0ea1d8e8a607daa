//! The token of the caller, passed on as it is. Tools are listed without one.

use super::{CallerToken, Refused, SecretToken, SignInProblem};

pub(super) fn token(caller: Option<&CallerToken>) -> Result<Option<SecretToken>, SignInProblem> {
    let Some(caller) = caller else { return Ok(None) };
    caller.token.clone().map(Some).ok_or(SignInProblem::NoCallerToken)
}

pub(super) fn rejected(refused: Refused<'_>) -> Result<Option<SecretToken>, SignInProblem> {
    let status = refused.status;
    match refused.token {
        Some(_) => {
            Err(SignInProblem::Refused(format!("it does not accept the token of the caller ({status})")))
        }
        None => Err(SignInProblem::NoCallerToken),
    }
}
