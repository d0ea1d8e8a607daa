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
        return Err(AuthError::Twice);
    }
    let (scheme, token) = first.split_at_checked(7).ok_or(AuthError::NotBearer)?;
    match token.trim_ascii() {
        _ if !scheme.eq_ignore_ascii_case(b"bearer ") => Err(AuthError::NotBearer),
        b"" => Err(AuthError::NotBearer),
        token if token.len() > MAX_TOKEN => Err(AuthError::TooLong),
        token => Ok(token),
    }
}
