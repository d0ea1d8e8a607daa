//! Answers over HTTP: bodies with their tags, the media type that a client prefers, a cache for each catalog view, and
//! the problem of a request without an answer.

pub(super) mod problem;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use problem::Problem;

use super::ListingPolicy;
use super::listed_tools::ListedTools;
use crate::catalog::{Findings, registry};
use crate::config::Mode;
use crate::finding::Finding;
use crate::functions::CatalogView;
use crate::render::Llms;
use crate::site::{Site, SiteIndex};

/// An answer.
pub(super) type Response = http::Response<Body>;

/// An answer with these headers.
pub(super) fn with(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An answer that no cache stores.
pub(super) fn no_store(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with(status, headers, body.into())
}

/// The same for a body in the form that the client prefers.
pub(super) fn negotiated(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    by_accept(no_store(status, content_type, body))
}

/// The same answer, for caches on the way: another `Accept` has another one.
pub(super) fn by_accept(mut response: Response) -> Response {
    add_to_vary(response.headers_mut(), "accept");
    response
}

/// Adds a request header to those that choose between answers of the same address.
pub(super) fn add_to_vary(headers: &mut HeaderMap, name: &str) {
    let known = headers.get_all(VARY).iter().filter_map(|known| known.to_str().ok());
    let all = known.chain([name]).collect::<Vec<_>>().join(", ");
    headers.insert(VARY, HeaderValue::try_from(all).unwrap_or(HeaderValue::from_static("*")));
}

/// A body with its tag, which is of the media type too. Clients ask for it again with `If-None-Match`.
#[derive(Debug)]
pub(super) struct Tagged {
    body: Bytes,
    content_type: &'static str,
    tag: HeaderValue,
}

impl Tagged {
    /// A body of text.
    pub(super) fn new(body: impl Into<Bytes>, media: Media) -> Self {
        Self::of_type(body.into(), media.content_type())
    }

    /// A body of any type.
    pub(super) fn of_type(body: Bytes, content_type: &'static str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(content_type.as_bytes()).update(&body);
        // Weak, since the same tag stands for the compressed body.
        let tag = format!("W/\"{}\"", &hasher.finalize().to_hex()[..20]);
        let tag = HeaderValue::try_from(tag).unwrap_or_else(|_| HeaderValue::from_static("W/\"\""));
        Self { body, content_type, tag }
    }

    /// The answer with this body.
    pub(super) fn answer(&self) -> Response {
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(ETAG, self.tag.clone());
        with(StatusCode::OK, headers, Body::from(self.body.clone()))
    }
}

/// Answers 304 in place of a body that the client has, by the `If-None-Match` of its request.
pub(super) fn unless_known(known: &[HeaderValue], mut response: Response) -> Response {
    let Some(tag) = response.headers().get(ETAG) else { return response };
    let own = tag.to_str().unwrap_or_default().trim_start_matches("W/");
    let lists = known.iter().filter_map(|list| list.to_str().ok());
    let mut listed = lists.flat_map(|list| list.split(',')).map(str::trim);
    if response.status() == StatusCode::OK
        && listed.any(|listed| listed == "*" || listed.trim_start_matches("W/") == own)
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        [CONTENT_TYPE, CONTENT_LENGTH].iter().for_each(|name| drop(response.headers_mut().remove(name)));
    }
    response
}

// The media type that a client prefers, by the qualities in its `Accept`.

/// Media type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Markdown,
    Json,
    Html,
    Text,
    Metrics,
}

impl Media {
    /// The value of `Content-Type`.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Media::Markdown => "text/markdown; charset=utf-8",
            Media::Json => "application/json",
            Media::Html => "text/html; charset=utf-8",
            Media::Text => "text/plain; charset=utf-8",
            Media::Metrics => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Whether a range of `Accept` has this type.
    fn fits(self, range: &str) -> bool {
        let name = self.content_type().split(';').next().unwrap_or_default();
        let range = range.to_ascii_lowercase();
        range == "*/*" || range == name || range.strip_suffix('*').is_some_and(|kind| name.starts_with(kind))
    }
}

/// The media type that the client prefers, the first one where it has no preference; `None` when it accepts none.
pub(crate) fn preferred(headers: &HeaderMap, offered: &[Media]) -> Option<Media> {
    if !headers.contains_key(ACCEPT) {
        return offered.first().copied();
    }
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
        (range, quality.unwrap_or(1.0_f32))
    });
    let mut ranges: Vec<(&str, f32)> = ranges.filter(|(_, quality)| *quality > 0.0).collect();
    ranges.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranges.iter().find_map(|(range, _)| offered.iter().copied().find(|media| media.fits(range)))
}

// The cache of one catalog view: bodies by their paths, made at their first request and dropped with their generation.

/// Most tools with which `registry.json` is cached; for more it is made anew each time.
const MAX_CACHED_TOOLS: usize = 1000;

/// The bodies of one catalog view.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    view: Arc<CatalogView>,
    /// Findings of the input; `None` for callers who may see only a part of it.
    findings: Option<Findings>,
    listing: ListingPolicy,
    listed_tools: OnceLock<ListedTools>,
    site: OnceLock<SiteIndex>,
    llms: OnceLock<Llms>,
    bodies: RwLock<HashMap<String, Tagged>>,
}

impl ResponseCache {
    /// An empty cache.
    pub(crate) fn new(view: Arc<CatalogView>, findings: Option<Findings>, listing: ListingPolicy) -> Self {
        Self {
            view,
            findings,
            listing,
            listed_tools: OnceLock::new(),
            site: OnceLock::new(),
            llms: OnceLock::new(),
            bodies: RwLock::default(),
        }
    }

    /// The catalog view of these bodies.
    pub(crate) fn view(&self) -> &Arc<CatalogView> {
        &self.view
    }

    /// The answer that is cached for a path.
    pub(crate) fn known(&self, path: &str) -> Option<Response> {
        self.bodies.read().unwrap_or_else(PoisonError::into_inner).get(path).map(Tagged::answer)
    }

    /// The answer that is cached for a path; `make` makes it at its first request.
    pub(crate) fn answer(
        &self,
        path: &str,
        make: impl FnOnce() -> Result<Tagged, Problem>,
    ) -> Result<Response, Problem> {
        if let Some(known) = self.known(path) {
            return Ok(known);
        }
        let body = make()?;
        let answer = body.answer();
        self.bodies.write().unwrap_or_else(PoisonError::into_inner).insert(path.into(), body);
        Ok(answer)
    }

    /// The policy of the lists of clients.
    pub(crate) fn listing(&self) -> ListingPolicy {
        self.listing
    }

    /// Whether clients list tools of the catalog.
    pub(crate) fn lists_tools(&self) -> bool {
        self.listing.mode != Mode::Gateway || self.view.profile().full().next().is_some()
    }

    /// The catalog's tools that clients list.
    pub(crate) fn listed_tools(&self) -> &ListedTools {
        self.listed_tools.get_or_init(|| ListedTools::of(&self.view, self.listing))
    }

    /// Whether callers get the findings of the input.
    pub(crate) fn has_findings(&self) -> bool {
        self.findings.is_some()
    }

    /// Findings of the input that callers get.
    pub(crate) fn findings(&self) -> &[Finding] {
        self.findings.as_deref().unwrap_or_default()
    }

    /// The pages for people.
    pub(crate) fn site(&self) -> Site<'_> {
        let (catalog, templates) = (self.view.catalog(), self.view.templates());
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, self.findings(), templates).served()
    }

    /// The layout of `llms.txt` and `llms-full.txt`.
    pub(crate) fn llms(&self) -> &Llms {
        self.llms.get_or_init(|| Llms::lay_out(self.view.catalog(), &self.view.profile()))
    }

    /// `registry.json`; kept unless it is large.
    pub(crate) fn registry(&self) -> Result<Response, Problem> {
        let make = || Tagged::new(registry(self.view.catalog(), &self.view.profile()), Media::Json);
        match self.view.catalog().tools.len() <= MAX_CACHED_TOOLS {
            true => self.answer("registry.json", || Ok(make())),
            false => Ok(make().answer()),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_highest_quality_decides_and_then_the_order() {
        let offered = [Media::Markdown, Media::Json, Media::Html];
        let best = |accept: &str| {
            preferred(&[(ACCEPT, HeaderValue::from_str(accept).unwrap())].into_iter().collect(), &offered)
        };
        assert_eq!(preferred(&HeaderMap::new(), &offered), Some(Media::Markdown));
        assert_eq!(best("*/*"), Some(Media::Markdown));
        assert_eq!(best("text/html,application/xhtml+xml,*/*;q=0.8"), Some(Media::Html));
        assert_eq!(best("text/markdown;q=0.3, application/json;q=0.4"), Some(Media::Json));
        assert_eq!(best("TEXT/HTML ; q=1"), Some(Media::Html));
        assert_eq!(best("text/*;q=0, application/*;q=0.1"), Some(Media::Json));
        assert_eq!(best("image/png"), None);
        assert_eq!(best("text/markdown;q=nan"), None);
    }
}
