//! The same mistake again: each time the answer is stronger, and none is the same text three times.

use super::Failure;
use super::call::Call;
use super::fingerprint::fingerprint;
use crate::help::{Format, Wanted, of_tool};
use crate::refusal::ErrorCode;

/// From this failure on, a call is told to stop.
const STOP: u32 = 3;

/// Counts a failure in its session, and says more the more often it was made.
pub(super) async fn answer(call: &Call, failure: &mut Failure) {
    let Some(session) = call.host.caller().session() else { return };
    // Who was just told to read has made no mistake yet.
    let code = failure.code;
    if code == ErrorCode::DocRequired {
        return;
    }
    let state = call.state();
    let same = fingerprint(&call.op, &call.arguments, code.as_str());
    let count = state.fail(&session, &same).await.unwrap_or(1);
    let mut misfits = 0;
    if code == ErrorCode::ValidationError {
        let any = fingerprint(&call.op, &serde_json::Value::Null, "arguments of any kind");
        misfits = state.fail(&session, &any).await.unwrap_or(1);
    }
    let help = |format| {
        let (_, tool) = call.tool.as_ref()?;
        Some(of_tool(tool, Wanted { format, examples: true, schemas: format == Format::Full }))
    };
    if misfits >= STOP && call.tool.is_some() {
        failure.help = help(Format::Full);
        failure.next_action = format!(
            "this op has been sent {misfits} times with arguments that do not fit: read all of `help` before the next call, and copy `example`"
        );
    } else if count == 2 && failure.help.is_none() {
        failure.help = help(Format::Short);
        failure.next_action = format!("this very call failed before; read `help`. {}", failure.next_action);
    }
    if count >= STOP {
        stop(call, failure, count);
    }
}

fn stop(call: &Call, failure: &mut Failure, count: u32) {
    let waits =
        matches!(failure.code, ErrorCode::ApprovalRequired | ErrorCode::OutcomeUnknown | ErrorCode::Conflict);
    let told = std::mem::take(&mut failure.message);
    if waits {
        failure.message = format!("{told} (said {count} times now; asking changes nothing)");
        return;
    }
    let last = failure.code.as_str();
    failure.message =
        format!("stop: this same call of `{}` has failed {count} times with {last}: {told}", call.op);
    failure.next_action = match (failure.code, failure.example.is_some()) {
        (ErrorCode::ValidationError, true) => {
            "do not send it again. Send `example` with your own values in it, or tell the user what you lack".into()
        }
        (ErrorCode::NotFound | ErrorCode::Ambiguous, _) => {
            "do not guess another name. Ask tool_search for what you want to do, or tell the user that there is no such tool".into()
        }
        _ => format!(
            "do not send it again. Try another way, or tell the user that `{}` does not work and what it said",
            call.op
        ),
    };
    failure.details.insert("last_code".into(), last.into());
    failure.details.insert("failures".into(), count.into());
    failure.code = ErrorCode::LoopStopped;
}
