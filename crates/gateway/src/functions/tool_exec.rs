//! The functions that run one tool: `tool_exec`, `tool_exec_read` and `tool_exec_write` for clients that ask a person
//! depending on the effect of a function, `call_tool` of the discovery protocol, and a call of a tool by its own name. All make
//! a [`CallRequest`], which [`execute`] answers. `read_result` reads on in a long result.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::discovery::named_tool;
use super::function::{AnswerFuture, Arguments, panicked};
use super::{Answer, CatalogView, Function, FunctionContext, ToolError};
use crate::exec::{CallRequest, Envelope, Outcome, execute, next_page, refuse};
use crate::state::WaitBudget;
use toolcrib_catalog::Resolved;
use toolcrib_catalog::arguments::{FieldError, decoded};
use toolcrib_definition::guard::guarded;

/// Characters of the op that the error of an unreadable call repeats.
const OP_CHARS: usize = 80;

/// Answers a call of `tool_exec`.
pub(super) fn run<'c>(
    function: &'static Function,
    context: &'c FunctionContext,
    input: Value,
) -> AnswerFuture<'c> {
    Box::pin(async move {
        let op = input.get("op").and_then(Value::as_str).unwrap_or_default().to_string();
        let request = CallRequest::read(function.name(), function.effect_limit(), input);
        if let Ok(request) = &request
            && let Some(own) = own_read(&context.view, &request.op)
        {
            return Ok(enveloped(read_with(own, context, request.clone()).await));
        }
        Ok(run_request(context, function, &op, request).await)
    })
}

/// Runs a request, or answers the error of an unreadable one.
async fn run_request(
    context: &FunctionContext,
    function: &Function,
    op: &str,
    request: Result<CallRequest, ToolError>,
) -> Answer {
    let context = context.clone();
    enveloped(match request {
        Ok(request) => execute_with_functions(context, request).await,
        Err(error) => refuse(context, function.name(), op.chars().take(OP_CHARS).collect(), error).await,
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
    /// Whether the client gets the unchanged answer of an MCP server.
    pub as_is: bool,
}

impl<'c> ToolCall<'c> {
    /// A call of the tool at this index, without arguments.
    pub fn listed(view: &'c CatalogView, place: usize) -> Self {
        let name = view.catalog().tools.get(place).map_or("", |tool| &tool.name);
        Self { is_listed: true, ..Self::of(name, Some(place)) }
    }

    /// A call of the tool with this name, without arguments.
    pub fn named(view: &'c CatalogView, name: &'c str) -> Self {
        Self::of(name, view.resolve(name.trim()).ok())
    }

    fn of(name: &'c str, tool: Option<usize>) -> Self {
        Self { name, tool, is_listed: false, as_is: false, arguments: Value::Null, idempotency_key: None }
    }

    /// Answers the call. A panic is answered as well.
    pub async fn call(self, context: &FunctionContext) -> Answer {
        let answer = guarded(WaitBudget::current().with(self.run(context))).await;
        let answer = answer.unwrap_or_else(|_| panicked().into());
        answer.with_registry_version(&context.view.catalog().version)
    }

    async fn run(self, context: &FunctionContext) -> Answer {
        let Self { name, tool, arguments, idempotency_key, as_is, .. } = self;
        if tool.is_none()
            && let Some(own) = own_read(&context.view, name)
        {
            let request = CallRequest { args: arguments, ..CallRequest::default() };
            return enveloped(read_with(own, context, request).await);
        }
        let function = Function::tool_exec();
        let request = CallRequest::by_name(function.name(), (name, tool), arguments, idempotency_key)
            .map(|request| CallRequest { as_is, ..request });
        run_request(context, function, name, request).await
    }
}

/// The function of toolcrib that an op means, if it runs no tools: the caller's list may not have it. A tool with this name
/// wins.
fn own_read(view: &CatalogView, op: &str) -> Option<&'static Function> {
    let own = Function::spelled(op).filter(|function| !function.runs_tools())?;
    matches!(view.resolve(op), Err(Resolved::Unknown(_))).then_some(own)
}

/// Answers a call of a function as an op, in an envelope. The function checks its arguments and leaves a trace itself.
async fn read_with(own: &'static Function, context: &FunctionContext, request: CallRequest) -> Envelope {
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
    let mut meta = Map::new();
    meta.insert("trace_id".into(), context.trace.id().into());
    meta.insert("latency_ms".into(), (started.elapsed().as_millis() as u64).into());
    meta.insert("warnings".into(), warnings.into());
    meta.extend(semantic.map(|status| ("semantic".to_string(), status)));
    let outcome = match answer.into_result() {
        Ok(fields) => Outcome::Result(Value::Object(fields)),
        Err(error) => Outcome::Failed(error),
    };
    Envelope { op: own.name().to_string(), outcome, repaired: Vec::new(), meta, original: None }
}

/// Runs a call, for which functions may be backends of tools.
async fn execute_with_functions(context: FunctionContext, request: CallRequest) -> Envelope {
    execute(context, request, |context, name, arguments| {
        // A function that runs tools could call itself without an end.
        let function = Function::named(name).filter(|function| !function.runs_tools())?;
        Some(Box::pin(async move { function.call(context, arguments).await.into_result() }))
    })
    .await
}

fn enveloped(mut envelope: Envelope) -> Answer {
    let error = envelope.outcome.error();
    let original = envelope.original.take();
    Answer::enveloped(envelope.fields(), error, original)
}

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

/// Fewest bytes of a part of a long result.
const LEAST: usize = 16;

/// Arguments of `read_result`.
#[derive(Deserialize)]
pub(super) struct ReadResult {
    cursor: String,
    select: Option<Value>,
}

impl Arguments for ReadResult {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let limit = context.view.catalog().config.exec.result_bytes.max(LEAST);
        let state = &*context.services.state;
        let caller = &context.caller.name;
        let fields = next_page(state, caller, &self.cursor, (self.select, limit)).await?;
        Ok(Answer::new(fields, None))
    }
}
