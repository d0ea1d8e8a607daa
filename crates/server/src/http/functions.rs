//! `/v1`: the functions. JSON in, JSON out, or markdown where the client prefers it.

use std::error::Error;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Path;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_DISPOSITION, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::LengthLimitError;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::docs::encoded_address;
use super::{RequestContext, Response, Shared};
use crate::metrics::LimitReached;
use crate::response::{Media, Problem, ProblemCode, Tagged, negotiated, no_store, preferred};
use toolcrib_definition::finding::{MAX_OTHERS_VALUES, from_json_bytes, has_too_many_values, nearest};
use toolcrib_definition::quoted;
use toolcrib_front::telemetry::{self, Operation};
use toolcrib_gateway::functions::{Answer, Function, FunctionContext, ToolCall, linked_data};

/// The header with the trace id of a function's answer.
pub(super) const TRACE: HeaderName = HeaderName::from_static("x-trace-id");

/// The header with the idempotency key of a call.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// `GET /v1`: every function with its definition, and the catalog's tools where the mode lists them.
pub(super) async fn list(context: RequestContext) -> Result<Response, Problem> {
    let cache = context.catalog.cache(&context.caller);
    let root = context.catalog.root();
    let make = || {
        let functions: Vec<Value> =
            Function::all().iter().map(|function| described(function, root)).collect();
        let mut listed = json!({ "functions": functions });
        if cache.lists_tools() {
            listed["tools"] = cache.listed_tools().tools().iter().map(|tool| bound(tool, root)).collect();
        }
        Ok(Tagged::new(format!("{listed}\n"), Media::Json))
    };
    // The addresses in it are below the path of the profile, or not.
    cache.answer(if root.is_empty() { "v1" } else { "p/v1" }, make)
}

/// A tool of the catalog as it is bound.
pub fn bound(tool: &rmcp::model::Tool, root: &str) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "annotations": tool.annotations,
        "url": format!("{root}/v1/tools/{}", encoded_address(&tool.name)),
    })
}

/// `POST /v1/tools/NAME`: a tool by any of its names, with its arguments as the body. The call is handled as one of
/// `tool_exec`.
pub(super) async fn run(Path(name): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, body } = context;
    let function = Function::tool_exec();
    let given = arguments(&shared, &request, body).await?;
    let given = if given.is_null() { json!({}) } else { given };
    let idempotency_key = header_key(function, &request.headers)?;
    let passing = shared.call_limiter.acquire(function)?;
    let context = catalog.context(&caller);
    let call = match catalog.cache(&caller).listed_tools().place(&name) {
        Some(place) => ToolCall::listed(&context.view, place),
        None => ToolCall::named(&context.view, &name),
    };
    let call = ToolCall { arguments: given, idempotency_key, ..call };
    let operation = Operation::http_request(function.name(), telemetry::parent_of(&request.headers));
    let answer = operation.observe(passing.call_tool(&context, call), error_type).await?;
    Ok(finished(answer, &context, &request).await)
}

fn described(function: &Function, root: &str) -> Value {
    let tool = function.definition();
    json!({
        "name": function.name(),
        "description": tool.map(|tool| tool.description.as_str()),
        "input_schema": tool.and_then(|tool| tool.definition.parameters.as_ref()),
        "example": tool.and_then(|tool| tool.call.as_ref()),
        "url": format!("{root}/v1/{}", function.name()),
    })
}

/// `POST /v1/FUNCTION`.
pub(super) async fn call(Path(name): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let function = Function::spelled(&name).ok_or_else(|| unknown(&name))?;
    let RequestContext { shared, catalog, caller, request, body } = context;
    if request.method != Method::POST {
        let problem = Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method");
        return Err(problem.header([(ALLOW, HeaderValue::from_static("POST"))]));
    }
    let given = keyed(function, &request.headers, arguments(&shared, &request, body).await?)?;
    let passing = shared.call_limiter.acquire(function)?;
    let context = catalog.context(&caller);
    let operation = Operation::http_request(function.name(), telemetry::parent_of(&request.headers));
    let calling = passing.call(&context, given);
    let answer = operation.observe(calling, error_type).await?;
    Ok(finished(answer, &context, &request).await)
}

/// The type of the error of a call, for telemetry.
fn error_type(answer: &Result<Answer, LimitReached>) -> Option<String> {
    match answer {
        Ok(answer) => answer.error().map(|code| code.as_str().to_string()),
        Err(reached) => Some(reached.code().to_string()),
    }
}

/// A call with the key of its `Idempotency-Key`, unless it says one itself.
fn keyed(function: &Function, headers: &HeaderMap, mut call: Value) -> Result<Value, Problem> {
    if let Some(key) = header_key(function, headers)?
        && let Some(fields) = call.as_object_mut()
        && fields.get("idempotency_key").is_none_or(Value::is_null)
    {
        fields.insert("idempotency_key".into(), key.into());
    }
    Ok(call)
}

/// The key that `Idempotency-Key` says (draft-ietf-httpapi-idempotency-key-header). A key that would be overlooked is refused,
/// since the call could run twice.
fn header_key<'h>(function: &Function, headers: &'h HeaderMap) -> Result<Option<&'h str>, Problem> {
    let mut keys = headers.get_all(KEY).iter();
    let Some(key) = keys.next().filter(|_| function.runs_tools()) else { return Ok(None) };
    let refused =
        |what: &str| Err(Problem::new(ProblemCode::ValidationError, format!("`Idempotency-Key` {what}")));
    if !function.takes_idempotency_key() {
        return refused(
            "is for `tool_exec` and tools by name; here each call has an `idempotency_key` of its own",
        );
    }
    let (Ok(key), None) = (key.to_str(), keys.next()) else {
        return refused("is one text of ASCII characters");
    };
    Ok(Some(key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key)))
}

impl From<LimitReached> for Problem {
    fn from(stopped: LimitReached) -> Self {
        match stopped {
            LimitReached::Overloaded => Problem::overloaded(&stopped.to_string()),
            LimitReached::Timeout(_) => Problem::new(ProblemCode::Timeout, stopped.to_string()),
        }
    }
}

pub(super) fn unknown(name: &str) -> Problem {
    let known = || Function::all().iter().map(Function::name);
    let message = format!("there is no function `{}`", quoted(name));
    let next = format!("functions are: {}", known().collect::<Vec<_>>().join(", "));
    let near = nearest(name, known()).into_iter().map(ToString::to_string);
    Problem::new(ProblemCode::NotFound, message).nearest(near).next(next)
}

async fn arguments(shared: &Shared, request: &Parts, body: Body) -> Result<Value, Problem> {
    let bytes = json_bytes(shared, request, body).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    checked_json(&bytes)
}

/// The bytes of a body that is sent as JSON.
pub(super) async fn json_bytes(shared: &Shared, request: &Parts, body: Body) -> Result<Bytes, Problem> {
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
    whole(shared, body).await
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
pub(super) async fn whole(shared: &Shared, body: Body) -> Result<Bytes, Problem> {
    let limit = shared.limits.body_bytes;
    let too_large = || Problem::new(ProblemCode::ContentTooLarge, format!("a body may have {limit} bytes"));
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match timeout(shared.limits.client_time(), to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.source().is_some_and(|cause| cause.is::<LengthLimitError>()) => {
            Err(too_large())
        }
        Ok(Err(_)) => Err(Problem::new(ProblemCode::BadRequest, "the body is cut short")),
        Err(_) => {
            let seconds = shared.limits.client_seconds;
            let message = format!("the body did not arrive within {seconds} seconds");
            Err(Problem::new(ProblemCode::RequestTimeout, message))
        }
    }
}

/// The answer to a call, with links to its data.
async fn finished(mut answer: Answer, context: &FunctionContext, request: &Parts) -> Response {
    if !answer.originals().is_empty()
        && let Err(error) = answer.link_data(&context.services.state, &context.caller.name).await
    {
        tracing::warn!(%error, "the data of a result cannot be stored");
    }
    traced(written(&answer, &request.headers), context)
}

/// The same answer with its headers.
fn traced(mut response: Response, context: &FunctionContext) -> Response {
    response.headers_mut().extend(HeaderValue::try_from(context.trace.id()).map(|id| (TRACE, id)));
    response
}

fn written(answer: &Answer, request: &HeaderMap) -> Response {
    let status = answer.error().map_or(200, |code| code.http_status());
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (media, text) = represented(answer, request);
    let mut response = negotiated(status, media.content_type(), text);
    let headers = response.headers_mut();
    headers.extend(answer.retry_after().map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
    response
}

/// The answer in the form that the client prefers.
fn represented(answer: &Answer, request: &HeaderMap) -> (Media, Bytes) {
    let written_as = [Media::Json, Media::Markdown, Media::Text];
    let accept = answer.is_markdown().then(|| preferred(request, &written_as)).flatten();
    match accept {
        Some(media @ (Media::Markdown | Media::Text)) => (media, answer.text().into()),
        _ => (Media::Json, answer.json()),
    }
}

/// The media type of data that a browser should not open.
const DATA: &str = "application/octet-stream";

/// `GET /v1/results/ID/blocks/N`: a picture, a sound or other data of a result, for the caller whose call it was.
pub(super) async fn result_data(
    Path((id, block)): Path<(String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, .. } = context;
    let data = linked_data(&catalog.services().state, &caller.name, (&id, &block)).await;
    let data = data.map_err(|error| Problem::of_state(&error, "results cannot be read now"))?;
    let Some(data) = data else {
        let problem = Problem::new(ProblemCode::NotFound, "this data is not stored, or no longer");
        return Err(problem.next("send the call again"));
    };
    let media = data.media_type.as_deref().filter(|media| is_harmless(media));
    let media = media.and_then(|media| HeaderValue::try_from(media).ok());
    let mut response = no_store(StatusCode::OK, DATA, data.bytes);
    let headers = response.headers_mut();
    match media {
        Some(media) => headers.insert(CONTENT_TYPE, media),
        None => headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    };
    Ok(response)
}

/// Whether a browser runs nothing in data of this type: servers are strangers, and the page would be one of ours.
fn is_harmless(media: &str) -> bool {
    let is_media = ["image/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind));
    (is_media && !media.contains("xml")) || media == "application/pdf"
}
