//! The way of a call: resolved, checked, gated, run, and told.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::active_call::ActiveCall;
use super::backend::{BackendErrorKind, BackendRequest, Backends, Begun};
use super::backend_failure::{broken, failure_of, timed_out};
use super::call_result::Outcome;
use super::{
    CallContext, CallRequest, CallResult, EffectLimit, Failure, arguments, audit, call_fields, doc_gate,
    gates, idempotency, repeat_guard, resolve, result_paging, session_context,
};
use crate::catalog::{Callable, Tool};
use crate::guard::guarded;
use crate::refusal::ErrorCode;
use crate::state::Patience;
use crate::tool::{Backend, Effect};

/// What comes of what was given to `function`, which runs such calls as `limit` says.
pub async fn answer(
    context: Arc<dyn CallContext>,
    function: &'static str,
    limit: EffectLimit,
    given: Value,
) -> CallResult {
    let named = given.get("op").and_then(Value::as_str).unwrap_or_default().chars().take(80).collect();
    match CallRequest::read(function, limit, given) {
        Ok(request) => run(context, request).await,
        Err(mut failure) => {
            failure.help_path = "root".into();
            let (call, _) =
                ActiveCall::new(context, CallRequest { function, op: named, ..CallRequest::default() });
            finish(call, Outcome::Failed(failure)).await
        }
    }
}

/// What comes of a call. One that changes something goes on to its end, and is written down, though nobody waits for it.
pub async fn run(context: Arc<dyn CallContext>, request: CallRequest) -> CallResult {
    let (mut call, beside) = ActiveCall::new(context, request);
    let admitted = guarded(admit(&mut call, beside)).await;
    match admitted.unwrap_or_else(|_| Err(broken(&call, false))) {
        Err(failure) => finish(call, Outcome::Failed(failure)).await,
        Ok(()) if must_outlive_caller(&call) => run_detached(call).await,
        Ok(()) => run_inline(call).await,
    }
}

/// Everything that is asked before anything is run.
async fn admit(call: &mut ActiveCall, mut beside: Map<String, Value>) -> Result<(), Failure> {
    let context = Arc::clone(&call.context);
    let index = match resolve::resolve(&*context, &call.op, &call.arguments, &mut call.warnings) {
        Ok(index) => index,
        Err(failure) => {
            call_fields::take_dry_run(call, &beside);
            call.is_dry_run = call.requested_dry_run == Some(true);
            return Err(failure);
        }
    };
    let Some(tool) = context.catalog().tools.get(index) else {
        return Err(Failure::new(ErrorCode::Internal, "the tool is gone", "send the call again"));
    };
    call.op.clone_from(&tool.op);
    call.tool = Some((index, Arc::clone(tool)));
    let asked = take_call_fields(call, tool, &mut beside);
    call.is_dry_run = call.requested_dry_run.unwrap_or(tool.definition.dry_run == Some(true));
    asked?;
    call.validated = Some(tool.parameters.is_checked());
    if let Callable::Unchecked(mode) = tool.parameters.callable() {
        call.no_schema_mode = Some(*mode);
    }
    let given = std::mem::take(&mut call.arguments);
    match arguments::coerce_and_validate(tool, context.catalog().secrets(), given, beside, &mut call.warnings)
    {
        Ok(mut fitted) => {
            // What was text within text has shown its fields by now.
            call_fields::take_from_arguments(call, tool.parameters.schema(), &mut fitted.arguments)?;
            call.is_dry_run = call.requested_dry_run.unwrap_or(call.is_dry_run);
            (call.arguments, call.repaired) = (fitted.arguments, fitted.repaired);
        }
        Err(unfit) => {
            let (given, failure) = *unfit;
            call.arguments = given;
            return Err(failure);
        }
    }
    gates::check(call, tool)?;
    doc_gate::require_doc(call, index, tool).await?;
    repeat_guard::check(call).await
}

/// The arguments as an object, without what belongs to the call.
fn take_call_fields(
    call: &mut ActiveCall,
    tool: &Tool,
    beside: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let schema = tool.parameters.schema();
    let mut outside = Value::Object(std::mem::take(beside));
    let lifted = call_fields::take_from_arguments(call, schema, &mut outside);
    if let Value::Object(rest) = outside {
        *beside = rest;
    }
    let given = std::mem::take(&mut call.arguments);
    match arguments::object(tool, given, beside.is_empty(), &mut call.warnings) {
        Ok(read) => call.arguments = read,
        Err(unfit) => {
            call.arguments = unfit.0;
            let mut given = call.arguments.clone();
            call_fields::take_from_arguments(call, schema, &mut given)?;
            return Err(unfit.1);
        }
    }
    lifted?;
    let mut given = std::mem::take(&mut call.arguments);
    let lifted = call_fields::take_from_arguments(call, schema, &mut given);
    call.arguments = given;
    lifted
}

fn must_outlive_caller(call: &ActiveCall) -> bool {
    let is_static = || {
        let backend = call.tool.as_ref().and_then(|(_, tool)| tool.definition.backend.as_ref());
        matches!(backend, Some(Backend::Static { .. }))
    };
    call.effect() != Effect::Read && !call.is_dry_run && (call.key.is_some() || !is_static())
}

/// Runs a call in a task of its own.
async fn run_detached(call: ActiveCall) -> CallResult {
    let Ok(runtime) = Handle::try_current() else { return run_inline(call).await };
    let (op, meta, mut failure) = (call.op.clone(), call.meta(), broken(&call, true));
    failure.help_path.clone_from(&op);
    let lost = |_| CallResult { op, outcome: Outcome::Failed(failure), repaired: Vec::new(), meta };
    runtime.spawn(Patience::current().with(run_inline(call))).await.unwrap_or_else(lost)
}

async fn run_inline(mut call: ActiveCall) -> CallResult {
    let outcome = match call.is_dry_run {
        true => preview(&mut call),
        false => idempotency::run_once(&mut call).await,
    };
    finish(call, outcome).await
}

/// What is told of a call, and written down.
async fn finish(mut call: ActiveCall, mut outcome: Outcome) -> CallResult {
    match &mut outcome {
        Outcome::Failed(failure) => {
            if failure.help_path.is_empty() {
                failure.help_path.clone_from(&call.op);
            }
            if failure.example.is_some() {
                failure.carried = call.carried();
            }
            repeat_guard::on_failure(&call, failure).await;
        }
        Outcome::Result(_) => {
            repeat_guard::on_success(&call).await;
            session_context::load(&mut call).await;
        }
        Outcome::Replayed(_) => call.replayed = true,
    }
    let word = outcome.error().map_or("ok", ErrorCode::as_str);
    let has_changed = call.was_run && call.effect() != Effect::Read;
    let lost = if has_changed { call.state().health().lost } else { 0 };
    audit::record(&mut call, word, Some(&outcome));
    if has_changed {
        audit::wait_until_durable(&mut call, lost).await;
    }
    let mut meta = call.meta();
    if call.replayed {
        // What was warned of then is in what was stored.
        meta.shift_remove("warnings");
    }
    CallResult {
        op: std::mem::take(&mut call.op),
        outcome,
        repaired: std::mem::take(&mut call.repaired),
        meta,
    }
}

/// What a call would do.
fn preview(call: &mut ActiveCall) -> Outcome {
    let context = Arc::clone(&call.context);
    let Some((_, tool)) = call.tool.clone() else { return Outcome::Result(Value::Null) };
    let Some(backend) = Backends::of(&tool, call.config()) else {
        return Outcome::Failed(gates::no_backend(&tool, &call.arguments));
    };
    match context.backends().preview(backend_request(call, &tool, &backend, &Begun::default())) {
        Ok(would) => {
            call.warnings.push("nothing was run; send dry_run: false to run it".into());
            Outcome::Result(json!({ "would": would }))
        }
        Err(error) => Outcome::Failed(failure_of(&tool, call.secrets(), &call.arguments, error)),
    }
}

fn backend_request<'o>(
    call: &'o ActiveCall,
    tool: &'o Tool,
    backend: &'o Backend,
    begun: &'o Begun,
) -> BackendRequest<'o> {
    BackendRequest {
        tool,
        backend,
        config: call.config(),
        arguments: &call.arguments,
        caller: call.context.caller(),
        idempotency_key: call.key.as_deref(),
        timeout: call.timeout(),
        begun,
    }
}

/// The result of a run; beside a failure what kind of fault it was, if it was tried.
pub(super) type Ran = Result<Value, (Failure, Option<BackendErrorKind>)>;

/// Runs a call that has passed everything.
pub(super) async fn execute(call: &mut ActiveCall) -> Ran {
    let begun = Begun::default();
    let executed = guarded(executed(call, &begun)).await;
    executed.unwrap_or_else(|_| {
        let kind =
            if begun.is_marked() { BackendErrorKind::ConnectionLost } else { BackendErrorKind::NotSent };
        Err((broken(call, begun.is_marked()), Some(kind)))
    })
}

async fn executed(call: &mut ActiveCall, begun: &Begun) -> Ran {
    let context = Arc::clone(&call.context);
    let Some((_, tool)) = call.tool.clone() else { return Ok(Value::Null) };
    let Some(backend) = Backends::of(&tool, call.config()) else {
        return Err((gates::no_backend(&tool, &call.arguments), None));
    };
    call.was_run = true;
    let response = match &*backend {
        Backend::Builtin { function } => {
            begun.mark();
            let answer = context.function(function, call.arguments.clone());
            let answer =
                timeout(call.timeout(), answer).await.unwrap_or_else(|_| Err(timed_out(call.timeout())));
            answer.map(|content| super::backend::BackendResponse { content, warnings: Vec::new() })
        }
        // The others keep their time themselves.
        _ => context.backends().run(backend_request(call, &tool, &backend, begun)).await,
    };
    match response {
        Ok(response) => {
            call.warnings.extend(response.warnings);
            session_context::store(call, &tool, &response.content).await;
            Ok(result_paging::first_page(call, response.content).await)
        }
        Err(error) => {
            let kind = error.kind;
            Err((failure_of(&tool, call.secrets(), &call.arguments, error), Some(kind)))
        }
    }
}
