//! Requests without a caller, and callers whose token lacks a right: the status, and the challenge that says where to get
//! a token.

use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

use super::{Response, Shared};
use crate::exec::Caller;
use crate::serve::auth::{AuthError, Resource};
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::{RequestCatalog, Route};

/// The problem of a request without a caller.
pub(super) fn problem(shared: &Shared, refused: AuthError, resource: Resource<'_>) -> Problem {
    let code = match refused {
        AuthError::Twice => ProblemCode::BadRequest,
        AuthError::NoGrant => ProblemCode::InsufficientScope,
        AuthError::Forged => return Problem::new(ProblemCode::ProxyRefused, refused.to_string()),
        AuthError::IssuerAway => {
            let later = [(RETRY_AFTER, HeaderValue::from_static("5"))];
            return Problem::new(ProblemCode::IssuerUnavailable, refused.to_string()).header(later);
        }
        _ => ProblemCode::Unauthorized,
    };
    let challenge = shared.authenticator.challenge(refused, resource);
    Problem::new(code, refused.to_string()).header([(WWW_AUTHENTICATE, challenge)])
}

/// The challenge for a request that is refused because its token lacks a right; `None` where no other token has it.
pub(super) fn wider(
    shared: &Shared,
    (catalog, caller): (&RequestCatalog, &Caller),
    resource: Resource<'_>,
) -> Option<HeaderValue> {
    let most = catalog.unrestricted_view().catalog().config.exec.allow();
    shared.authenticator.wider(caller, most, resource)
}

/// Adds the challenge to the answer of a call. MCP answers with a result, and clients look for the status.
pub(super) fn challenged(mut response: Response, route: Route, challenge: HeaderValue) -> Response {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if route == Route::Mcp && is_json && response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::FORBIDDEN;
    }
    if response.status() == StatusCode::FORBIDDEN {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}
