//! `call_tool`: a call in the words of the discovery protocol; it runs like one of `tool_exec`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{path, read};
use crate::arguments::FieldError;
use crate::exec::{self, CallRequest, CallResult, Outcome};
use crate::functions::{Answer, AnswerFuture, Function, FunctionContext, Refusal};

#[derive(Deserialize)]
struct Arguments {
    tool_id: String,
    arguments: Option<Map<String, Value>>,
    dry_run: Option<bool>,
}

/// Answers a call.
pub(in crate::functions) fn run(
    function: &'static Function,
    context: FunctionContext,
    arguments: Value,
) -> AnswerFuture {
    Box::pin(answer(function, context, arguments))
}

async fn answer(function: &Function, context: FunctionContext, arguments: Value) -> Result<Answer, Refusal> {
    let asked: Arguments = read(function.name(), arguments)?;
    let (index, tool) = path::named_tool(&context.view, &asked.tool_id)?;
    let op = tool.op.clone();
    let request = CallRequest {
        function: function.name(),
        op: op.clone(),
        tool: Some(index),
        args: asked.arguments.map(Value::Object).unwrap_or_default(),
        dry_run: asked.dry_run,
        ..CallRequest::default()
    };
    let call_result = exec::execute(Arc::new(context), request).await;
    match call_result.outcome {
        Outcome::Failed(failure) => Err(refusal(failure, &op)),
        Outcome::Result(_) | Outcome::Replayed(_) => Ok(answered(call_result)),
    }
}

/// The result, with notes on the call.
fn answered(mut call_result: CallResult) -> Answer {
    let original = call_result.original.take();
    let mut fields = Map::new();
    fields.insert("ok".into(), true.into());
    fields.insert("tool_id".into(), call_result.op.as_str().into());
    let repaired = serde_json::to_value(&call_result.repaired).unwrap_or_default();
    let mut envelope = call_result.envelope();
    fields.insert("result".into(), envelope.shift_remove("result").unwrap_or_default());
    if repaired.as_array().is_some_and(|repaired| !repaired.is_empty()) {
        fields.insert("repaired".into(), repaired);
    }
    if let Some(Value::Object(mut meta)) = envelope.shift_remove("meta") {
        meta.shift_remove("trace_id");
        meta.shift_remove("latency_ms");
        meta.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
        fields.insert("meta".into(), Value::Object(meta));
    }
    Answer::enveloped(fields, None).with_originals(original.map(|original| (0, *original)))
}

/// The refusal of a call in the terms of this function's own arguments.
fn refusal(mut refusal: Refusal, op: &str) -> Refusal {
    let inside = |pointer: &mut String| pointer.insert_str(0, "/arguments");
    refusal.field_errors.iter_mut().for_each(|error| inside(&mut error.pointer));
    refusal.field_errors = refusal.field_errors.into_iter().map(FieldError::brief).collect();
    refusal.fill_in.iter_mut().chain(&mut refusal.dropped).for_each(inside);
    let carried = std::mem::take(&mut refusal.carried);
    if let Some(help) = refusal.help.take() {
        refusal.hints.insert("help".into(), Value::Object(help));
    }
    refusal.example = refusal.example.map(|example| {
        let mut call = Map::new();
        call.insert("tool_id".into(), op.into());
        call.insert("arguments".into(), example);
        call.extend(carried.into_iter().filter(|(name, _)| matches!(name.as_str(), "dry_run" | "session")));
        Value::Object(call)
    });
    refusal
}
