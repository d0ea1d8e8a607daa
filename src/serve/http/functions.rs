//! `/v1`: the functions. JSON in, JSON out, or markdown where the client prefers it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Path;
use bytes::{Bytes, BytesMut};
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, RETRY_AFTER, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::address::encoded;
use super::request_context::RequestContext;
use super::{Response, Shared, result_data};
use crate::exec::Caller;
use crate::finding::{from_json_bytes, nearest};
use crate::functions::{Answer, Function, FunctionContext, ToolCall};
use crate::serve::RequestCatalog;
use crate::serve::call_limiter::LimitReached;
use crate::serve::response::build::{negotiated, with};
use crate::serve::response::cached_body::{CachedBody, Vary, precondition, tag};
use crate::serve::response::negotiate::{Media, preferred};
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::tool::quoted;

/// The header with the trace id of a function's answer.
pub(super) const TRACE: HeaderName = HeaderName::from_static("x-trace-id");

/// The header with the idempotency key of a call.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// `GET /v1`: every function with its definition, and the catalog's tools where the mode lists them.
pub(super) async fn list(context: RequestContext) -> Result<Response, Problem> {
    let (cache, root) = (context.catalog.cache(&context.caller), context.catalog.root());
    let make = || {
        let functions: Vec<Value> =
            Function::all().iter().map(|function| described(function, root)).collect();
        let mut listed = json!({ "functions": functions });
        if cache.lists_tools() {
            listed["tools"] = cache.listed_tools().tools().iter().map(|tool| bound(tool, root)).collect();
        }
        CachedBody::new(format!("{listed}\n"), Media::Json)
    };
    cache.tool_list_body(!root.is_empty()).get_or_init(make).answer(&context.request, Vary::Encoding)
}

/// A tool of the catalog as it is bound.
fn bound(tool: &rmcp::model::Tool, root: &str) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "annotations": tool.annotations,
        "url": format!("{root}/v1/tools/{}", encoded(&tool.name)),
    })
}

/// `POST /v1/tools/NAME`: a tool by any of its names, with its arguments as the body. The call is handled as one of
/// `tool_exec`.
pub(super) async fn run(Path(name): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, body } = context;
    let function = Function::tool_exec();
    let passing = shared.call_limiter.acquire(function)?;
    let given = arguments(&shared, &request, body).await?;
    let given = if given.is_null() { json!({}) } else { given };
    let idempotency_key = header_key(function, &request.headers)?;
    let context = catalog.context(&caller);
    let call = match catalog.cache(&caller).listed_tools().place(&name) {
        Some(place) => ToolCall::listed(&context.view, place),
        None => ToolCall::named(&context.view, &name),
    };
    let call = ToolCall { arguments: given, idempotency_key, ..call };
    let mut answer = passing.call_tool(&context, call).await?;
    result_data::link(&mut answer, &context.services, &caller).await;
    Ok(traced(written(&answer, &request.headers), &context))
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

/// `POST /v1/FUNCTION` through the router: percent-encoded names, and unknown ones.
pub(super) async fn call(Path(name): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, body } = context;
    let Some(function) = Function::spelled(&name) else { return Err(unknown(&name)) };
    answer(&shared, (&catalog, &caller), function, &request, body).await
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

/// The function that a request calls by its plain name; with GET where it runs no tools, so that a link does no harm.
/// Calls do not pass the router, which would take longer than many of them.
pub(super) fn called(request: &Parts) -> Option<&'static Function> {
    let name = request.uri.path().strip_prefix("/v1/")?;
    let may_be_read = |function: &Function| request.method == Method::GET && !function.runs_tools();
    Function::spelled(name).filter(|function| request.method == Method::POST || may_be_read(function))
}

/// Answers a call.
pub(super) async fn answer<B>(
    shared: &Shared,
    (catalog, caller): (&RequestCatalog, &Caller),
    function: &'static Function,
    request: &Parts,
    body: B,
) -> Result<Response, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let passing = shared.call_limiter.acquire(function)?;
    let arguments = match request.method == Method::GET {
        true => super::query::arguments(function, request.uri.query().unwrap_or_default())?,
        false => keyed(function, &request.headers, arguments(shared, request, body).await?)?,
    };
    let context = catalog.context(caller);
    let mut answer = passing.call(&context, arguments).await?;
    result_data::link(&mut answer, &context.services, caller).await;
    let is_kept = request.method == Method::GET && function.gives_docs() && answer.is_ok();
    let written = match is_kept {
        true => tagged(&answer, &request.headers)?,
        false => written(&answer, &request.headers),
    };
    Ok(traced(written, &context))
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

async fn arguments<B>(shared: &Shared, request: &Parts, body: B) -> Result<Value, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let bytes = json_bytes(shared, request, body).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    checked_json(&bytes)
}

/// The bytes of a body that is sent as JSON.
pub(super) async fn json_bytes<B>(shared: &Shared, request: &Parts, body: B) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
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
    whole(shared, request, body).await
}

/// A body as JSON, which names no field twice.
pub(super) fn checked_json(bytes: &[u8]) -> Result<Value, Problem> {
    from_json_bytes(bytes).map_err(|error| match error.is_data() {
        true => {
            Problem::new(ProblemCode::ValidationError, format!("in the body {error}")).next("send it once")
        }
        false => Problem::new(ProblemCode::MalformedJson, format!("the body is not JSON: {error}")),
    })
}

/// The whole body, unless it is too long, or takes too long.
pub(super) async fn whole<B>(shared: &Shared, request: &Parts, body: B) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let read = read(request, body, shared.limits.body_bytes);
    within(shared.limits.body_time(), read).await.map_err(|_| {
        let seconds = shared.limits.body_seconds;
        Problem::new(ProblemCode::RequestTimeout, format!("the body did not arrive within {seconds} seconds"))
    })?
}

/// The result of a read within a time limit. Nearly every body arrives with its head and is ready at the first poll;
/// only other reads start a timer.
async fn within<T>(limit: Duration, read: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut read = pin!(read);
    let mut is_asked_for = false;
    let at_once = poll_fn(|context| match read.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if is_asked_for => Poll::Ready(None),
        Poll::Pending => {
            is_asked_for = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    });
    match at_once.await {
        Some(done) => Ok(done),
        None => timeout(limit, read).await,
    }
}

/// The whole body. A body in one piece, as small ones are, is not copied.
async fn read<B>(request: &Parts, mut body: B, limit: usize) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let too_large = || Problem::new(ProblemCode::ContentTooLarge, format!("a body may have {limit} bytes"));
    let declared =
        request.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let (mut only, mut whole) = (Bytes::new(), BytesMut::new());
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await else { break };
        let frame = frame.map_err(|_| Problem::new(ProblemCode::BadRequest, "the body is cut short"))?;
        let Ok(piece) = frame.into_data() else { continue };
        if only.len() + whole.len() + piece.len() > limit {
            return Err(too_large());
        }
        if only.is_empty() && whole.is_empty() {
            only = piece;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut only));
            whole.extend_from_slice(&piece);
        }
    }
    Ok(if whole.is_empty() { only } else { whole.freeze() })
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

/// A doc with its tag, or only that it has not changed since the client has read it, as for `/tools/`.
fn tagged(answer: &Answer, request: &HeaderMap) -> Result<Response, Problem> {
    let (media, text) = represented(answer, request);
    let tag = tag(&blake3::hash(&text).to_hex()[..20]);
    let mut response = match precondition(request, &tag)? {
        Some(status) => with(status, HeaderMap::new(), Body::empty()),
        None => negotiated(StatusCode::OK, media.content_type(), text),
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ETAG, tag);
    Ok(response)
}
