//! The routes. Docs are here for the methods that they do not answer; GET and HEAD of them never come this far.

use std::any::Any;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::{Router, get, post};
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method};
use tower_http::catch_panic::CatchPanicLayer;

use super::kept::Varies;
use super::negotiate::{Media, preferred};
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
    docs::answer(&shared.live, shared.live.now().shelf(&caller), &asked, path)
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

fn answer_page(shared: &Shared, caller: &Caller, asked: &Parts) -> Result<Response, Problem> {
    let generation = shared.live.now();
    let shelf = generation.shelf(caller);
    let path = docs::decoded(asked.uri.path().trim_start_matches('/'))?;
    let found = pages::page(&shared.live, shelf, &path, asked.uri.query())?;
    if asked.method != Method::GET && asked.method != Method::HEAD {
        return Err(match found {
            Some(_) => Problem::new(ProblemCode::MethodNotAllowed, "pages are read")
                .header([(ALLOW, HeaderValue::from_static("GET,HEAD"))]),
            None => nothing(),
        });
    }
    match found {
        Some(page) => page.answer(asked, Varies::Encoding),
        None => match preferred(&asked.headers, &[Media::Json, Media::Html]) {
            Some(Media::Html) => pages::missing(shelf, &path),
            _ => Err(nothing()),
        },
    }
}

fn nothing() -> Problem {
    Problem::new(ProblemCode::NotFound, "there is nothing at this address")
}
