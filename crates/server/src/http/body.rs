//! The body of a request, up to limits of length and time, and as JSON.

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::timeout;

use super::request_context::Shared;
use crate::response::{Problem, ProblemCode};
use toolcrib_definition::document::{MAX_OTHERS_VALUES, from_json_bytes, has_too_many_values};
use toolcrib_front::shares::Share;

/// The bytes of a body that is sent as JSON.
pub(super) async fn json_bytes(
    shared: &Shared,
    caller: &str,
    request: &Parts,
    body: Body,
) -> Result<Bytes, Problem> {
    if let Some(kind) = request.headers.get(CONTENT_TYPE) {
        let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json =
            kind.eq_ignore_ascii_case("application/json") || kind.to_ascii_lowercase().ends_with("+json");
        if !is_json {
            let message = "arguments are JSON; this body is sent as something else";
            return Err(Problem::new(ProblemCode::UnsupportedMediaType, message));
        }
    }
    if request.headers.contains_key(http::header::CONTENT_ENCODING) {
        let message = "this body is compressed; arguments are small, send them as they are";
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, message));
    }
    whole(shared, caller, body).await
}

/// A body as JSON, which names no field twice.
pub(super) fn checked_json(bytes: &[u8]) -> Result<Value, Problem> {
    if has_too_many_values(bytes) {
        let message = format!("a body may have {MAX_OTHERS_VALUES} values");
        return Err(Problem::new(ProblemCode::ContentTooLarge, message));
    }
    from_json_bytes(bytes).map_err(|error| {
        if error.is_data() {
            Problem::new(ProblemCode::ValidationError, format!("in the body {error}")).next("send it once")
        } else {
            Problem::new(ProblemCode::MalformedJson, format!("the body is not JSON: {error}"))
        }
    })
}

/// The whole body, unless it is too long, or takes too long.
pub(super) async fn whole(shared: &Shared, caller: &str, body: Body) -> Result<Bytes, Problem> {
    let read = timeout(shared.limits.client_time(), read(shared, caller, body)).await;
    read.unwrap_or_else(|_| {
        let seconds = shared.limits.client_seconds;
        let message = format!("the body did not arrive within {seconds} seconds");
        Err(Problem::new(ProblemCode::RequestTimeout, message))
    })
}

/// Reads a body. While it is on its way, its bytes count among those of all bodies.
async fn read(shared: &Shared, caller: &str, mut body: Body) -> Result<Bytes, Problem> {
    let limit = shared.limits.body_bytes;
    let too_large = || Problem::new(ProblemCode::ContentTooLarge, format!("a body may have {limit} bytes"));
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut share: Option<Share> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::new(ProblemCode::BadRequest, "the body is cut short"))?;
        let Ok(part) = frame.into_data() else { continue };
        if part.len() > limit - bytes.len() {
            return Err(too_large());
        }
        let more = u32::try_from(part.len()).ok().and_then(|count| shared.bodies.try_take(caller, count));
        let more = more.ok_or_else(|| Problem::overloaded("too many bodies are on their way"))?;
        match &mut share {
            Some(share) => share.add(more),
            None => share = Some(more),
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes.into())
}
