//! Answers over HTTP: bodies with their tags, the media type that a client prefers, a cache for each catalog view, and
//! the problem of a request without an answer.

pub(super) mod problem;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

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

/// A body with its tag, which clients ask for again with `If-None-Match`.
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
        // Weak, since the same tag stands for the compressed body.
        let tag = format!("W/\"{}\"", &blake3::hash(&body).to_hex()[..20]);
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

    /// The same body as plain text, with a tag of its own.
    pub(super) fn answer_as_text(&self) -> Response {
        let mut response = self.answer();
        let tag = format!("{}-text\"", self.tag.to_str().unwrap_or_default().trim_end_matches('"'));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::Text.content_type()));
        headers.insert(ETAG, HeaderValue::try_from(tag).unwrap_or_else(|_| self.tag.clone()));
        response
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

// The cache of one catalog view: bodies ready to be sent. Made at their first request, read without a lock, and
// dropped with their generation.

/// Most tools with which `registry.json` is cached; for more it is made anew each time.
const MAX_CACHED_TOOLS: usize = 1000;

/// The bodies of one catalog view. Errors are those of templates.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    view: Arc<CatalogView>,
    docs: Vec<OnceLock<Result<Tagged, String>>>,
    index: OnceLock<Result<IndexFiles, String>>,
    site: OnceLock<SiteIndex>,
    /// Findings of the input, unless the caller may see only a part of it.
    findings: Findings,
    registry: OnceLock<Tagged>,
    /// Assets of pages: style sheets, scripts, and the index of the search.
    files: HashMap<String, OnceLock<Arc<Tagged>>>,
    listing: ListingPolicy,
    listed_tools: OnceLock<ListedTools>,
    /// The list of functions and tools: at the root of the server, and below the path of the profile.
    tool_list_bodies: [OnceLock<Tagged>; 2],
}

/// Files that are laid out from all tools.
#[derive(Debug)]
pub(crate) struct IndexFiles {
    /// `README.md`, and pages below `categories/`.
    pub(crate) files: HashMap<String, Tagged>,
    /// `llms.txt` and `llms-full.txt`.
    pub(crate) llms: Llms,
}

impl ResponseCache {
    /// An empty cache.
    pub(crate) fn new(view: Arc<CatalogView>, findings: Findings, shown: ListingPolicy) -> Self {
        let docs = view.catalog().tools.iter().map(|_| OnceLock::new()).collect();
        let (index, registry, site) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let names = view.templates().assets().keys().map(String::as_str).chain(["search-index.js"]);
        let files = names.map(|name| (name.to_string(), OnceLock::new())).collect();
        Self {
            view,
            docs,
            index,
            registry,
            site,
            findings,
            files,
            listing: shown,
            listed_tools: OnceLock::new(),
            tool_list_bodies: Default::default(),
        }
    }

    /// The catalog view of these bodies.
    pub(crate) fn view(&self) -> &Arc<CatalogView> {
        &self.view
    }

    /// The doc of a tool, `tools/NAME.md`.
    pub(crate) fn doc(&self, index: usize) -> Option<&Result<Tagged, String>> {
        let make = || match self.view.page(index) {
            Some(Ok(page)) => Ok(Tagged::new(page.markdown.clone(), Media::Markdown)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("there is no such tool".into()),
        };
        Some(self.docs.get(index)?.get_or_init(make))
    }

    /// The files that are laid out from all tools.
    pub(crate) fn index(&self) -> Result<&IndexFiles, &String> {
        self.index.get_or_init(|| self.lay_out()).as_ref()
    }

    /// Whether these files are made already, which takes time in a large catalog.
    pub(crate) fn is_laid_out(&self) -> bool {
        self.index.get().is_some()
    }

    fn lay_out(&self) -> Result<IndexFiles, String> {
        let (view, profile) = (&self.view, self.view.profile());
        let llms = Llms::lay_out(view.catalog(), &profile);
        let pages = view.index().as_ref().map_err(ToString::to_string)?.iter();
        let files = pages
            .map(|page| (page.path.clone(), Tagged::new(page.markdown.clone(), Media::Markdown)))
            .collect();
        Ok(IndexFiles { files, llms })
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

    /// The slot for the list of functions and tools, with addresses below the path of the profile or not.
    pub(crate) fn tool_list_body(&self, below_profile: bool) -> &OnceLock<Tagged> {
        &self.tool_list_bodies[usize::from(below_profile)]
    }

    /// Findings of the input.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The pages for people.
    pub(crate) fn site(&self) -> Site<'_> {
        let (catalog, templates) = (self.view.catalog(), self.view.templates());
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, &self.findings, templates).served()
    }

    /// The slot for an asset of pages.
    pub(crate) fn file(&self, path: &str) -> Option<&OnceLock<Arc<Tagged>>> {
        self.files.get(path)
    }

    /// `registry.json`; kept unless it is large.
    pub(crate) fn registry(&self) -> Response {
        let make = || Tagged::new(registry(self.view.catalog(), &self.view.profile()), Media::Json);
        match self.view.catalog().tools.len() <= MAX_CACHED_TOOLS {
            true => self.registry.get_or_init(make).answer(),
            false => make().answer(),
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
