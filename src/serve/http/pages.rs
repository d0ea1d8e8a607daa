//! The pages for people, which `site` makes; made for each request, since people read few of them.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::docs::decoded;
use super::kept::{Kept, with};
use super::problem::{Problem, ProblemCode};
use super::{Response, Shelf};
use crate::finding::Finding;
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
    let listed = listed(live, shelf, path);
    let site = shelf.site().with_notice(notice.as_deref());
    let site = listed.as_deref().map_or(site, |findings| site.with_findings(findings));
    let searched = query.filter(|_| path == "search.html").and_then(searched).transpose()?;
    let made = match searched {
        Some(words) => Some(site.search(&words)),
        None => site.page(path),
    };
    let page = made.transpose().map_err(internal)?;
    Ok(page.map(|page| Kept::of_type(Bytes::from(page.body), page.content_type)))
}

/// The findings of a catalog on disk that is broken come before those of the one that is shown, for who may see both.
fn listed(live: &Live, shelf: &Shelf, path: &str) -> Option<Vec<Finding>> {
    let trouble = live.trouble().filter(|_| path == "findings.html")?;
    let sees_all = std::ptr::eq(shelf.edition().as_ref(), live.now().everything().as_ref());
    let mut listed = trouble.findings.clone();
    listed.extend(shelf.findings().iter().filter(|known| !trouble.findings.contains(known)).cloned());
    sees_all.then_some(listed)
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
