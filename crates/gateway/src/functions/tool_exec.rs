//! The functions that run one tool: `tool_exec`, `tool_exec_read` and `tool_exec_write` for clients that ask a person
//! depending on the effect of a function, and a call of a tool by its own name. All make a [`CallRequest`], which [`execute`]
//! answers.

use std::time::Instant;

use serde_json::{Number, Value, to_value};

use super::answer::{Answer, FunctionAsTool, Reply};
use super::call::panicked;
use super::function::{Function, ReplyFuture};
use crate::context::{CatalogView, FunctionContext};
use crate::exec::{CallMeta, CallRequest, Envelope, execute, refuse};
use crate::state::WaitBudget;
use crate::tool_error::ToolError;
use toolcrib_catalog::Resolved;
use toolcrib_catalog::arguments::value_in_text;
use toolcrib_definition::guard::guarded;

/// Characters of the op that the error of an unreadable call repeats.
const OP_CHARS: usize = 80;

/// Answers a call of `tool_exec`.
pub(super) fn run<'c>(
    function: &'static Function,
    context: &'c FunctionContext,
    input: Value,
) -> ReplyFuture<'c> {
    Box::pin(async move {
        let op = input.get("op").and_then(Value::as_str).unwrap_or_default().to_string();
        let request = CallRequest::read(function.name(), function.effect_limit(), input);
        if let Ok(request) = &request
            && let Some(own) = own_read(&context.view, &request.op)
        {
            return Ok(read_with(own, context, request.clone()).await);
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
) -> Reply {
    let context = context.clone();
    let envelope = match request {
        Ok(request) => execute_with_functions(context, request).await,
        Err(error) => refuse(context, function.name(), op.chars().take(OP_CHARS).collect(), error).await,
    };
    envelope.into()
}

/// A call of a tool by its own name; it is run like one of `tool_exec`.
#[derive(Clone, Debug, Default)]
pub struct ToolCall<'c> {
    /// A name of the tool.
    pub name: &'c str,
    /// Its index in the caller's catalog, where the name means one tool.
    pub tool: Option<usize>,
    /// Whether the caller's client lists the tool by this name.
    pub is_listed: bool,
    pub arguments: Value,
    /// The key under which a write runs once.
    pub idempotency_key: Option<&'c str>,
    /// Whether the client gets the unchanged answer of an MCP server.
    pub as_is: bool,
}

impl<'c> ToolCall<'c> {
    /// A call of the tool at this index, without arguments.
    pub fn listed(view: &'c CatalogView, place: usize) -> Self {
        let name = view.catalog().tools.get(place).map_or("", |tool| &tool.names.canonical);
        Self { name, tool: Some(place), is_listed: true, ..Self::default() }
    }

    /// A call of the tool with this name, without arguments.
    pub fn named(view: &'c CatalogView, name: &'c str) -> Self {
        Self { name, tool: view.resolve(name.trim()).ok(), ..Self::default() }
    }

    /// Answers the call. A panic is answered as well.
    pub async fn call(self, context: &FunctionContext) -> Answer {
        let answer = guarded(WaitBudget::current().with(self.run(context))).await;
        Answer::from(answer.map_err(|_| panicked())).with_registry_version(&context.view.catalog().version)
    }

    async fn run(self, context: &FunctionContext) -> Reply {
        let Self { name, tool, arguments, idempotency_key, as_is, .. } = self;
        if tool.is_none()
            && let Some(own) = own_read(&context.view, name)
        {
            let request = CallRequest { args: arguments, ..CallRequest::default() };
            return read_with(own, context, request).await;
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

/// Answers a call of a function as an op. The function checks its arguments and leaves a trace itself.
async fn read_with(own: &'static Function, context: &FunctionContext, request: CallRequest) -> Reply {
    let started = Instant::now();
    let CallRequest { args, extra_fields, dry_run, mut warnings, .. } = request;
    let args = match args {
        Value::Null => Value::Object(extra_fields),
        Value::String(text) => value_in_text(&text).unwrap_or(Value::String(text)),
        args => args,
    };
    if dry_run == Some(true) {
        warnings.push(format!("`{}` changes nothing, and was not only checked but answered", own.name()));
    }
    let answer = own.call(context, args).await;
    let meta = CallMeta {
        trace_id: Some(context.trace.id().to_string()),
        latency_ms: Number::from_u128(started.elapsed().as_millis()),
        warnings: Some(warnings),
        ..CallMeta::default()
    };
    Reply::AsTool(Box::new(FunctionAsTool { op: own.name(), answer, meta }))
}

/// Runs a call, for which functions may be backends of tools.
pub(super) async fn execute_with_functions(context: FunctionContext, request: CallRequest) -> Envelope {
    execute(context, request, |context, name, arguments| {
        // A function that runs tools could call itself without an end.
        let function = Function::named(name).filter(|function| !function.runs_tools())?;
        Some(Box::pin(async move {
            let reply = function.call(context, arguments).await.reply.map_err(|error| *error)?;
            to_value(reply).map_err(ToolError::internal)
        }))
    })
    .await
}
