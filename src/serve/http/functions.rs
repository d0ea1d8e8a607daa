//! `/v1`: our functions. JSON in, JSON out, or markdown where the client would rather have it.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::kept::{Kept, Varies, with};
use super::negotiate::{Media, preferred};
use super::problem::{Problem, ProblemCode};
use super::{Response, Shared};
use crate::finding::nearest;
use crate::functions::{Answer, Function};
use crate::serve::Caller;
use crate::serve::gate::Stopped;

/// `GET /v1`: every function with its definition.
pub(super) async fn list(request: axum::extract::Request) -> Result<Response, Problem> {
    let definitions: Vec<Value> = Function::all().iter().map(described).collect();
    let (asked, _) = request.into_parts();
    Kept::new(format!("{}\n", json!({ "functions": definitions })), Media::Json)
        .answer(&asked, Varies::Encoding)
}

fn described(function: &Function) -> Value {
    let tool = function.definition();
    json!({
        "name": function.name(),
        "description": tool.map(|tool| tool.description.as_str()),
        "input_schema": tool.and_then(|tool| tool.definition.parameters.as_ref()),
        "example": tool.and_then(|tool| tool.call.as_ref()),
        "url": format!("/v1/{}", function.name()),
    })
}

/// `POST /v1/FUNCTION`.
pub(super) async fn call(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let Some(function) = Function::named(&name) else { return Err(unknown(&name)) };
    let (asked, body) = request.into_parts();
    let passing = shared.gate.enter(function)?;
    let arguments = arguments(&shared, &asked, body).await?;
    let answer = passing.call(&shared.live.context(&caller), arguments).await?;
    Ok(written(&answer, &asked.headers))
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Overloaded => Problem::overloaded(&stopped.to_string()),
            Stopped::Timeout(_) => Problem::new(ProblemCode::Timeout, stopped.to_string()),
        }
    }
}

fn unknown(name: &str) -> Problem {
    let known = || Function::all().iter().map(Function::name);
    let shown: String = name.chars().take(80).collect();
    let message = format!("there is no function `{}`", crate::tool::clean_line(&shown));
    let next = format!("functions are: {}", known().collect::<Vec<_>>().join(", "));
    let near = nearest(name, known()).into_iter().map(ToString::to_string);
    Problem::new(ProblemCode::NotFound, message).nearest(near).next(next)
}

async fn arguments(shared: &Shared, asked: &Parts, body: Body) -> Result<Value, Problem> {
    if let Some(kind) = asked.headers.get(CONTENT_TYPE) {
        let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json =
            kind.eq_ignore_ascii_case("application/json") || kind.to_ascii_lowercase().ends_with("+json");
        if !is_json {
            let message = "arguments are JSON; this body is sent as something else";
            return Err(Problem::new(ProblemCode::UnsupportedMediaType, message));
        }
    }
    if asked.headers.contains_key(http::header::CONTENT_ENCODING) {
        let message = "this body is compressed; arguments are small, send them as they are";
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, message));
    }
    let read = read(asked, body, shared.limits.body_bytes);
    let bytes = timeout(shared.limits.body_time(), read).await.map_err(|_| {
        let seconds = shared.limits.body_seconds;
        Problem::new(ProblemCode::RequestTimeout, format!("the body did not arrive within {seconds} seconds"))
    })??;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::new(ProblemCode::MalformedJson, format!("the body is not JSON: {error}")))
}

async fn read(asked: &Parts, body: Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::new(ProblemCode::ContentTooLarge, format!("a body may have {limit} bytes"));
    let told =
        asked.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut whole = BytesMut::new();
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Problem::new(ProblemCode::BadRequest, "the body is cut short"))?;
        if whole.len() + chunk.len() > limit {
            return Err(too_large());
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

fn written(answer: &Answer, asked: &HeaderMap) -> Response {
    let status = answer.error().map_or(200, |code| code.http_status());
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let liked = preferred(asked, &[Media::Json, Media::Markdown, Media::Text]).unwrap_or(Media::Json);
    let (media, text) = match liked {
        Media::Markdown | Media::Text if answer.is_markdown() => (liked, answer.text().into()),
        _ => (Media::Json, answer.json()),
    };
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    with(status, headers, Body::from(text)).into_response()
}
