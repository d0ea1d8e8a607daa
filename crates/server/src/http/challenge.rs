//! The answer to a request without a caller, or with a token that lacks a right: a challenge, so that the client knows
//! where to get a token.

use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

use super::metrics::Route;
use super::request_context::{OpenRequest, Shared};
use crate::auth::{AuthError, METADATA, Resource};
use crate::response::{Media, Problem, ProblemCode, Response, no_store};

/// The problem for a request without a caller.
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

/// Adds the challenge to a forbidden answer. An MCP answer gets status 403, because clients look for the status.
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

/// `GET /.well-known/oauth-protected-resource/PATH`: the issuers and scopes for an endpoint (RFC 9728). It needs no
/// token, and answers the same for profiles that do not exist, so that nobody learns the names of profiles.
pub(super) async fn metadata(context: OpenRequest) -> Result<Response, Problem> {
    let path = context.request.uri.path().strip_prefix(METADATA).unwrap_or_default();
    let resource = Resource::at(path);
    let metadata = resource.and_then(|resource| context.shared.authenticator.metadata(resource));
    let metadata = metadata.ok_or_else(|| {
        Problem::new(ProblemCode::NotFound, "this path is not a resource that accepts an issuer's tokens")
            .next("send the request without an issuer's token")
    })?;
    Ok(no_store(StatusCode::OK, Media::Json.content_type(), format!("{metadata:#}\n")))
}
