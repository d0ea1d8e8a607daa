//! Answers over HTTP: bodies with their tags, the media type that a client prefers, a cache for each catalog view, and
//! the problem of a request without an answer.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::body::Body;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, RETRY_AFTER, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use strum::{IntoStaticStr, VariantArray};

use super::ListingPolicy;
use super::listed_tools::ListedTools;
use crate::site::{Site, SiteIndex};
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Findings, registry};
use toolcrib_definition::finding::Finding;
use toolcrib_definition::quoted;
use toolcrib_gateway::functions::CatalogView;
use toolcrib_gateway::state::StateError;

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
            bodies: RwLock::default(),
        }
    }

    /// The catalog view of these bodies.
    pub(crate) fn view(&self) -> &Arc<CatalogView> {
        &self.view
    }

    /// The answer that is cached for a path.
    pub(crate) fn cached(&self, path: &str) -> Option<Response> {
        self.bodies.read().unwrap_or_else(PoisonError::into_inner).get(path).map(Tagged::answer)
    }

    /// The answer that is cached for a path; `make` makes it at its first request.
    pub(crate) fn answer(
        &self,
        path: &str,
        make: impl FnOnce() -> Result<Tagged, Problem>,
    ) -> Result<Response, Problem> {
        if let Some(cached) = self.cached(path) {
            return Ok(cached);
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
        let catalog = self.view.catalog();
        let templates = self.view.templates();
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, self.findings(), templates).served()
    }

    /// `registry.json`; kept unless it is large.
    pub(crate) fn registry(&self) -> Result<Response, Problem> {
        let make = || Tagged::new(registry(self.view.catalog(), &self.view.profile()), Media::Json);
        if self.view.catalog().tools.len() <= MAX_CACHED_TOOLS {
            self.answer("registry.json", || Ok(make()))
        } else {
            Ok(make().answer())
        }
    }
}

// Errors of requests that reach no function: a stable code, the next step, and links back, as JSON.

/// Stands in a next step for the path below which the profile of the request is served.
const ROOT: &str = "{root}";

/// Code of a problem; stable, and documented in `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ProblemCode {
    /// The request is malformed.
    BadRequest,
    /// A header is invalid.
    ValidationError,
    /// The body is not JSON.
    MalformedJson,
    /// The token is missing or unknown.
    Unauthorized,
    /// The token is valid, and gives no right here.
    InsufficientScope,
    /// The issuer of the token does not answer.
    IssuerUnavailable,
    /// This server does not have the requested host name.
    HostNotAllowed,
    /// A page of another origin asks.
    OriginNotAllowed,
    /// There is nothing at this address.
    NotFound,
    /// Several tools have this name.
    Ambiguous,
    /// The method is not allowed here.
    MethodNotAllowed,
    /// The client accepts no available media type.
    NotAcceptable,
    /// The body did not arrive in time.
    RequestTimeout,
    /// The body is too long.
    ContentTooLarge,
    /// The address is too long.
    UriTooLong,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// A mistake in toolcrib, or in a template.
    Internal,
    /// Too many requests at once.
    Overloaded,
    /// There is no catalog to serve.
    NotReady,
    /// The answer took too long.
    Timeout,
    /// The tool exists, but not for this caller.
    NotAuthorized,
    /// The token is for other profiles.
    ProfileNotAllowed,
    /// No profile of this name can be chosen.
    UnknownProfile,
    /// State cannot be read.
    StateUnavailable,
    /// A form comes from another page, or from an earlier session.
    FormRefused,
    /// The headers name a person as only the proxy may.
    ProxyRefused,
}

impl ProblemCode {
    /// Every code.
    pub const ALL: &[ProblemCode] = Self::VARIANTS;

    /// The code as answers write it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The HTTP status of the code.
    pub fn http_status(self) -> u16 {
        self.row().0
    }

    /// Status, and next step.
    fn row(self) -> (u16, &'static str) {
        match self {
            ProblemCode::BadRequest => (400, "correct the request"),
            ProblemCode::ValidationError => (400, "correct the request"),
            ProblemCode::MalformedJson => (400, "send one JSON object, at most 100 levels deep"),
            ProblemCode::Unauthorized => (401, "send `Authorization: Bearer TOKEN`"),
            ProblemCode::InsufficientScope => {
                (403, "get a token with the scopes that `WWW-Authenticate` names")
            }
            ProblemCode::IssuerUnavailable => (503, "try again in a few seconds"),
            ProblemCode::HostNotAllowed => (
                403,
                "use the address that the server listens on, or have its operator add the name with --public-host",
            ),
            ProblemCode::OriginNotAllowed => {
                (403, "send the request from a page of this server, or without `Origin`")
            }
            ProblemCode::NotFound => (404, "find the tool by what it does in {root}/tools/README.md"),
            ProblemCode::Ambiguous => (409, "ask for one of `nearest`"),
            ProblemCode::MethodNotAllowed => (405, "use a method that `Allow` names"),
            ProblemCode::NotAcceptable => (406, "accept text/markdown, text/html or application/json"),
            ProblemCode::RequestTimeout => (408, "send the request again, faster"),
            ProblemCode::ContentTooLarge => (413, "send less"),
            ProblemCode::UriTooLong => (414, "shorten the address; arguments belong in the body"),
            ProblemCode::UnsupportedMediaType => (415, "send JSON, with `Content-Type: application/json`"),
            ProblemCode::Internal => (500, "tell the operator of this server"),
            ProblemCode::Overloaded => (503, "try again in a second"),
            ProblemCode::NotReady => (503, "try again when the catalog has been put right"),
            ProblemCode::Timeout => (504, "ask for less, or try again"),
            ProblemCode::NotAuthorized => (403, "do without this tool, or show a token that may use it"),
            ProblemCode::ProfileNotAllowed => (403, "ask for a profile of this token, or for none"),
            ProblemCode::UnknownProfile => (404, "ask for a profile that this server has, or for none"),
            ProblemCode::StateUnavailable => (503, "try again later, or tell the operator"),
            ProblemCode::FormRefused => (403, "load the page again, and send its form"),
            ProblemCode::ProxyRefused => {
                (403, "send the request through the proxy, or without the headers that only it sends")
            }
        }
    }
}

/// The reason why a request has no answer. Made where the failure is noticed, and written once the root of the profile and the
/// media types that the client accepts are known.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: ProblemCode,
    pub(crate) message: String,
    pub(crate) nearest: Vec<String>,
    next_action: Option<String>,
    /// Headers of its own, such as the challenge to an unknown caller.
    pub(crate) headers: HeaderMap,
}

impl Problem {
    /// A problem with a message.
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        let message = message.into();
        let nearest = Vec::new();
        let headers = HeaderMap::new();
        Self { code, message, nearest, next_action: None, headers }
    }

    /// The problem of too many requests.
    pub(crate) fn overloaded(message: &str) -> Self {
        let later = [(RETRY_AFTER, HeaderValue::from_static("1"))];
        Self::new(ProblemCode::Overloaded, message).header(later)
    }

    /// The problem of state that cannot be read. The reason is for the log.
    pub(crate) fn of_state(error: &StateError, message: &str) -> Self {
        tracing::warn!(%error, "state cannot be read");
        Self::new(ProblemCode::StateUnavailable, message)
    }

    /// The problem of a parameter that a query has twice.
    pub(crate) fn repeated(name: &str) -> Self {
        let message = format!("`{}` is there twice in the query", quoted(name));
        Self::new(ProblemCode::ValidationError, message).next("send it once")
    }

    /// The problem of a tool that the caller may see but not use.
    pub(crate) fn forbidden(name: &str) -> Self {
        let message = format!("you may not use `{name}`: it needs a role that you do not have");
        Self::new(ProblemCode::NotAuthorized, message)
    }

    /// Adds names that may have been meant.
    pub(crate) fn nearest(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.nearest = names.into_iter().collect();
        self
    }

    /// Sets the next step, where it is not the code's usual one.
    pub(crate) fn next(mut self, action: impl Into<String>) -> Self {
        self.next_action = Some(action.into());
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, header: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        self.headers.extend(header);
        self
    }

    /// The response. Its addresses are below `root`.
    pub(crate) fn answer(&self, root: &str) -> Response {
        let mut error = Map::new();
        error.insert("code".into(), self.code.as_str().into());
        error.insert("message".into(), self.message.as_str().into());
        if !self.nearest.is_empty() {
            error.insert("nearest".into(), self.nearest.clone().into());
        }
        error.insert("help_path".into(), "root".into());
        error.insert("next_action".into(), self.next_action().replace(ROOT, root).into());
        let link = |path: &str| format!("{root}{path}");
        let links = json!({ "home": link("/"), "tools": link("/tools/README.md"), "functions": link("/v1") });
        let body = json!({ "ok": false, "error": Value::Object(error), "links": links }).to_string();
        let mut response = negotiated(self.status(), Media::Json.content_type(), body);
        response.headers_mut().extend(self.headers.clone());
        response
    }

    /// The same as an error of JSON-RPC; without an id, since the message of the request is not read.
    pub(crate) fn rpc_answer(&self) -> Response {
        let code = self.code.as_str();
        let data = json!({ "code": code, "next_action": self.next_action() });
        let error = json!({ "code": -32600, "message": format!("{code}: {}", self.message), "data": data });
        let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        no_store(self.status(), Media::Json.content_type(), body)
    }

    /// Whether it is about the choice of a profile.
    pub(crate) fn is_about_profiles(&self) -> bool {
        matches!(self.code, ProblemCode::ProfileNotAllowed | ProblemCode::UnknownProfile)
    }

    pub(crate) fn next_action(&self) -> &str {
        self.next_action.as_deref().unwrap_or(self.code.row().1)
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    /// A response that carries the problem to the service, which writes it.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}

/// Whether the client prefers a page to JSON.
pub(crate) fn reads_pages(request: &HeaderMap) -> bool {
    preferred(request, &[Media::Json, Media::Html]) == Some(Media::Html)
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
