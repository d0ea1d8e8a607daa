//! The routes: the pattern, handlers and label in metrics of each.

use std::borrow::Cow;
use std::sync::Arc;

use axum::routing::{MethodRouter, Router, get, post};
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method};
use tower_http::compression::CompressionLayer;

use super::docs::{PageContext, decoded_address};
use super::sign_in::Visitor;
use super::{
    RequestContext, Response, Shared, caller, docs, functions, health, jobs, openapi, sessions, sign_in,
};
use crate::serve::Route;
use crate::serve::auth::METADATA;
use crate::serve::response::problem::{Problem, ProblemCode, reads_pages};
use crate::serve::response::{Media, Tagged};

/// Handlers of a route, by method.
type Handler = fn() -> MethodRouter<Arc<Shared>>;

/// A route.
struct Entry {
    pattern: &'static str,
    /// Label in metrics.
    label: Route,
    /// `None` where the fallback, or a nested service, answers.
    handler: Option<Handler>,
    /// Whether a token is needed where there are any.
    needs_token: bool,
}

impl Entry {
    const fn new(pattern: &'static str, label: Route, handler: Handler) -> Self {
        Self { pattern, label, handler: Some(handler), needs_token: true }
    }

    /// A route whose requests another part answers.
    const fn elsewhere(pattern: &'static str, label: Route) -> Self {
        Self { pattern, label, handler: None, needs_token: true }
    }

    /// Opens the route to callers without a token.
    const fn open(mut self) -> Self {
        self.needs_token = false;
        self
    }

    /// Whether an address may be one of this route, by the fixed part of its path.
    fn holds(&self, address: &str) -> bool {
        match self.pattern.split_once('{') {
            Some((fixed, _)) => address.starts_with(fixed),
            None => address == self.pattern,
        }
    }
}

/// Path of MCP.
pub(super) const MCP: &str = "/mcp";

/// Every route; an address belongs to the first one that holds it. `openapi.json` describes them.
static TABLE: [Entry; 27] = [
    Entry::new("/v1/reload", Route::Function, || post(health::reload)),
    Entry::new("/v1/payload", Route::Function, || post(jobs::payload)),
    Entry::new("/v1/prompt", Route::Function, || post(jobs::prompt)),
    Entry::new("/v1/parse", Route::Function, || post(jobs::parse)),
    Entry::new("/v1/results", Route::Function, || post(jobs::results)),
    Entry::new("/v1/workspace.tar", Route::Catalog, || get(jobs::workspace)),
    Entry::new("/v1/{function}", Route::Function, || get(functions::read).post(functions::call)),
    Entry::new("/v1/tools/{*name}", Route::Function, || post(functions::run)),
    Entry::new("/v1/sessions/{id}", Route::Function, || get(sessions::show)),
    Entry::new("/v1/results/{id}/blocks/{block}", Route::Function, || get(functions::result_data)),
    Entry::new("/v1", Route::Function, || get(functions::list)),
    Entry::new("/tools/", Route::Doc, || get(doc)),
    Entry::new("/tools/{*path}", Route::Doc, || get(doc)),
    Entry::new("/registry.json", Route::Catalog, || get(docs::registry)),
    Entry::new("/llms.txt", Route::Catalog, || get(docs::llms)),
    Entry::new("/llms-full.txt", Route::Catalog, || get(docs::llms_full)),
    Entry::new("/openapi.json", Route::Catalog, || get(describe)),
    Entry::new("/healthz", Route::Health, || get(health::alive)).open(),
    Entry::new("/readyz", Route::Health, || get(health::ready)).open(),
    Entry::new("/metrics", Route::Health, || get(health::metrics)),
    Entry::new(METADATA, Route::Health, || get(caller::metadata)).open(),
    Entry::new("/.well-known/oauth-protected-resource/{*path}", Route::Health, || get(caller::metadata))
        .open(),
    Entry::new("/sign-in", Route::SignIn, || get(sign_in::show).post(sign_in::sign_in)),
    Entry::new("/sign-out", Route::SignIn, || post(sign_in::sign_out)),
    Entry::elsewhere("/assets/{file}", Route::Page).open(),
    Entry::elsewhere(MCP, Route::Mcp),
    Entry::elsewhere("/mcp/{path}", Route::Mcp),
];

/// The entry of an address; `None` for a page for people and for an unknown address.
fn entry(address: &str) -> Option<&'static Entry> {
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
    let handlers = TABLE.iter().filter_map(|entry| Some((entry.pattern, entry.handler?)));
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
    let root = if context.catalog.root().is_empty() { "/" } else { context.catalog.root() };
    Ok(Tagged::new(format!("{:#}\n", openapi::document(root)), Media::Json).answer())
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
    decoded_address(request.uri.path().trim_start_matches('/'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_this_api_has_every_route_but_those_of_protocols_and_forms() {
        let document = openapi::document("/");
        let described = document["paths"].as_object().unwrap();
        for entry in TABLE.iter().filter(|entry| entry.handler.is_some()) {
            let fixed = entry.pattern.split("{*").next().unwrap_or_default();
            let is_other = fixed.starts_with("/.well-known") || fixed.starts_with("/sign-");
            let is_described = described.keys().any(|path| path.starts_with(fixed));
            assert!(is_other || is_described || fixed == "/v1/{function}", "{}", entry.pattern);
        }
    }
}
