//! The routes. Docs are here for the methods that they do not answer; GET and HEAD of them never come this far.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::{Router, get, post};
use axum::{Extension, extract::Request};

use super::kept::Varies;
use super::problem::{Problem, ProblemCode};
use super::{Response, Shared, docs, functions, health, pages};
use crate::serve::Caller;

/// All routes but that of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/tools/{*path}", get(doc))
        .route("/v1", get(functions::list))
        .route("/v1/{function}", post(functions::call))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(page)
        .method_not_allowed_fallback(async || Problem::new(ProblemCode::MethodNotAllowed, "not in this way"))
        .with_state(shared)
}

async fn doc(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let path = asked.uri.path().trim_start_matches("/tools/");
    docs::answer(shared.live.now().shelf(&caller), &asked, path, shared.live.notice().as_deref())
}

/// Pages for people, and everything that is nowhere.
async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    // The report of a large profile takes its time; other requests do not wait for it.
    let answering = tokio::task::spawn_blocking(move || answer_page(&shared, &caller, &asked));
    answering.await.unwrap_or_else(|_| Err(Problem::new(ProblemCode::Internal, "this page cannot be made")))
}

fn answer_page(shared: &Shared, caller: &Caller, asked: &http::request::Parts) -> Result<Response, Problem> {
    let (generation, notice) = (shared.live.now(), shared.live.notice());
    let path = asked.uri.path().trim_start_matches('/');
    let is_read = asked.method == http::Method::GET || asked.method == http::Method::HEAD;
    let shelf = generation.shelf(caller);
    let page = if is_read { pages::page(shelf, path, asked.uri.query(), notice.as_deref())? } else { None };
    match page {
        Some(page) => page.answer(asked, Varies::Encoding),
        None => {
            let problem = Problem::new(ProblemCode::NotFound, "there is nothing at this address");
            Err(problem.with_page(&asked.headers, || pages::missing(shelf, path)))
        }
    }
}
