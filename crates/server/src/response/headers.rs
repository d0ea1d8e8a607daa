//! Answers with the headers that caches on the way obey.

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

/// An answer.
pub(crate) type Response = http::Response<Body>;

/// An answer with these headers.
pub(crate) fn with(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An answer that no cache stores.
pub(crate) fn no_store(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with(status, headers, body.into())
}

/// The same for a body in the form that the client prefers.
pub(crate) fn negotiated(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    by_accept(no_store(status, content_type, body))
}

/// The same answer, for caches on the way: another `Accept` has another one.
pub(crate) fn by_accept(mut response: Response) -> Response {
    add_to_vary(response.headers_mut(), "accept");
    response
}

/// Adds a request header to those that choose between answers of the same address.
pub(crate) fn add_to_vary(headers: &mut HeaderMap, name: &str) {
    let known = headers.get_all(VARY).iter().filter_map(|known| known.to_str().ok());
    let all = known.chain([name]).collect::<Vec<_>>().join(", ");
    headers.insert(VARY, HeaderValue::try_from(all).unwrap_or(HeaderValue::from_static("*")));
}
