//! Repeated mistakes of a session: each answer is stronger than the last, since a model that reads the same text again
//! repeats its call.

use crate::exec::backend::Backends;
use crate::exec::call::Call;
use crate::exec::fingerprint::{failure_fingerprint, op_fingerprint};
use crate::help::{self, Format, HelpOptions, of_tool};
use crate::refusal::{ErrorCode, Refusal};
use crate::tool::{Backend, Effect};

/// Equal failures after which a call gets `LOOP_STOPPED`.
const STOP_AFTER: u32 = 3;

/// The name under which failed runs of a call are counted, whatever the error.
const RUN_FAILURE: &str = "run";

/// Stops a write before it is run, if its runs have failed too often in this session.
pub(in crate::exec) async fn check(call: &Call) -> Result<(), Refusal> {
    if call.effect() == Effect::Read || call.is_dry_run || is_passed_on(call) {
        return Ok(());
    }
    let Some(session) = call.context.caller().session() else { return Ok(()) };
    let state = call.state();
    let run = failure_fingerprint(call.op(), call.arguments(), RUN_FAILURE);
    let failures = state.failure_count(&session, &run).await.unwrap_or(0);
    if failures + 1 < STOP_AFTER {
        return Ok(());
    }
    // Counted separately, so that the age of the last failed run is kept.
    let stops = state
        .count_failure(&session, &failure_fingerprint(call.op(), call.arguments(), "stopped"))
        .await
        .unwrap_or(1);
    let next = format!(
        "do not send it again. Try another way, or tell the user that `{}` does not work, and its error",
        call.op()
    );
    let message = format!(
        "stop: this same call of `{}` was run {failures} times, and failed; it is not run again for now (stopped {stops} times)",
        call.op()
    );
    let failure = Refusal::new(ErrorCode::LoopStopped, message, next);
    Err(failure.detail("failures", failures).detail("is_run", false))
}

/// Whether the client calls a tool of an MCP server by name: it would not be stopped there either.
fn is_passed_on(call: &Call) -> bool {
    let backend = call.tool.as_ref().and_then(|tool| Backends::of(tool, call.config()));
    call.request.as_is && matches!(backend.as_deref(), Some(Backend::Mcp { .. }))
}

/// Counts a failure in its session, and makes the answer stronger with each repetition.
pub(super) async fn on_failure(call: &Call, failure: &mut Refusal, was_run: bool) {
    let Some(session) = call.context.caller().session() else { return };
    // `DOC_REQUIRED` and a quota are no mistakes, and `LOOP_STOPPED` was counted before.
    let code = failure.code;
    let is_quota = code == ErrorCode::RateLimited && !failure.hints.contains_key("source");
    if is_quota || matches!(code, ErrorCode::DocRequired | ErrorCode::LoopStopped) {
        return;
    }
    let state = call.state();
    let same = failure_fingerprint(call.op(), call.arguments(), code.as_str());
    let count = state.count_failure(&session, &same).await.unwrap_or(1);
    if was_run && call.effect() != Effect::Read {
        // Without a count, later runs are not stopped.
        let _ = state
            .count_failure(&session, &failure_fingerprint(call.op(), call.arguments(), RUN_FAILURE))
            .await;
    }
    let mut misfits = 0;
    if code == ErrorCode::ValidationError {
        let any = failure_fingerprint(call.op(), &serde_json::Value::Null, "arguments of any kind");
        misfits = state.count_failure(&session, &any).await.unwrap_or(1);
    }
    let help = |format| {
        let tool = call.tool.as_ref()?;
        let schemas = format == Format::Full;
        Some(of_tool(tool, HelpOptions { format, examples: true, schemas, short_tokens: help::SHORT_TOKENS }))
    };
    if misfits >= STOP_AFTER && call.tool.is_some() {
        failure.help = help(Format::Full);
        let copy = match (&failure.example, failure.fill_in.is_empty()) {
            (None, _) => "",
            (Some(_), true) => ", and copy `example`",
            (Some(_), false) => ", and copy `example` with your own values for those listed in fill_in",
        };
        failure.next_action = format!(
            "this op has been sent {misfits} times with arguments that do not fit: read all of `help` before the next call{copy}"
        );
    } else if count == 2 && failure.help.is_none() {
        failure.help = help(Format::Short);
        let read = if failure.help.is_some() { "; read `help`" } else { "" };
        failure.next_action = format!("this very call failed before{read}. {}", failure.next_action);
    }
    if count >= STOP_AFTER {
        stop(call, failure, count);
    }
}

/// Forgets the failures of an op in a session once a call of it has succeeded.
pub(super) async fn on_success(call: &Call) {
    if call.is_dry_run {
        return;
    }
    let Some(session) = call.context.caller().session() else { return };
    if call.state().has_failed(&session) {
        // Failures that cannot be cleared expire.
        let _ = call.state().clear_failures(&session, &op_fingerprint(call.op())).await;
    }
}

fn stop(call: &Call, failure: &mut Refusal, count: u32) {
    let is_ours = failure.hints.get("source").is_none();
    let waits = is_ours
        && matches!(
            failure.code,
            ErrorCode::ApprovalRequired | ErrorCode::OutcomeUnknown | ErrorCode::Conflict
        );
    let message = std::mem::take(&mut failure.message);
    if waits {
        failure.message = format!("{message} (answered {count} times now; asking again changes nothing)");
        return;
    }
    let last = failure.code.as_str();
    let of_op = if call.op().is_empty() { String::new() } else { format!(" of `{}`", call.op()) };
    failure.message = format!("stop: this same call{of_op} has failed {count} times with {last}: {message}");
    failure.next_action = match (failure.code, failure.example.is_some()) {
        (ErrorCode::ValidationError, true) => {
            "do not send it again. Send `example` with your own values in it, or tell the user which values you lack".into()
        }
        (ErrorCode::NotFound | ErrorCode::Ambiguous, _) if is_ours => {
            "do not guess another name. Ask tool_search for what you want to do, or tell the user that there is no such tool".into()
        }
        _ if call.op().is_empty() => {
            "do not send it again. Find the op with tool_search, and send it as `op` with its `args`".into()
        }
        _ => format!(
            "do not send it again. Try another way, or tell the user that `{}` does not work, and its error",
            call.op()
        ),
    };
    failure.hints.insert("last_code".into(), last.into());
    failure.hints.insert("failures".into(), count.into());
    failure.code = ErrorCode::LoopStopped;
}
