//! `call_tool`: a call of a tool in the words of the discovery protocol.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::discovery::named_tool;
use super::function::{Answer, Arguments, Function, FunctionContext, ToolError};
use super::tool_exec::execute_with_functions;
use crate::exec::{CallRequest, Envelope, Outcome};
use toolcrib_catalog::arguments::FieldError;

/// Arguments of `call_tool`: a call in the words of the discovery protocol.
#[derive(Deserialize)]
pub(super) struct CallTool {
    tool_id: String,
    arguments: Option<Map<String, Value>>,
    dry_run: Option<bool>,
}

impl Arguments for CallTool {
    async fn answer(self, function: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let (index, tool) = named_tool(&context.view, &self.tool_id)?;
        let op = tool.op.clone();
        let request = CallRequest {
            function: function.name(),
            op: op.clone(),
            tool: Some(index),
            args: self.arguments.map(Value::Object).unwrap_or_default(),
            dry_run: self.dry_run,
            ..CallRequest::default()
        };
        let envelope = execute_with_functions(context.clone(), request).await;
        match envelope.outcome {
            Outcome::Failed(error) => Err(in_own_words(error, &op)),
            Outcome::Result(_) | Outcome::Replayed(_) => Ok(of_call_tool(envelope)),
        }
    }
}

/// The result of `call_tool`, with notes on the call.
fn of_call_tool(mut envelope: Envelope) -> Answer {
    let original = envelope.original.take();
    let mut fields = Map::new();
    fields.insert("ok".into(), true.into());
    fields.insert("tool_id".into(), envelope.op.as_str().into());
    let repaired = serde_json::to_value(&envelope.repaired).unwrap_or_default();
    let mut envelope = envelope.fields();
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
    Answer::enveloped(fields, None, original)
}

/// The error of a call in the terms of the arguments of `call_tool`.
fn in_own_words(mut error: ToolError, op: &str) -> ToolError {
    let inside = |pointer: &mut String| pointer.insert_str(0, "/arguments");
    error.field_errors.iter_mut().for_each(|error| inside(&mut error.pointer));
    error.field_errors = error.field_errors.into_iter().map(FieldError::brief).collect();
    error.fill_in.iter_mut().chain(&mut error.dropped).for_each(inside);
    let carried = std::mem::take(&mut error.carried);
    if let Some(help) = error.help.take() {
        error.hints.insert("help".into(), Value::Object(help));
    }
    error.example = error.example.map(|example| {
        let mut call = Map::new();
        call.insert("tool_id".into(), op.into());
        call.insert("arguments".into(), example);
        call.extend(carried.into_iter().filter(|(name, _)| matches!(name.as_str(), "dry_run" | "session")));
        Value::Object(call)
    });
    error
}
