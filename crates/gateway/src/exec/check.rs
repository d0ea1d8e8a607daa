//! All checks of a call before it is run: the tool, its arguments, the effect that is allowed, the receipt of its page.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::approvals::{is_allowed_by_asking, may_run_as_direct, runs_as_direct};
use super::backend::{Backends, no_backend};
use super::record::{CHANGES_NOTHING, NOT_CHECKED, require_writable};
use super::request::{separate_fields, take_dry_run, take_from_own_arguments, without};
use super::results::check_select;
use super::{Call, CallRequest, EffectLimit};
use crate::functions::FunctionContext;
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::arguments::{InvalidArguments, Repair, corrected, decoded, until_stopped, validate};
use toolcrib_catalog::{Callable, Catalog, Resolved, Tool, UnresolvedName};
use toolcrib_definition::{Effect, NoSchemaMode, quoted};
use toolcrib_docs::help;
use toolcrib_docs::help::{Format, HelpOptions, of_tool};

/// Makes all checks, in order; the first error ends them. The call has valid arguments afterwards.
pub(super) async fn check(call: &mut Call) -> Result<Arc<Tool>, ToolError> {
    let (index, tool) = find_tool(call).await?;
    call.request.op.clone_from(&tool.op);
    call.tool = Some(Arc::clone(&tool));
    separate(call, &tool)?;
    leave_out_hidden(call, &tool);
    pass_first_gates(call, &tool)?;
    call.repaired = read_arguments(call, &tool).await?;
    if let Some(schema) = &tool.definition.result_schema {
        check_select(&call.request.select, schema.value())?;
    }
    leave_out_hidden(call, &tool);
    pass_gates(call, &tool)?;
    require_doc(call, index, &tool).await?;
    Ok(tool)
}

/// Leaves out arguments that the operator sets and hides: no caller can give them.
fn leave_out_hidden(call: &mut Call, tool: &Tool) {
    let request = &mut call.request;
    for argument in tool.set_arguments.iter().filter(|argument| argument.set.hidden) {
        let beside = request.extra_fields.shift_remove(&argument.name);
        let among = request.args.as_object_mut().and_then(|args| args.shift_remove(&argument.name));
        if beside.or(among).is_some() {
            request.warnings.push(format!("`{}` is set by the operator, and was left out", argument.name));
        }
    }
}

/// Separates the fields of the call from the arguments of a tool that can be called.
fn separate(call: &mut Call, tool: &Tool) -> Result<(), ToolError> {
    let separated = separate_fields(&mut call.request, tool);
    call.is_dry_run = call.request.dry_run.unwrap_or(tool.definition.dry_run == Some(true));
    separated?;
    call.validated = Some(tool.parameters.is_checked());
    if let Callable::No(reason) = tool.parameters.callable() {
        let next = "choose another tool, or say that this one is broken";
        let message = format!("`{}` cannot be called: {reason}", tool.op);
        return Err(ToolError::new(ErrorCode::NoBackend, message, next));
    }
    Ok(())
}

/// Makes the arguments fit the schema of the tool, and returns the changes.
async fn read_arguments(call: &mut Call, tool: &Arc<Tool>) -> Result<Vec<Repair>, ToolError> {
    let tool = Arc::clone(tool);
    let repaired = apart(call, move |context, request| {
        let beside = std::mem::take(&mut request.extra_fields);
        let secrets = context.view.catalog().secrets();
        let warnings = &mut request.warnings;
        let repaired = validate(&tool, secrets, &mut request.args, beside, warnings)
            .map_err(InvalidArguments::shortened)?;
        // Arguments that were JSON text are an object only now, so fields of the call may have come to light.
        take_from_own_arguments(request, tool.parameters.schema())?;
        Ok(repaired)
    });
    let repaired = repaired.await?;
    call.is_dry_run = call.request.dry_run.unwrap_or(call.is_dry_run);
    Ok(repaired)
}

/// The time in which arguments have to be read and explained.
const READING_LIMIT: Duration = Duration::from_secs(5);
/// Turns of reading arguments: patterns and long texts can keep a processor busy, so connections have threads of their own.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(processors.max(4)))
});

/// Does work on the request of a call on another thread, within the time limit. After that, the request has no arguments.
async fn apart<T: Send + 'static>(
    call: &mut Call,
    work: impl FnOnce(&FunctionContext, &mut CallRequest) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let args = std::mem::take(&mut call.request.args);
    let extra_fields = std::mem::take(&mut call.request.extra_fields);
    let mut request = CallRequest { args, extra_fields, ..call.request.clone() };
    let context = call.context.clone();
    let working = in_time(READING_LIMIT, move || {
        let result = work(&context, &mut request);
        (request, result)
    });
    let (request, result) = working.await?;
    call.request = request;
    result
}

/// Stops work when it is dropped: the time is over, or the caller has gone away.
struct StopGuard(Arc<AtomicBool>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn in_time<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    if Handle::try_current().is_err() {
        return Ok(work());
    }
    let deadline = Instant::now() + limit;
    let Ok(Ok(turn)) = timeout_at(deadline, Arc::clone(&TURNS).acquire_owned()).await else {
        let message = "the arguments of too many calls are being checked at once";
        return Err(ToolError::new(ErrorCode::RateLimited, message, "send the call again in a few seconds"));
    };
    let stop = StopGuard(Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop.0);
    let working = spawn_blocking(move || {
        let _turn = turn;
        until_stopped(&stopped, work)
    });
    match timeout_at(deadline, working).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Err(ToolError::internal(error)),
        },
        Err(_) => {
            let message = format!("checking the arguments takes longer than {} seconds", limit.as_secs());
            let next = "send shorter texts and fewer values; nothing was changed";
            Err(ToolError::new(ErrorCode::ValidationTimeout, message, next))
        }
    }
}

/// Refuses a call that no arguments could make allowed, before they are read. A dry run is only warned, by [`pass_gates`].
fn pass_first_gates(call: &Call, tool: &Tool) -> Result<(), ToolError> {
    if call.is_dry_run || Backends::of(tool, call.config()).is_none() {
        return Ok(());
    }
    let denied = function_denies(call, tool).or_else(|| effect_denied(call, tool));
    denied.map_or(Ok(()), Err)
}

/// Passes a call whose arguments are valid, or says why not. A dry run gets a warning about the gate that would stop it.
fn pass_gates(call: &mut Call, tool: &Tool) -> Result<(), ToolError> {
    if Backends::of(tool, call.config()).is_none() {
        return Err(no_backend(tool, call.arguments()));
    }
    if let Some(failure) = function_denies(call, tool) {
        return Err(failure);
    }
    if call.request.limit == EffectLimit::WritesOnly && tool.effect == Effect::Read {
        call.request.warnings.push(CHANGES_NOTHING.into());
    }
    let denied = effect_denied(call, tool);
    match denied {
        Some(failure) if !call.is_dry_run => return Err(failure),
        Some(failure) => {
            call.request.warnings.push(format!("to run it would be refused: {}", failure.message))
        }
        None => {}
    }
    if call.no_schema_mode() == Some(NoSchemaMode::ReadOnly) && tool.effect != Effect::Read {
        let message = format!(
            "`{}` has no schema, and without one only calls that change nothing are run; this one is {}",
            tool.op,
            kind(tool.effect)
        );
        let next = "do without it, or tell the user that the tool needs a schema";
        return Err(ToolError::new(ErrorCode::PermissionDenied, message, next));
    }
    if call.no_schema_mode().is_some() {
        call.request.warnings.push(NOT_CHECKED.into());
    }
    // A call with a key may have its answer already.
    if tool.effect != Effect::Read && !call.is_dry_run && call.request.idempotency_key.is_none() {
        require_writable(&call.context, &mut call.request.warnings)?;
    }
    Ok(())
}

fn kind(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "a read",
        Effect::Write => "a write",
        Effect::Destructive => "destructive",
    }
}

/// The error of a write by a function that runs reads only.
fn function_denies(call: &Call, tool: &Tool) -> Option<ToolError> {
    if call.request.limit != EffectLimit::ReadsOnly || tool.effect == Effect::Read {
        return None;
    }
    let kind = kind(tool.effect);
    let function = call.request.function;
    let message = format!("`{}` is {kind}, and {function} runs reads only", tool.op);
    let next = "send the same call with tool_exec_write";
    Some(ToolError::new(ErrorCode::PermissionDenied, message, next))
}

/// The strongest effect that the server allows this call.
fn allowed_by_server(call: &Call, tool: &Tool) -> Effect {
    if runs_as_direct(call, tool) || is_allowed_by_asking(call, tool) {
        Effect::Destructive
    } else {
        call.config().exec.allow()
    }
}

/// The error of the first setting that forbids the effect of this tool.
fn effect_denied(call: &Call, tool: &Tool) -> Option<ToolError> {
    let config = call.config();
    let needed = tool.effect.as_str();
    let profile = call.context.view.profile_name();
    let of_profile = profile.and_then(|name| Some((name, config.profiles.get(name)?.allow?)));
    let of_server = allowed_by_server(call, tool);
    let file = config.place(call.context.caller.is_own_client);
    let (who, most, how) = if tool.effect > of_server {
        let how = format!("the operator allows it with `allow = \"{needed}\"` below `[exec]` in {file}");
        ("this server".to_string(), of_server, how)
    } else if let Some((name, allow)) = of_profile.filter(|(_, allow)| tool.effect > *allow) {
        let how =
            format!("the operator allows it with `allow = \"{needed}\"` below `[profile.{name}]` in {file}");
        (format!("the profile `{name}`"), allow, how)
    } else if tool.effect > call.context.caller.allow && call.context.caller.name.is_empty() {
        let how = format!("the caller allows it with `allow` (`--allow {needed}` on the command line)");
        ("this call".to_string(), call.context.caller.allow, how)
    } else if tool.effect > call.context.caller.allow {
        call.context.caller.note_lacked_right(!call.is_dry_run);
        let how = format!("the operator allows it with `allow = \"{needed}\"` for this token or session");
        ("your token or session".to_string(), call.context.caller.allow, how)
    } else {
        return None;
    };
    let most = match most {
        Effect::Read => "reads only",
        _ => "reads and writes, and nothing destructive",
    };
    let message = format!("`{}` is {}, and {who} allows {most}", tool.op, kind(tool.effect));
    let is_for_asking = tool.effect > of_server && config.serve.split_exec && may_run_as_direct(call, tool);
    let next = if is_for_asking && call.context.caller.is_own_client {
        format!(
            "send the same call by a name that your client lists, its own or tool_exec_write, so that the client asks its person; or {how}"
        )
    } else {
        format!("tell the user, and do not send it again before it is allowed: {how}")
    };
    Some(ToolError::new(ErrorCode::PermissionDenied, message, next))
}

/// Refuses a call whose doc has to be read and was not. The error carries help, so that the next call can pass.
async fn require_doc(call: &Call, index: usize, tool: &Tool) -> Result<(), ToolError> {
    // The arguments of a step are its author's.
    if call.request.step.is_some() || !call.config().exec.require_doc.covers(tool.effect) {
        return Ok(());
    }
    let Some(Ok(doc)) = call.context.view.page(index) else { return Ok(()) };
    let is_stale = match call.request.receipt.as_deref() {
        Some(receipt) if receipt == doc.receipt => return Ok(()),
        other => other.is_some(),
    };
    let session = call.context.caller.session();
    if let Some(session) = &session {
        let given = call.state().doc_read_version(session, &tool.op).await.ok().flatten();
        if given.is_some_and(|version| version == doc.version) {
            return Ok(());
        }
    }
    let wanted = HelpOptions {
        format: Format::Short,
        examples: true,
        schemas: false,
        short_tokens: help::SHORT_TOKENS,
    };
    let mut help = of_tool(tool, wanted);
    help.insert("doc_version".into(), doc.version.as_str().into());
    help.insert("receipt".into(), doc.receipt.as_str().into());
    let given = match &session {
        Some(session) => call.state().record_doc_read(session, &tool.op, &doc.version).await.is_ok(),
        None => false,
    };
    let message = if is_stale {
        format!("`receipt` is not that of the current doc of `{}`, which has to be read first", tool.op)
    } else {
        format!("the doc of `{}` has to be read before it is called", tool.op)
    };
    let next = if given {
        "read `help` here, then send the call again"
    } else {
        "read `help` here, then send the call again with the `receipt` in it"
    };
    let mut failure = ToolError::new(ErrorCode::DocRequired, message, next);
    if let Some(again) = corrected(tool, call.secrets(), call.arguments()) {
        (failure.example, failure.fill_in) = (Some(again.args), again.fill_in);
    }
    failure.help = Some(help);
    Err(failure)
}

/// The tool of a call and its place in the catalog, if the caller may use it.
async fn find_tool(call: &mut Call) -> Result<(usize, Arc<Tool>), ToolError> {
    let context = call.context.clone();
    let by_exact_name = || match context.view.catalog().resolve(&call.request.op) {
        Resolved::Tool(tool) => context.view.catalog().position(&tool.name),
        _ => None,
    };
    let found = match call.request.tool.or_else(by_exact_name) {
        Some(index) => Ok(index),
        None => apart(call, by_name).await,
    };
    let found = found.and_then(|index| match context.view.catalog().tools.get(index) {
        Some(tool) if context.view.is_forbidden(index) => {
            context.caller.note_lacked_right(true);
            Err(forbidden(tool))
        }
        Some(tool) => Ok((index, Arc::clone(tool))),
        None => Err(ToolError::new(ErrorCode::Internal, "the tool is gone", "send the call again")),
    });
    if found.is_err() {
        take_dry_run(&mut call.request);
        call.is_dry_run = call.request.dry_run == Some(true);
    }
    found
}

/// The index of the one tool that a name means.
fn by_name(context: &FunctionContext, request: &mut CallRequest) -> Result<usize, ToolError> {
    let catalog = context.view.catalog();
    let name = &request.op;
    let tool = match catalog.resolve(name) {
        Resolved::Tool(tool) => tool,
        found @ Resolved::Ambiguous(_) => return Err(ambiguous(catalog.explain(name, found))),
        Resolved::Unknown(nearest) => match respelled(catalog, name) {
            Some(tool) => {
                request.warnings.push(format!("`{}` was read as `{}`", quoted(name), tool.op));
                tool
            }
            None => {
                return Err(unknown(context, name, &catalog.tools_named(nearest), &request.args));
            }
        },
    };
    catalog.position(&tool.name).ok_or_else(|| unknown(context, name, &[], &request.args))
}

/// The one tool with this name in another case, or with slashes or underscores in place of dots. Other separators are
/// refused for destructive tools.
fn respelled<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Tool> {
    let lower = name.to_lowercase();
    if let Resolved::Tool(tool) = catalog.resolve(&lower) {
        return Some(tool);
    }
    catalog.respelled(&lower).filter(|tool| tool.effect != Effect::Destructive)
}

fn forbidden(tool: &Tool) -> ToolError {
    ToolError::new(
        ErrorCode::PermissionDenied,
        format!("you may not use `{}`: it needs a role that you do not have", tool.op),
        "do without it, or say that this task needs it; asking again changes nothing",
    )
}

fn ambiguous(UnresolvedName { message, near, .. }: UnresolvedName<'_>) -> ToolError {
    let next = "send the call again with one of `nearest` as `op`";
    let mut failure = ToolError::new(ErrorCode::Ambiguous, message, next);
    failure.nearest = near.iter().map(|tool| tool.op.clone()).collect();
    failure.help_path = Some(near.first().map_or("root", |tool| group(&tool.op)).to_string());
    failure
}

fn unknown(context: &FunctionContext, name: &str, near: &[&Tool], args: &Value) -> ToolError {
    let next = match near {
        [] => "find the op by what it does, with tool_search",
        _ => "send one of `nearest` as `op` if that is what you mean, or find the op with tool_search",
    };
    let unlisted = context.services.backends.unlisted(&context.caller);
    let message = format!("there is no op `{}`{unlisted}", quoted(name));
    let mut failure = ToolError::new(ErrorCode::NotFound, message, next);
    failure.nearest = near.iter().map(|tool| tool.op.clone()).collect();
    failure.help_path = Some(nearest_group(context.view.catalog(), name, near).to_string());
    let usable = near.iter().find(|tool| {
        let place = context.view.catalog().position(&tool.name);
        place.is_some_and(|index| !context.view.is_forbidden(index))
    });
    // The tool of a destructive call is never guessed.
    let Some(tool) = usable.filter(|tool| tool.effect != Effect::Destructive) else { return failure };
    let args = match args {
        Value::String(text) => decoded(text).unwrap_or_default(),
        Value::Null => Value::Object(Default::default()),
        args => args.clone(),
    };
    let args = without(tool.parameters.schema(), args);
    failure.example_op = Some(tool.op.clone());
    failure.offering(corrected(tool, context.view.catalog().secrets(), &args))
}

/// The longest group that a name begins with; else the group of the nearest op.
fn nearest_group<'n>(catalog: &'n Catalog, name: &'n str, near: &[&'n Tool]) -> &'n str {
    let mut prefix = name;
    while let Some((shorter, _)) = prefix.rsplit_once('.') {
        let is_group = |op: &str| op.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('.'));
        if catalog.tools.iter().any(|tool| is_group(&tool.op)) {
            return shorter;
        }
        prefix = shorter;
    }
    near.first().map_or("root", |tool| group(&tool.op))
}

fn group(op: &str) -> &str {
    op.rsplit_once('.').map_or("root", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_catalog::functions;

    #[tokio::test]
    async fn work_over_its_time_is_stopped_and_is_the_fault_of_the_caller() {
        let tool = Arc::clone(&functions().tools[0]);
        let call = tool.call.clone().map(Value::Object).unwrap();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let work = move || {
            while tool.parameters.accepts(&call) {
                std::thread::yield_now();
            }
            done.send(()).unwrap();
        };
        let error = in_time(Duration::from_millis(10), work).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.code.http_status()), ("VALIDATION_TIMEOUT", 400));
        is_done.await.unwrap();
    }
}
