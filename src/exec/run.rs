//! The way of a call: resolved, checked, gated, run, and told.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::backend::{Backends, Begun, FaultKind, Order};
use super::call::Call;
use super::done::Outcome;
use super::fault::{broken, failed, too_late};
use super::{
    Done, Failure, Host, Limit, Request, arguments, audit, cut, doc, gates, loops, once, own, resolve, shift,
};
use crate::catalog::{Callable, Tool};
use crate::guard::guarded;
use crate::refusal::ErrorCode;
use crate::state::Patience;
use crate::tool::{Backend, Effect};

/// What comes of what was given to `function`, which runs such calls as `limit` says.
pub async fn answer(host: Arc<dyn Host>, function: &'static str, limit: Limit, given: Value) -> Done {
    let named = given.get("op").and_then(Value::as_str).unwrap_or_default().chars().take(80).collect();
    match Request::read(function, limit, given) {
        Ok(request) => run(host, request).await,
        Err(mut failure) => {
            failure.help_path = "root".into();
            let (call, _) = Call::new(host, Request { function, op: named, ..Request::default() });
            finish(call, Outcome::Failed(failure)).await
        }
    }
}

/// What comes of a call. One that changes something goes on to its end, and is written down, though nobody waits for it.
pub async fn run(host: Arc<dyn Host>, request: Request) -> Done {
    let (mut call, beside) = Call::new(host, request);
    let admitted = guarded(admit(&mut call, beside)).await;
    match admitted.unwrap_or_else(|_| Err(broken(&call, false))) {
        Err(failure) => finish(call, Outcome::Failed(failure)).await,
        Ok(()) if goes_on_alone(&call) => apart(call).await,
        Ok(()) => through(call).await,
    }
}

/// Everything that is asked before anything is run.
async fn admit(call: &mut Call, mut beside: Map<String, Value>) -> Result<(), Failure> {
    let host = Arc::clone(&call.host);
    let index = match resolve::resolve(&*host, &call.op, &call.arguments, &mut call.warnings) {
        Ok(index) => index,
        Err(failure) => {
            own::note(call, &beside);
            call.is_dry = call.asked_dry == Some(true);
            return Err(failure);
        }
    };
    let Some(tool) = host.catalog().tools.get(index) else {
        return Err(Failure::new(ErrorCode::Internal, "the tool is gone", "send the call again"));
    };
    call.op.clone_from(&tool.op);
    call.tool = Some((index, Arc::clone(tool)));
    let asked = own_fields(call, tool, &mut beside);
    call.is_dry = call.asked_dry.unwrap_or(tool.definition.dry_run == Some(true));
    asked?;
    call.validated = Some(tool.parameters.is_checked());
    if let Callable::Unchecked(mode) = tool.parameters.callable() {
        call.no_schema_mode = Some(*mode);
    }
    let given = std::mem::take(&mut call.arguments);
    match arguments::fit(tool, host.catalog().secrets(), given, beside, &mut call.warnings) {
        Ok(mut fitted) => {
            // What was text within text has shown its fields by now.
            own::lift(call, tool.parameters.schema(), &mut fitted.arguments)?;
            call.is_dry = call.asked_dry.unwrap_or(call.is_dry);
            (call.arguments, call.repaired) = (fitted.arguments, fitted.repaired);
        }
        Err(unfit) => {
            let (given, failure) = *unfit;
            call.arguments = given;
            return Err(failure);
        }
    }
    gates::pass(call, tool)?;
    doc::was_read(call, index, tool).await?;
    loops::stopped(call).await
}

/// The arguments as an object, without what belongs to the call.
fn own_fields(call: &mut Call, tool: &Tool, beside: &mut Map<String, Value>) -> Result<(), Failure> {
    let schema = tool.parameters.schema();
    let mut outside = Value::Object(std::mem::take(beside));
    let lifted = own::lift(call, schema, &mut outside);
    if let Value::Object(rest) = outside {
        *beside = rest;
    }
    let given = std::mem::take(&mut call.arguments);
    match arguments::object(tool, given, beside.is_empty(), &mut call.warnings) {
        Ok(read) => call.arguments = read,
        Err(unfit) => {
            call.arguments = unfit.0;
            let mut given = call.arguments.clone();
            own::lift(call, schema, &mut given)?;
            return Err(unfit.1);
        }
    }
    lifted?;
    let mut given = std::mem::take(&mut call.arguments);
    let lifted = own::lift(call, schema, &mut given);
    call.arguments = given;
    lifted
}

fn goes_on_alone(call: &Call) -> bool {
    let is_static = || {
        let backend = call.tool.as_ref().and_then(|(_, tool)| tool.definition.backend.as_ref());
        matches!(backend, Some(Backend::Static { .. }))
    };
    call.effect() != Effect::Read && !call.is_dry && (call.key.is_some() || !is_static())
}

/// Runs a call in a task of its own.
async fn apart(call: Call) -> Done {
    let Ok(runtime) = Handle::try_current() else { return through(call).await };
    let (op, meta, mut failure) = (call.op.clone(), call.meta(), broken(&call, true));
    failure.help_path.clone_from(&op);
    let lost = |_| Done { op, outcome: Outcome::Failed(failure), repaired: Vec::new(), meta };
    runtime.spawn(Patience::current().with(through(call))).await.unwrap_or_else(lost)
}

async fn through(mut call: Call) -> Done {
    let outcome = match call.is_dry {
        true => preview(&mut call),
        false => once::perform(&mut call).await,
    };
    finish(call, outcome).await
}

/// What is told of a call, and written down.
async fn finish(mut call: Call, mut outcome: Outcome) -> Done {
    match &mut outcome {
        Outcome::Failed(failure) => {
            if failure.help_path.is_empty() {
                failure.help_path.clone_from(&call.op);
            }
            if failure.example.is_some() {
                failure.carried = call.carried();
            }
            loops::answer(&call, failure).await;
        }
        Outcome::Result(_) => {
            loops::over(&call).await;
            shift::recall(&mut call).await;
        }
        Outcome::Replayed(_) => call.replayed = true,
    }
    let word = outcome.error().map_or("ok", ErrorCode::as_str);
    let has_changed = call.was_run && call.effect() != Effect::Read;
    let lost = if has_changed { call.state().health().lost } else { 0 };
    audit::record(&mut call, word, Some(&outcome));
    if has_changed {
        audit::settled(&mut call, lost).await;
    }
    let mut meta = call.meta();
    if call.replayed {
        // What was warned of then is in what was stored.
        meta.shift_remove("warnings");
    }
    Done { op: std::mem::take(&mut call.op), outcome, repaired: std::mem::take(&mut call.repaired), meta }
}

/// What a call would do.
fn preview(call: &mut Call) -> Outcome {
    let host = Arc::clone(&call.host);
    let Some((_, tool)) = call.tool.clone() else { return Outcome::Result(Value::Null) };
    let Some(backend) = Backends::of(&tool, call.config()) else {
        return Outcome::Failed(gates::left_to_caller(&tool, &call.arguments));
    };
    match host.backends().preview(order(call, &tool, &backend, &Begun::default())) {
        Ok(would) => {
            call.warnings.push("nothing was run; send dry_run: false to run it".into());
            Outcome::Result(json!({ "would": would }))
        }
        Err(fault) => Outcome::Failed(failed(&tool, call.secrets(), &call.arguments, fault)),
    }
}

fn order<'o>(call: &'o Call, tool: &'o Tool, backend: &'o Backend, begun: &'o Begun) -> Order<'o> {
    Order {
        tool,
        backend,
        config: call.config(),
        arguments: &call.arguments,
        caller: call.host.caller(),
        idempotency_key: call.key.as_deref(),
        time: call.time(),
        begun,
    }
}

/// The result of a run; beside a failure what kind of fault it was, if it was tried.
pub(super) type Ran = Result<Value, (Failure, Option<FaultKind>)>;

/// Runs a call that has passed everything.
pub(super) async fn execute(call: &mut Call) -> Ran {
    let begun = Begun::default();
    let executed = guarded(executed(call, &begun)).await;
    executed.unwrap_or_else(|_| {
        let kind = if begun.is_marked() { FaultKind::Lost } else { FaultKind::NotSent };
        Err((broken(call, begun.is_marked()), Some(kind)))
    })
}

async fn executed(call: &mut Call, begun: &Begun) -> Ran {
    let host = Arc::clone(&call.host);
    let Some((_, tool)) = call.tool.clone() else { return Ok(Value::Null) };
    let Some(backend) = Backends::of(&tool, call.config()) else {
        return Err((gates::left_to_caller(&tool, &call.arguments), None));
    };
    call.was_run = true;
    let reply = match &*backend {
        Backend::Builtin { function } => {
            begun.mark();
            let answer = host.function(function, call.arguments.clone());
            let answer = timeout(call.time(), answer).await.unwrap_or_else(|_| Err(too_late(call.time())));
            answer.map(|content| super::backend::Reply { content, warnings: Vec::new() })
        }
        // The others keep their time themselves.
        _ => host.backends().run(order(call, &tool, &backend, begun)).await,
    };
    match reply {
        Ok(reply) => {
            call.warnings.extend(reply.warnings);
            shift::note(call, &tool, &reply.content).await;
            Ok(cut::shortened(call, reply.content).await)
        }
        Err(fault) => {
            let kind = fault.kind;
            Err((failed(&tool, call.secrets(), &call.arguments, fault), Some(kind)))
        }
    }
}
