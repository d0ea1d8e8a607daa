//! `call_tool`: a call of a tool in the words of the discovery protocol.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::Reply;
use super::arguments::Arguments;
use super::discovery::named_tool;
use super::tool_exec::execute_with_functions;
use crate::context::FunctionContext;
use crate::exec::{CallMeta, CallRequest, Envelope};
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::arguments::FieldError;

/// Arguments of `call_tool`: a call in the words of the discovery protocol.
#[derive(Deserialize)]
pub(super) struct CallTool {
    tool_id: String,
    arguments: Option<Map<String, Value>>,
    dry_run: Option<bool>,
}

impl Arguments for CallTool {
    type Reply = Reply;

    async fn answer(self, context: &FunctionContext) -> Result<Reply> {
        let (index, tool) = named_tool(&context.view, &self.tool_id)?;
        let op = tool.names.op.clone();
        let request = CallRequest {
            function: "call_tool",
            op: op.clone(),
            tool: Some(index),
            args: self.arguments.map(Value::Object).unwrap_or_default(),
            dry_run: self.dry_run,
            ..CallRequest::default()
        };
        let envelope = execute_with_functions(context.clone(), request).await;
        let result = envelope.outcome.map_err(|error| in_own_words(error, &op).or_help_path(&op))?;
        let warnings = envelope.meta.warnings.filter(|warnings| !warnings.is_empty());
        let meta = CallMeta { trace_id: None, latency_ms: None, warnings, ..envelope.meta };
        let envelope = Envelope { outcome: Ok(result), meta, ..envelope };
        Ok(Reply::Discovered(Box::new(envelope)))
    }
}

/// The error of a call in the terms of the arguments of `call_tool`.
fn in_own_words(mut error: ToolError, op: &str) -> ToolError {
    let inside = |pointer: &mut String| pointer.insert_str(0, "/arguments");
    error.is_of_tool = !error.field_errors.is_empty();
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
