//! Answers with the headers that caches on the way obey: not stored, or with a tag, by which clients ask for a body again with
//! `If-None-Match`.

use std::convert::Infallible;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::media::Media;

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

/// A body with its tag, which is of the media type too. Clients ask for it again with `If-None-Match`.
#[derive(Debug)]
pub(crate) struct Tagged {
    body: Bytes,
    content_type: &'static str,
    tag: HeaderValue,
}

impl Tagged {
    /// A body of text.
    pub(crate) fn new(body: impl Into<Bytes>, media: Media) -> Self {
        Self::of_type(body.into(), media.content_type())
    }

    /// A body of any type.
    pub(crate) fn of_type(body: Bytes, content_type: &'static str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(content_type.as_bytes()).update(&body);
        // Weak, since the same tag stands for the compressed body.
        let tag = format!("W/\"{}\"", &hasher.finalize().to_hex()[..20]);
        let tag = HeaderValue::try_from(tag).unwrap_or_else(|_| HeaderValue::from_static("W/\"\""));
        Self { body, content_type, tag }
    }

    /// The answer with this body.
    pub(crate) fn answer(&self) -> Response {
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(ETAG, self.tag.clone());
        with(StatusCode::OK, headers, Body::from(self.body.clone()))
    }
}

/// Answers 304 in place of a body that the client has, by the `If-None-Match` of its request.
pub(crate) fn unless_known(known: &[HeaderValue], mut response: Response) -> Response {
    let Some(tag) = response.headers().get(ETAG) else { return response };
    let own = tag.to_str().unwrap_or_default().trim_start_matches("W/");
    let lists = known.iter().filter_map(|list| list.to_str().ok());
    let mut listed = lists.flat_map(|list| list.split(',')).map(str::trim);
    if response.status() == StatusCode::OK
        && listed.any(|listed| listed == "*" || listed.trim_start_matches("W/") == own)
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        // Of an unknown length, so that the router writes none.
        *response.body_mut() = Body::from_stream(stream::empty::<Result<Bytes, Infallible>>());
        [CONTENT_TYPE, CONTENT_LENGTH].iter().for_each(|name| drop(response.headers_mut().remove(name)));
    }
    response
}
