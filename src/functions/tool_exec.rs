//! `tool_exec`: runs a tool by its op. `tool_exec_read` and `tool_exec_write` are the same for clients that ask a person by
//! what a function may do.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{Answer, AnswerFuture, Function, FunctionContext, READ_RESULT, Refusal};
use crate::exec::{self, CallResult, Failure, Outcome};

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, input: Value) -> AnswerFuture {
    Box::pin(answer(function, context, input))
}

async fn answer(function: &Function, context: FunctionContext, input: Value) -> Result<Answer, Refusal> {
    if let Some(call_result) = rest(&context, &input).await {
        return Ok(enveloped(call_result));
    }
    Ok(enveloped(exec::answer(Arc::new(context), function.name(), function.effect_limit(), input).await))
}

/// The next part of a long result, for who is shown no function to read it with: `read_result` as an op, unless a tool is
/// called that.
async fn rest(context: &FunctionContext, input: &Value) -> Option<CallResult> {
    let op = input.get("op")?.as_str().filter(|op| *op == READ_RESULT.name())?;
    if context.view.resolve(op).is_ok() {
        return None;
    }
    let started = Instant::now();
    let args = input.get("args").cloned().unwrap_or_default();
    let answer = Function::named(op)?.call(context, args).await;
    let mut body = answer.body().clone();
    body.shift_remove("ok");
    body.shift_remove("meta");
    let outcome = match answer.error() {
        None => Outcome::Result(Value::Object(body)),
        Some(code) => {
            let error = body.shift_remove("error").unwrap_or_default();
            let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
            let mut failure = Failure::new(code, text("message"), text("next_action"));
            failure.help_path = "root".into();
            Outcome::Failed(failure)
        }
    };
    let meta = json!({
        "trace_id": context.trace.id(),
        "latency_ms": started.elapsed().as_millis() as u64,
        "warnings": [],
    });
    let meta = if let Value::Object(meta) = meta { meta } else { Map::new() };
    Some(CallResult { op: op.to_string(), outcome, repaired: Vec::new(), meta })
}

fn enveloped(call_result: CallResult) -> Answer {
    let error = call_result.outcome.error();
    Answer::enveloped(call_result.envelope(), error)
}
