//! `tool_exec`: runs a tool by its op. `tool_exec_read` and `tool_exec_write` are the same for clients that ask a
//! person depending on the effect of a function.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{Answer, AnswerFuture, CatalogView, Function, FunctionContext, Refusal};
use crate::exec::{self, CallRequest, CallResult, EffectLimit, Outcome};
use crate::guard::guarded;
use crate::state::Patience;

/// The function that such calls count as.
const TOOL_EXEC: &str = "tool_exec";
/// The function that reads on.
const READ: &str = "read_result";
/// The most characters that are told of the op of a call that could not be read.
const OP_CHARS: usize = 80;

/// Answers a call.
pub(super) fn run(context: FunctionContext, input: Value) -> AnswerFuture {
    Box::pin(answer(context, TOOL_EXEC, EffectLimit::None, input))
}

/// Answers a call that may change nothing.
pub(super) fn run_reads(context: FunctionContext, input: Value) -> AnswerFuture {
    Box::pin(answer(context, "tool_exec_read", EffectLimit::ReadsOnly, input))
}

/// Answers a call that may change something.
pub(super) fn run_changes(context: FunctionContext, input: Value) -> AnswerFuture {
    Box::pin(answer(context, "tool_exec_write", EffectLimit::WritesOnly, input))
}

async fn answer(
    context: FunctionContext,
    function: &'static str,
    limit: EffectLimit,
    input: Value,
) -> Result<Answer, Refusal> {
    let op = input.get("op").and_then(Value::as_str).unwrap_or_default();
    let op: String = op.chars().take(OP_CHARS).collect();
    if op == READ && context.view.resolve(READ).is_err() {
        return Ok(enveloped(rest(&context, input.get("args").cloned().unwrap_or_default()).await));
    }
    Ok(run_request(context, function, &op, CallRequest::read(function, limit, input)).await)
}

/// Runs a call as it was read, or says why it could not be.
async fn run_request(
    context: FunctionContext,
    function: &'static str,
    op: &str,
    request: Result<CallRequest, Refusal>,
) -> Answer {
    let context = Arc::new(context);
    enveloped(match request {
        Ok(request) => exec::run(context, request).await,
        Err(failure) => exec::refuse(context, function, op.chars().take(OP_CHARS).collect(), failure).await,
    })
}

/// A call of a tool by its own name; it takes the way of `tool_exec`.
#[derive(Clone, Debug)]
pub struct ToolCall<'c> {
    /// A name of the tool.
    pub name: &'c str,
    /// Its place in the catalog of the caller, where the name means one tool.
    pub tool: Option<usize>,
    /// The arguments.
    pub arguments: Value,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'c str>,
}

impl<'c> ToolCall<'c> {
    /// A call of the tool at this place, without arguments.
    pub fn listed(view: &'c CatalogView, place: usize) -> Self {
        let name = view.catalog().tools.get(place).map_or("", |tool| &tool.name);
        Self { name, tool: Some(place), arguments: Value::Null, idempotency_key: None }
    }

    /// A call of the tool that goes by this name, without arguments.
    pub fn named(view: &'c CatalogView, name: &'c str) -> Self {
        let tool = view.resolve(name.trim()).ok();
        Self { name, tool, arguments: Value::Null, idempotency_key: None }
    }

    /// Answers the call. A panic is answered as well.
    pub async fn call(self, context: &FunctionContext) -> Answer {
        let answer = guarded(Patience::current().with(self.run(context.clone()))).await;
        let answer = answer.unwrap_or_else(|_| super::panicked().into());
        answer.with_registry_version(&context.view.catalog().version)
    }

    async fn run(self, context: FunctionContext) -> Answer {
        let Self { name, tool, arguments, idempotency_key } = self;
        if name == READ && tool.is_none() {
            return enveloped(rest(&context, arguments).await);
        }
        let request = CallRequest::by_name(TOOL_EXEC, (name, tool), arguments, idempotency_key);
        run_request(context, TOOL_EXEC, name, request).await
    }
}

/// The next part of a long result, for who is shown no function to read it with: `read_result` as an op, unless a tool is
/// called that.
async fn rest(context: &FunctionContext, args: Value) -> CallResult {
    let started = Instant::now();
    let result = match Function::named(READ) {
        Some(function) => function.call(context, args).await.into_result(),
        None => Ok(Map::new()),
    };
    let outcome = match result {
        Ok(fields) => Outcome::Result(Value::Object(fields)),
        Err(refusal) => {
            let mut failure = Refusal::new(refusal.code, refusal.message, refusal.next_action);
            failure.help_path = Some("root".into());
            Outcome::Failed(failure)
        }
    };
    let meta = json!({
        "trace_id": context.trace.id(),
        "latency_ms": started.elapsed().as_millis() as u64,
        "warnings": [],
    });
    let meta = if let Value::Object(meta) = meta { meta } else { Map::new() };
    CallResult { op: READ.to_string(), outcome, repaired: Vec::new(), meta }
}

fn enveloped(call_result: CallResult) -> Answer {
    let error = call_result.outcome.error();
    Answer::enveloped(call_result.envelope(), error)
}
