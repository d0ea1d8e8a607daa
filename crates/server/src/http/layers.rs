//! The layers around handlers: the check of host and origin, the time of an answer, its headers, its place in metrics.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{OriginalUri, Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, IF_NONE_MATCH, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::time::timeout;

use super::admission::{MCP_SESSION, may_begin};
use super::functions::TRACE;
use super::metrics::{self, Route};
use super::request_context::Shared;
use super::{address, body, challenge};
use crate::auth::{AuthError, Resource};
use crate::response::{Media, Problem, ProblemCode, Response, no_store, unless_known, with_problem};
use crate::{RequestCatalog, mcp, site};
use toolcrib_gateway::state::random_id;

/// The content security policy of every page, with `frame-ancestors`, which a page cannot set itself.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!("{}; frame-ancestors 'none'", site::CONTENT_SECURITY_POLICY);
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Request ids of a client, returned as they are.
const NAMES: [HeaderName; 2] =
    [HeaderName::from_static("x-request-id"), HeaderName::from_static("traceparent")];

/// Answers a request for this server, with the headers that all answers have, and counts it.
pub(super) async fn finished(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let route = Route::of(&head);
    let method = head.method.clone();
    let uri =
        head.extensions.get::<OriginalUri>().map_or_else(|| head.uri.clone(), |OriginalUri(uri)| uri.clone());
    let named = NAMES.map(|name| head.headers.get(&name).filter(|value| value.len() <= 128).cloned());
    let response = match check(&shared, &head, route) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(problem) => problem.into_response(),
    };
    let mut response = with_problem(response, |problem| route.problem(&problem, ""));
    let headers = response.headers_mut();
    mark_pages(headers);
    for (name, value) in NAMES.into_iter().zip(named) {
        headers.extend(value.map(|value| (name, value)));
    }
    if route == Route::Function && !headers.contains_key(TRACE) {
        headers.extend(HeaderValue::try_from(random_id("tr")).map(|id| (TRACE, id)));
    }
    let status = response.status();
    let took = started.elapsed();
    metrics::answered(&shared.live.services().counts, route, status, took);
    let trace_id = response.headers().get(TRACE).and_then(|id| id.to_str().ok());
    let bytes = response.body().size_hint().exact();
    let micros = took.as_micros() as u64;
    tracing::debug!(%method, path = uri.path(), status = status.as_u16(), bytes, micros, trace_id);
    response
}

/// Checks host, origin, and headers that only a proxy may send.
fn check(shared: &Shared, request: &Parts, route: Route) -> Result<(), Problem> {
    shared.hosts.check(request, route == Route::Mcp)?;
    match shared.authenticator.by_proxy(request) {
        Err(forged @ AuthError::Forged) => {
            Err(challenge::problem(shared, forged, Resource { root: "", is_mcp: false }))
        }
        _ => Ok(()),
    }
}

/// Adds the headers for browsers. Only pages run scripts or load anything.
fn mark_pages(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if headers.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/html")) {
        // Without a referrer, a browser hides the origin of a page's own form.
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    }
}

/// Answers up to the limit of time, and with 304 in place of a body that the client has. `TimeoutLayer` has no text of an
/// error, and no layer knows `If-None-Match`.
pub(super) async fn answered_in_time(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    address::decoded_address(request.uri().path())?;
    let known: Vec<HeaderValue> = request.headers().get_all(IF_NONE_MATCH).iter().cloned().collect();
    // A POST may run tools, and its parts have their own limits.
    let may_run_tools = request.method() == Method::POST;
    let limit = if may_run_tools { Duration::MAX } else { shared.limits.answer_time() };
    let answer = timeout(limit, next.run(request)).await.map_err(|_| {
        Problem::new(ProblemCode::Timeout, format!("there was no answer within {} seconds", limit.as_secs()))
    })?;
    Ok(unless_known(&known, answer))
}

/// Reads a message of MCP whole before its service does, and begins the session of a client with an older revision.
pub(super) async fn mcp_messages(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (mut head, mut body) = request.into_parts();
    let begins = may_begin(&head);
    // The origin is checked already; the service knows fewer names, and would refuse good ones.
    head.headers.remove(ORIGIN);
    head.extensions.insert(Arc::clone(&shared.call_limiter));
    let mut refusal = None;
    if head.method == Method::POST {
        let caller = head.extensions.get().map(|catalog: &RequestCatalog| Arc::clone(&catalog.caller.name));
        let message = body::whole(&shared, &caller.unwrap_or_default(), body).await?;
        refusal = mcp::refusal(&message);
        body = Body::from(message);
    }
    let mut response = match refusal {
        Some((status, refusal)) => no_store(status, Media::Json.content_type(), refusal),
        None => next.run(Request::from_parts(head, body)).await,
    };
    // In front of live servers, MCP has issued a session that it keeps.
    let is_issued = response.headers().contains_key(MCP_SESSION);
    if begins && response.status() == StatusCode::OK && !is_issued {
        let id = HeaderValue::try_from(random_id("s"));
        response.headers_mut().extend(id.map(|id| (MCP_SESSION, id)));
    }
    Ok(response)
}
