//! Responses with their usual headers.

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

/// An answer.
pub(in crate::serve) type Response = http::Response<Body>;

/// An answer with these headers.
pub(in crate::serve) fn with(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An answer that no cache stores.
pub(in crate::serve) fn no_store(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with(status, headers, body.into())
}

/// The same for a body in the form that the client prefers.
pub(in crate::serve) fn negotiated(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = no_store(status, content_type, body);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}
