//! `/v1`: the functions. JSON in, JSON out, or markdown where the client prefers it.

use axum::body::Body;
use axum::extract::Path;
use bytes::Bytes;
use http::header::{ALLOW, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::address::encoded_address;
use super::body::{checked_json, json_bytes};
use super::idempotency_header::{header_key, keyed};
use super::request_context::{RequestContext, Shared};
use crate::listed_tools::name_of;
use crate::response::{Media, Problem, ProblemCode, Response, Tagged, negotiated, preferred};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::quoted;
use toolcrib_front::telemetry::{self, Operation};
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::{Answer, Function, FunctionContext, ToolCall, ToolError};

/// The header with the trace id of a function's answer.
pub(super) const TRACE: HeaderName = HeaderName::from_static("x-trace-id");

/// `GET /v1`: every function with its definition, and the catalog's tools where the mode lists them.
pub(super) async fn list(context: RequestContext) -> Result<Response, Problem> {
    let cache = &context.catalog.served;
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
pub fn bound(tool: &Value, root: &str) -> Value {
    json!({
        "name": tool["name"],
        "description": tool["description"],
        "input_schema": tool["inputSchema"],
        "annotations": tool["annotations"],
        "url": format!("{root}/v1/tools/{}", encoded_address(name_of(tool))),
    })
}

/// `POST /v1/tools/NAME`: a tool by any of its names, with its arguments as the body. The call is handled as one of
/// `tool_exec`.
pub(super) async fn run(
    Path(name): Path<String>,
    context: RequestContext,
    body: Body,
) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request } = context;
    let function = Function::tool_exec();
    let given = arguments(&shared, &catalog.caller, &request, body).await?;
    let given = if given.is_null() { json!({}) } else { given };
    let idempotency_key = header_key(function, &request.headers)?;
    let passing = shared.call_limiter.acquire(function, &catalog.caller.name)?;
    let context = catalog.context();
    let call = match catalog.served.listed_tools().place(&name) {
        Some(place) => ToolCall::listed(&context.view, place),
        None => ToolCall::named(&context.view, &name),
    };
    let call = ToolCall { arguments: given, idempotency_key, ..call };
    answered(function, &context, &request, passing.call_tool(&context, call)).await
}

fn described(function: &Function, root: &str) -> Value {
    let tool = function.definition();
    json!({
        "name": function.name(),
        "description": tool.map(|tool| tool.texts.description.as_str()),
        "input_schema": tool.and_then(|tool| tool.input.schema.as_ref()),
        "example": tool.and_then(|tool| tool.input.call.as_ref()),
        "url": format!("{root}/v1/{}", function.name()),
    })
}

/// `POST /v1/FUNCTION`.
pub(super) async fn call(
    Path(name): Path<String>,
    context: RequestContext,
    body: Body,
) -> Result<Response, Problem> {
    let function = Function::spelled(&name).ok_or_else(|| unknown(&name))?;
    let RequestContext { shared, catalog, request } = context;
    if request.method != Method::POST {
        let problem = Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method");
        return Err(problem.header([(ALLOW, HeaderValue::from_static("POST"))]));
    }
    let given =
        keyed(function, &request.headers, arguments(&shared, &catalog.caller, &request, body).await?)?;
    let passing = shared.call_limiter.acquire(function, &catalog.caller.name)?;
    let context = catalog.context();
    answered(function, &context, &request, passing.call(&context, given)).await
}

fn unknown(name: &str) -> Problem {
    let known = || Function::all().iter().map(Function::name);
    let message = format!("there is no function `{}`", quoted(name));
    let next = format!("functions are: {}", known().collect::<Vec<_>>().join(", "));
    let near = nearest(name, known()).into_iter().map(ToString::to_string);
    Problem::new(ProblemCode::NotFound, message).nearest(near).next(next)
}

async fn arguments(shared: &Shared, caller: &Caller, request: &Parts, body: Body) -> Result<Value, Problem> {
    let bytes = json_bytes(shared, &caller.name, request, body).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    checked_json(&bytes)
}

/// The answer to a call, with links to its data, and its trace.
async fn answered(
    function: &Function,
    context: &FunctionContext,
    request: &Parts,
    calling: impl Future<Output = Result<Answer, Problem>>,
) -> Result<Response, Problem> {
    let operation = Operation::http_request(function.name(), telemetry::parent_of(&request.headers));
    let error_type = |answer: &Result<Answer, Problem>| match answer {
        Ok(answer) => answer.error().map(|code| code.as_str().to_string()),
        Err(problem) => Some(problem.code.as_str().to_string()),
    };
    let mut answer = operation.observe(calling, error_type).await?;
    if let Err(error) = answer.link_data(&context.services.state, &context.caller.name).await {
        tracing::warn!(%error, "the data of a result cannot be stored");
    }
    let mut response = written(&answer, &request.headers);
    response.headers_mut().extend(HeaderValue::try_from(context.trace.id()).map(|id| (TRACE, id)));
    Ok(response)
}

fn written(answer: &Answer, request: &HeaderMap) -> Response {
    let status = answer.error().map_or(200, |code| code.http_status());
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (media, text) = represented(answer, request);
    let mut response = negotiated(status, media.content_type(), text);
    let headers = response.headers_mut();
    let retry_after = answer.failure().and_then(ToolError::retry_after);
    headers.extend(retry_after.map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
    response
}

/// The answer in the form that the client prefers.
fn represented(answer: &Answer, request: &HeaderMap) -> (Media, Bytes) {
    if let Some(text) = answer.markdown()
        && let Some(media @ (Media::Markdown | Media::Text)) =
            preferred(request, &[Media::Json, Media::Markdown, Media::Text])
    {
        return (media, text.into());
    }
    (Media::Json, answer.json())
}
