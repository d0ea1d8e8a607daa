//! The bearer token of a request (RFC 6750): in the header alone, and only one.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::AuthError;
use super::jwt::MAX_TOKEN;

/// The one bearer token of a request.
pub(super) fn shown_token(headers: &HeaderMap) -> Result<&[u8], AuthError> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let first = shown.next().ok_or(AuthError::Missing)?.as_bytes();
    // A proxy could have checked the other one.
    if shown.next().is_some() {
        return Err(AuthError::Wrong);
    }
    let (scheme, token) = first.split_at_checked(7).ok_or(AuthError::Wrong)?;
    let token = token.trim_ascii();
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty() && token.len() <= MAX_TOKEN;
    if is_bearer { Ok(token) } else { Err(AuthError::Wrong) }
}
