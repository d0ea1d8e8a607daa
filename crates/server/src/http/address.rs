//! Addresses of this server: names in them, percent-encoded and back, and redirects to them.

use std::borrow::Cow;

use axum::body::Body;
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::response::{Problem, ProblemCode, Response, with};

/// Characters to escape in a segment: all but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a segment of an address.
pub(super) fn encoded_address(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

/// A path without its escapes. Each `%` has two digits after it.
pub(super) fn decoded_address(path: &str) -> Result<Cow<'_, str>, Problem> {
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if path.split('%').skip(1).all(is_escape) {
        percent_decode_str(path).decode_utf8().map_err(|_| badly_encoded())
    } else {
        Err(badly_encoded())
    }
}

fn badly_encoded() -> Problem {
    Problem::new(ProblemCode::BadRequest, "the address is not encoded as UTF-8 with percent signs")
}

/// Longest address to return to, in bytes.
const MAX_RETURN: usize = 2_048;

/// Parameters of an address that are credentials: no page carries them on.
const CREDENTIALS: [&str; 5] = ["access_token", "code", "id_token", "refresh_token", "token"];

/// Leads a browser to a page of this server, with cookies.
pub(super) fn see_other<const N: usize>(
    path: &str,
    cookies: [Option<(HeaderName, HeaderValue)>; N],
) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::try_from(path).map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, cookie) in cookies.into_iter().flatten() {
        headers.append(name, cookie);
    }
    with(StatusCode::SEE_OTHER, headers, Body::empty())
}

/// The address, if it is a path of this server; else the home page. A browser must read no host in it, however it mends
/// what is written. An address with credentials loses its parameters.
pub(super) fn safe(address: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let is_path = address.starts_with('/') && !address.starts_with("//");
    let is_ours = is_path && address.len() <= MAX_RETURN && address.bytes().all(is_plain);
    let path = address.split(['?', '#']).next().unwrap_or_default();
    // An address of signing in is not worth returning to.
    let is_of_sign_in = path.split('/').any(|part| part == "sign-in" || part == "sign-out");
    let shows =
        |query: &str| form_urlencoded::parse(query.as_bytes()).any(|(name, _)| CREDENTIALS.contains(&&*name));
    match address.split_once('?') {
        _ if !is_ours || is_of_sign_in => "/",
        Some((path, query)) if shows(query) => path,
        _ => address,
    }
}

/// Redirects to the tool's own address. Temporarily, since another tool may take the requested name.
pub(super) fn redirect(path: &str) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(path).ok().map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    with(StatusCode::TEMPORARY_REDIRECT, headers, Body::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_returned_to() {
        for good in ["/", "/tools/get_me.html", "/search.html?q=a%20b&c=//x", "/p/creator/", "/a//b", "/a@b"]
        {
            assert_eq!(safe(good), good);
        }
        assert_eq!(safe("/search.html?q=a&access_token=b"), "/search.html");
        assert_eq!(safe("/?c%6fde=b"), "/");
        let long = format!("/{}", "a".repeat(MAX_RETURN));
        for bad in [
            "", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example/",
            "javascript:alert(1)", "evil.example", "/\t/evil.example", "/\n/evil.example", " //evil.example",
            "///evil.example", "/a\r\nset-cookie: x", "/ä", "/sign-in", "/sign-in?return=/", "/sign-out",
            "/p/x/sign-in/start", &long,
        ] {
            assert_eq!(safe(bad), "/", "{bad}");
        }
    }
}
