//! The routes. Docs are here for the methods that they do not answer; GET and HEAD of them never come this far.

use std::any::Any;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::{Router, get, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::kept::Varies;
use super::problem::{Problem, ProblemCode};
use super::{Response, Shared, docs, functions, health, openapi, pages, whole};
use crate::serve::Caller;

/// All routes but that of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/tools/{*path}", get(doc))
        .route("/v1", get(functions::list))
        .route("/v1/{function}", post(functions::call))
        .route("/registry.json", get(whole::registry))
        .route("/llms.txt", get(whole::llms))
        .route("/llms-full.txt", get(whole::llms_full))
        .route("/openapi.json", get(openapi::answer))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(page)
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method")
        })
        .layer(CatchPanicLayer::custom(|_: Box<dyn Any + Send>| {
            Problem::new(ProblemCode::Internal, "this is a mistake in toolcrib").into_response()
        }))
        .with_state(shared)
}

async fn doc(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let path = asked.uri.path().trim_start_matches("/tools/");
    docs::answer(shared.live.now().shelf(&caller), &asked, path)
}

/// Pages for people, and everything that is nowhere.
async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let is_read = asked.method == http::Method::GET || asked.method == http::Method::HEAD;
    let path = asked.uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    match pages::page(shared.live.now().shelf(&caller), path, asked.uri.query()).filter(|_| is_read) {
        Some(page) => page.answer(&asked, Varies::Encoding),
        None if path == "index.html" && is_read => Ok(docs::elsewhere("/tools/README.md")),
        None => Err(Problem::new(ProblemCode::NotFound, "there is nothing at this address")),
    }
}
