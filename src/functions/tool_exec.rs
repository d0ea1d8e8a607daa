//! `tool_exec`: runs a tool by its op. `tool_exec_read` and `tool_exec_write` are the same for clients that ask a
//! person depending on the effect of a function.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::read;
use super::{Answer, AnswerFuture, CatalogView, Function, FunctionContext, Refusal};
use crate::arguments::decoded;
use crate::catalog::Resolved;
use crate::exec::{self, CallRequest, CallResult, Outcome, next_page};
use crate::guard::guarded;
use crate::state::WaitBudget;

/// Characters of the op that the error of an unreadable call repeats.
const OP_CHARS: usize = 80;

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, input: Value) -> AnswerFuture {
    Box::pin(answer(function, context, input))
}

async fn answer(function: &Function, context: FunctionContext, input: Value) -> Result<Answer, Refusal> {
    let op = input.get("op").and_then(Value::as_str).unwrap_or_default();
    let op: String = op.chars().take(OP_CHARS).collect();
    let request = CallRequest::read(function.name(), function.effect_limit(), input);
    if let Ok(request) = &request
        && let Some(own) = own_read(&context.view, &request.op)
    {
        return Ok(enveloped(read_with(own, &context, request.clone()).await));
    }
    Ok(run_request(context, function, &op, request).await)
}

/// Runs a request, or answers the refusal of an unreadable one.
async fn run_request(
    context: FunctionContext,
    function: &Function,
    op: &str,
    request: Result<CallRequest, Refusal>,
) -> Answer {
    let context = Arc::new(context);
    enveloped(match request {
        Ok(request) => exec::execute(context, request).await,
        Err(failure) => {
            exec::refuse(context, function.name(), op.chars().take(OP_CHARS).collect(), failure).await
        }
    })
}

/// A call of a tool by its own name; it is run like one of `tool_exec`.
#[derive(Clone, Debug)]
pub struct ToolCall<'c> {
    /// A name of the tool.
    pub name: &'c str,
    /// Its index in the caller's catalog, where the name means one tool.
    pub tool: Option<usize>,
    /// Whether the caller's client lists the tool by this name.
    pub is_listed: bool,
    /// The arguments.
    pub arguments: Value,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'c str>,
    /// Whether the client gets the answer of an MCP server as it came.
    pub as_is: bool,
}

impl<'c> ToolCall<'c> {
    /// A call of the tool at this index, without arguments.
    pub fn listed(view: &'c CatalogView, place: usize) -> Self {
        let name = view.catalog().tools.get(place).map_or("", |tool| &tool.name);
        Self {
            name,
            tool: Some(place),
            is_listed: true,
            as_is: false,
            arguments: Value::Null,
            idempotency_key: None,
        }
    }

    /// A call of the tool with this name, without arguments.
    pub fn named(view: &'c CatalogView, name: &'c str) -> Self {
        let tool = view.resolve(name.trim()).ok();
        Self { name, tool, is_listed: false, as_is: false, arguments: Value::Null, idempotency_key: None }
    }

    /// Answers the call. A panic is answered as well.
    pub async fn call(self, context: &FunctionContext) -> Answer {
        let answer = guarded(WaitBudget::current().with(self.run(context.clone()))).await;
        let answer = answer.unwrap_or_else(|_| super::function::panicked().into());
        answer.with_registry_version(&context.view.catalog().version)
    }

    async fn run(self, context: FunctionContext) -> Answer {
        let Self { name, tool, is_listed, arguments, idempotency_key, as_is } = self;
        if tool.is_none()
            && let Some(own) = own_read(&context.view, name)
        {
            let request = CallRequest { args: arguments, ..CallRequest::default() };
            return enveloped(read_with(own, &context, request).await);
        }
        let function = Function::tool_exec();
        let request = CallRequest::by_name(function.name(), (name, tool), arguments, idempotency_key)
            .map(|request| CallRequest { is_listed, as_is, ..request });
        run_request(context, function, name, request).await
    }
}

/// The function of ours that an op means, if it runs no tools: the caller's list may not have it. A tool with this name
/// wins.
fn own_read(view: &CatalogView, op: &str) -> Option<&'static Function> {
    let own = Function::spelled(op).filter(|function| !function.runs_tools())?;
    matches!(view.resolve(op), Err(Resolved::Unknown(_))).then_some(own)
}

/// Answers a call of a function as an op, in an envelope. The function checks its arguments and leaves a trace itself.
async fn read_with(own: &'static Function, context: &FunctionContext, request: CallRequest) -> CallResult {
    let started = Instant::now();
    let CallRequest { args, extra_fields, dry_run, mut warnings, .. } = request;
    let args = match args {
        Value::Null => Value::Object(extra_fields),
        Value::String(text) => decoded(&text).unwrap_or(Value::String(text)),
        args => args,
    };
    if dry_run == Some(true) {
        warnings.push(format!("`{}` changes nothing, and was not only checked but answered", own.name()));
    }
    let answer = own.call(context, args).await;
    let semantic = answer.body().get("meta").and_then(|meta| meta.get("semantic")).cloned();
    let outcome = match answer.into_result() {
        Ok(fields) => Outcome::Result(Value::Object(fields)),
        Err(refusal) => Outcome::Failed(refusal),
    };
    let mut meta = Map::new();
    meta.insert("trace_id".into(), context.trace.id().into());
    meta.insert("latency_ms".into(), (started.elapsed().as_millis() as u64).into());
    meta.insert("warnings".into(), warnings.into());
    meta.extend(semantic.map(|status| ("semantic".to_string(), status)));
    CallResult { op: own.name().to_string(), outcome, repaired: Vec::new(), meta, original: None }
}

fn enveloped(mut call_result: CallResult) -> Answer {
    let (error, original) = (call_result.outcome.error(), call_result.original.take());
    Answer::enveloped(call_result.envelope(), error).with_originals(original.map(|original| (0, *original)))
}

// `read_result`: the next part of a result that was too long to be returned whole.

/// Fewest bytes of a part.
const LEAST: usize = 16;

#[derive(Deserialize)]
struct PartArguments {
    cursor: String,
    max_bytes: Option<usize>,
    select: Option<Value>,
}

/// Answers a call of `read_result`.
pub(super) fn read_result(
    function: &'static Function,
    context: FunctionContext,
    arguments: Value,
) -> AnswerFuture {
    Box::pin(async move {
        let asked: PartArguments = read(function.name(), arguments)?;
        let most = context.view.catalog().config.exec.result_bytes;
        let limit = asked.max_bytes.unwrap_or(most).clamp(LEAST, most.max(LEAST));
        let (state, caller) = (&*context.services.state, &context.caller.name);
        let fields = next_page(state, caller, &asked.cursor, (asked.select, limit)).await?;
        Ok(Answer::new(fields, None))
    })
}
