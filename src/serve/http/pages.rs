//! The pages for people, which `site` makes; made for each request, since people read few of them.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::docs::decoded;
use super::kept::{Kept, with};
use super::problem::{Problem, ProblemCode};
use super::{Response, Shelf};
use crate::render::TemplateError;
use crate::serve::Live;

/// The page at a path such as `tools/NAME.html`; `query` is that of the address.
pub(super) fn page(
    live: &Live,
    shelf: &Shelf,
    path: &str,
    query: Option<&str>,
) -> Result<Option<Kept>, Problem> {
    let notice = live.notice();
    let site = shelf.site().with_notice(notice.as_deref());
    let searched = query.filter(|_| path == "search.html").and_then(searched).transpose()?;
    let made = match searched {
        Some(words) => Some(site.search(&words)),
        None => site.page(path),
    };
    let page = made.transpose().map_err(internal)?;
    Ok(page.map(|page| Kept::of_type(Bytes::from(page.body), page.content_type)))
}

/// The page for an address at which there is nothing.
pub(super) fn missing(shelf: &Shelf, path: &str) -> Result<Response, Problem> {
    let page = shelf.site().not_found(path).map_err(internal)?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    Ok(with(StatusCode::NOT_FOUND, headers, Body::from(page.body)))
}

/// What `q=` says.
fn searched(query: &str) -> Option<Result<String, Problem>> {
    let words = query.split('&').find_map(|pair| pair.strip_prefix("q="))?;
    Some(decoded(&words.replace('+', " ")).map(|words| words.into_owned()))
}

fn internal(error: TemplateError) -> Problem {
    Problem::new(ProblemCode::Internal, error.to_string())
}
