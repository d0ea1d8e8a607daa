//! The routes: the pattern, handlers, label in metrics, and operation in `openapi.json` of each.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use axum::routing::{MethodRouter, Router, get, post};
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method};
use serde_json::Value;
use tower_http::compression::CompressionLayer;

use super::address::decoded;
use super::pages::PageContext;
use super::sign_in::Visitor;
use super::{
    RequestContext, Response, Shared, caller, docs, functions, health, job_request, jobs, openapi, sessions,
    sign_in,
};
use crate::serve::Route;
use crate::serve::auth::METADATA;
use crate::serve::response::Tagged;
use crate::serve::response::media::Media;
use crate::serve::response::problem::{Problem, ProblemCode, reads_pages};

/// Media type of JSON.
pub(super) const JSON: &str = "application/json";
/// Media type of markdown.
pub(super) const MARKDOWN: &str = "text/markdown";
/// Media type of text.
pub(super) const TEXT: &str = "text/plain";

/// Handlers of a route, by method.
pub(super) type Handler = fn() -> MethodRouter<Arc<Shared>>;

/// A route.
pub(super) struct RouteEntry {
    /// Path, as `openapi.json` and the docs write it.
    pub(super) path: &'static str,
    /// Pattern of the router, and the handlers; none where another entry matches the same addresses.
    pub(super) handler: Option<(&'static str, Handler)>,
    /// Label in metrics.
    pub(super) label: Route,
    /// Operation in `openapi.json`.
    pub(super) operation: Operation,
    /// Whether a token is needed where there are any.
    pub(super) needs_token: bool,
}

/// The operation of a route, for programs that read OpenAPI.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// An operation that OpenAPI cannot describe.
    Undescribed,
    /// Call of a function; each has a path of its own.
    CallFunction,
    /// Call of a tool of the catalog.
    CallTool,
    /// Request that something is done, with its summary.
    Ask(&'static str),
    /// Operation that describes itself, by its method.
    Described(&'static str, fn() -> Value),
    /// Read, with its summary and media types.
    Read(&'static str, &'static [&'static str]),
}

impl RouteEntry {
    /// A route that another entry answers, or a service of its own.
    pub(super) const fn new(path: &'static str, label: Route, operation: Operation) -> Self {
        Self { path, handler: None, label, operation, needs_token: true }
    }

    /// A route that is read.
    pub(super) const fn read(
        path: &'static str,
        label: Route,
        summary: &'static str,
        media: &'static [&'static str],
    ) -> Self {
        Self::new(path, label, Operation::Read(summary, media))
    }

    /// Adds the handlers.
    pub(super) const fn answered(self, handler: Handler) -> Self {
        let path = self.path;
        self.matched(path, handler)
    }

    /// Adds the handlers, with the pattern of the router.
    pub(super) const fn matched(mut self, pattern: &'static str, handler: Handler) -> Self {
        self.handler = Some((pattern, handler));
        self
    }

    /// Opens the route to callers without a token.
    pub(super) const fn open(mut self) -> Self {
        self.needs_token = false;
        self
    }

    /// Whether an address may be one of this route, by the fixed part of its path.
    pub(super) fn holds(&self, address: &str) -> bool {
        match self.path.split_once('{') {
            Some((fixed, _)) => address.starts_with(fixed),
            None => address == self.path,
        }
    }
}

/// Path of MCP.
pub(super) const MCP: &str = "/mcp";

/// Paths of the metadata of resources.
const METADATA_BELOW: &str = "/.well-known/oauth-protected-resource/{*path}";

/// Every route, in the order of `openapi.json`.
static TABLE: [RouteEntry; 31] = [
    RouteEntry::new("/v1/reload", Route::Function, Operation::Ask("Look at once for another catalog"))
        .answered(|| post(health::reload)),
    RouteEntry::new("/v1/payload", Route::Function, Operation::Described("post", job_request::payload))
        .answered(|| post(jobs::payload)),
    RouteEntry::new("/v1/prompt", Route::Function, Operation::Described("post", job_request::prompt))
        .answered(|| post(jobs::prompt)),
    RouteEntry::new("/v1/parse", Route::Function, Operation::Described("post", job_request::parse))
        .answered(|| post(jobs::parse)),
    RouteEntry::new("/v1/results", Route::Function, Operation::Described("post", job_request::results))
        .answered(|| post(jobs::results)),
    RouteEntry::new(
        "/v1/workspace.tar",
        Route::Catalog,
        Operation::Described("get", jobs::workspace_operation),
    )
    .answered(|| get(jobs::workspace)),
    RouteEntry::new("/v1/{function}", Route::Function, Operation::CallFunction)
        .answered(|| get(functions::read).post(functions::call)),
    RouteEntry::new("/v1/tools/{name}", Route::Function, Operation::CallTool)
        .matched("/v1/tools/{*name}", || post(functions::run)),
    RouteEntry::read("/v1", Route::Function, "The functions, with their definitions", &[JSON])
        .answered(|| get(functions::list)),
    RouteEntry::read(
        "/v1/sessions/{id}",
        Route::Function,
        "What happened in a session of the caller; `after` and `limit` page through it",
        &[JSON],
    )
    .answered(|| get(sessions::show)),
    RouteEntry::read(
        "/v1/sessions/{id}/events",
        Route::Function,
        "The same as a stream; begins after `Last-Event-ID` or `after`",
        &["text/event-stream"],
    )
    .answered(|| get(sessions::stream_events)),
    RouteEntry::read(
        "/v1/results/{id}/blocks/{block}",
        Route::Function,
        "A picture or other data of a result of the caller, from the `link` in `meta.blocks`",
        &["application/octet-stream"],
    )
    .answered(|| get(functions::result_data)),
    RouteEntry::new("/tools/", Route::Doc, Operation::Undescribed).answered(|| get(doc)),
    RouteEntry::read("/tools/README.md", Route::Doc, "The index of all tools", &[MARKDOWN]),
    RouteEntry::read(
        "/tools/categories/{page}.md",
        Route::Doc,
        "A page of the index, where it has several",
        &[MARKDOWN],
    ),
    RouteEntry::read("/tools/{name}.md", Route::Doc, "The documentation of a tool", &[MARKDOWN]),
    RouteEntry::read(
        "/tools/{name}",
        Route::Doc,
        "A tool as markdown, page or JSON, by `Accept`",
        &[MARKDOWN, "text/html", JSON],
    )
    .matched("/tools/{*path}", || get(doc)),
    RouteEntry::read("/registry.json", Route::Catalog, "All tools with their schemas", &[JSON])
        .answered(|| get(docs::registry)),
    RouteEntry::read("/llms.txt", Route::Catalog, "All tools, a line each", &[TEXT])
        .answered(|| get(docs::llms)),
    RouteEntry::read("/llms-full.txt", Route::Catalog, "The documentation of all tools", &[TEXT])
        .answered(|| get(docs::llms_full)),
    RouteEntry::read("/openapi.json", Route::Catalog, "This description", &[JSON]).answered(|| get(describe)),
    RouteEntry::read("/healthz", Route::Health, "Whether the process lives", &[TEXT])
        .answered(|| get(health::alive))
        .open(),
    RouteEntry::read("/readyz", Route::Health, "Whether there is something to serve", &[TEXT, JSON])
        .answered(|| get(health::ready))
        .open(),
    RouteEntry::read("/metrics", Route::Health, "Counters for Prometheus", &[TEXT])
        .answered(|| get(health::metrics)),
    RouteEntry::new(METADATA, Route::Health, Operation::Undescribed)
        .answered(|| get(caller::metadata))
        .open(),
    RouteEntry::new(METADATA_BELOW, Route::Health, Operation::Undescribed)
        .answered(|| get(caller::metadata))
        .open(),
    RouteEntry::new("/sign-in", Route::SignIn, Operation::Undescribed)
        .answered(|| get(sign_in::show).post(sign_in::sign_in)),
    RouteEntry::new("/sign-out", Route::SignIn, Operation::Undescribed).answered(|| post(sign_in::sign_out)),
    RouteEntry::new("/assets/{file}", Route::Page, Operation::Undescribed).open(),
    RouteEntry::new(MCP, Route::Mcp, Operation::Undescribed),
    RouteEntry::new("/mcp/{path}", Route::Mcp, Operation::Undescribed),
];

/// The entry of an address; `None` for a page for people and for an unknown address.
fn entry(address: &str) -> Option<&'static RouteEntry> {
    TABLE.iter().find(|entry| entry.holds(address))
}

/// Label of an address in metrics.
pub(super) fn label(address: &str) -> Route {
    entry(address).map_or(Route::Page, |entry| entry.label)
}

/// Whether an address is open without a token, as a process monitor has none.
pub(super) fn is_open(address: &str) -> bool {
    entry(address).is_some_and(|entry| !entry.needs_token)
}

/// All routes but the one of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    let handlers = TABLE.iter().filter_map(|entry| entry.handler);
    handlers
        .fold(Router::new(), |router, (pattern, handler)| router.route(pattern, handler()))
        .fallback(page)
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method")
        })
        .layer(CompressionLayer::new())
        .with_state(shared)
}

/// `GET /openapi.json`.
async fn describe(context: RequestContext) -> Result<Response, Problem> {
    let body = |server: &str| Tagged::new(format!("{:#}\n", openapi::document(&TABLE, server)), Media::Json);
    static BODY: OnceLock<Tagged> = OnceLock::new();
    Ok(match context.catalog.root() {
        "" => BODY.get_or_init(|| body("/")).answer(),
        root => body(root).answer(),
    })
}

/// Docs; those that take long to make, when their turn comes.
async fn doc(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, request, .. } = &context;
    let path = docs::path(request)?;
    if !docs::is_slow(catalog.cache(caller), request, &path) {
        let visitor = request.extensions.get::<Visitor>();
        match docs::answer(PageContext { catalog, caller, visitor }, request, &path) {
            Err(problem) if is_missing_page(&problem, request) => {}
            answer => return answer,
        }
    }
    answered(context, |context, request| docs::answer(context, request, &docs::path(request)?)).await
}

/// Pages for people, and every address without content.
async fn page(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, request, .. } = &context;
    let path = request.uri.path().trim_start_matches('/');
    let file = catalog.cache(caller).file(path).and_then(|file| file.get());
    match file.filter(|_| is_read(&request.method)) {
        Some(file) => Ok(file.answer()),
        None => answered(context, answer_page).await,
    }
}

/// Answers when its turn comes; a browser that asks for a missing page gets a page with a search.
async fn answered(
    RequestContext { shared, catalog, caller, request, .. }: RequestContext,
    answer: impl FnOnce(PageContext<'_>, &Parts) -> Result<Response, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let answering = move || {
        let visitor = request.extensions.get::<Visitor>();
        let context = PageContext { catalog: &catalog, caller: &caller, visitor };
        match answer(context, &request) {
            Err(problem) if is_missing_page(&problem, &request) => context.missing(&address(&request)?),
            answer => answer,
        }
    };
    shared.slowly(answering).await?
}

fn answer_page(context: PageContext<'_>, request: &Parts) -> Result<Response, Problem> {
    let found = context.page(&address(request)?, request.uri.query())?;
    if !is_read(&request.method) && found.is_some() {
        let allow = [(ALLOW, HeaderValue::from_static("GET,HEAD"))];
        return Err(Problem::new(ProblemCode::MethodNotAllowed, "pages are read").header(allow));
    }
    Ok(found.ok_or_else(nothing)?.answer())
}

/// The path, from the root of the site.
fn address(request: &Parts) -> Result<Cow<'_, str>, Problem> {
    decoded(request.uri.path().trim_start_matches('/'))
}

/// Whether a browser asks for a page that does not exist.
fn is_missing_page(problem: &Problem, request: &Parts) -> bool {
    problem.code == ProblemCode::NotFound && reads_pages(&request.headers)
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn nothing() -> Problem {
    Problem::new(ProblemCode::NotFound, "there is nothing at this address")
}
