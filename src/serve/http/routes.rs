//! The routes. Only slow docs, and methods that docs do not answer, come this far.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::routing::{Router, get, post};
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method};

use super::cached_body::Vary;
use super::pages::PageContext;
use super::problem::{Problem, ProblemCode};
use super::{Response, Shared, catalog_files, docs, functions, health, openapi, sessions};
use crate::exec::Caller;
use crate::serve::Seen;

/// All routes but the one of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/tools/", get(doc))
        .route("/tools/{*path}", get(doc))
        .route("/v1", get(functions::list))
        .route("/v1/{function}", post(functions::call))
        .route("/v1/tools/{*name}", post(functions::run))
        .route("/v1/sessions/{session}", get(sessions::show))
        .route("/v1/sessions/{session}/events", get(sessions::stream_events))
        .route("/registry.json", get(catalog_files::registry))
        .route("/llms.txt", get(catalog_files::llms))
        .route("/llms-full.txt", get(catalog_files::llms_full))
        .route("/openapi.json", get(openapi::answer))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(page)
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method")
        })
        .with_state(shared)
}

/// Docs in forms that take long to make.
async fn doc(
    State(shared): State<Arc<Shared>>,
    Extension(seen): Extension<Seen>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    answered(shared, (seen, caller), request, |context, request| {
        docs::answer(context, request, &docs::path(request)?)
    })
    .await
}

/// Pages for people, and every address without content.
async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(seen): Extension<Seen>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let file = {
        let path = request.uri().path().trim_start_matches('/');
        seen.cache(&caller).file(path).and_then(|file| file.get()).map(Arc::clone)
    };
    match file.filter(|_| is_read(request.method())) {
        Some(file) => file.answer(&request.into_parts().0, Vary::Encoding),
        None => answered(shared, (seen, caller), request, answer_page).await,
    }
}

/// Answers when its turn comes; a browser that asks for a missing page gets a page with a search.
async fn answered(
    shared: Arc<Shared>,
    (seen, caller): (Seen, Caller),
    request: Request,
    answer: impl FnOnce(PageContext<'_>, &Parts) -> Result<Response, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let (request, _) = request.into_parts();
    let heavy = shared.blocking_pool.clone();
    let answering = move || {
        let context = PageContext { seen: &seen, caller: &caller };
        match answer(context, &request) {
            Err(problem) if problem.is_missing_page(&request.headers) => context.missing(&address(&request)?),
            answer => answer,
        }
    };
    heavy.run(answering).await?
}

fn answer_page(context: PageContext<'_>, request: &Parts) -> Result<Response, Problem> {
    let found = context.page(&address(request)?, request.uri.query())?;
    if !is_read(&request.method) && found.is_some() {
        let allow = [(ALLOW, HeaderValue::from_static("GET,HEAD"))];
        return Err(Problem::new(ProblemCode::MethodNotAllowed, "pages are read").header(allow));
    }
    found.ok_or_else(nothing)?.answer(request, Vary::Encoding)
}

/// The path, from the root of the site.
fn address(request: &Parts) -> Result<Cow<'_, str>, Problem> {
    docs::decoded(request.uri.path().trim_start_matches('/'))
}

pub(super) fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn nothing() -> Problem {
    Problem::new(ProblemCode::NotFound, "there is nothing at this address")
}
