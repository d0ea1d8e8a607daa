//! What a backend's fault means to the caller.

use std::time::Duration;

use serde_json::Value;

use super::Failure;
use super::backend::{Fault, FaultKind};
use super::call::Call;
use super::correction::instead;
use crate::catalog::Tool;
use crate::guard::MISTAKE;
use crate::refusal::ErrorCode;
use crate::secret::Policy as Secrets;
use crate::sources::mcp::Secrets as Filled;
use crate::tool::Effect;

/// The same in the words of an envelope.
pub(super) fn failed(tool: &Tool, secrets: Secrets<'_>, arguments: &Value, mut fault: Fault) -> Failure {
    if fault.kind == FaultKind::Unfit {
        return unfit(tool, secrets, arguments, fault);
    }
    // What runs tools likes to repeat what it was sent.
    let (_, hidden) = secrets.split(tool.parameters.schema(), arguments);
    let sent = Filled::of(hidden.into_iter().map(|secret| secret.value));
    fault.message = secrets.text(&sent.hide(&fault.message)).into_owned();
    fault.detail = fault.detail.map(|detail| secrets.shown(&Value::Null, &sent.hide_in(detail)));
    let changes = tool.effect != Effect::Read;
    let code = match fault.kind {
        FaultKind::Unconfigured => ErrorCode::NoBackend,
        FaultKind::Missing => ErrorCode::PermissionDenied,
        FaultKind::Unfit => ErrorCode::ValidationError,
        FaultKind::NotSent | FaultKind::Busy | FaultKind::Failed => ErrorCode::BackendError,
        FaultKind::Lost if changes => ErrorCode::OutcomeUnknown,
        FaultKind::Lost => ErrorCode::BackendError,
        FaultKind::TimedOut => ErrorCode::BackendTimeout,
    };
    let mut failure = Failure::new(code, fault.message, fault.next_action);
    if let Some(detail) = fault.detail {
        failure = failure.detail("backend", detail);
    }
    if changes && matches!(fault.kind, FaultKind::Lost | FaultKind::TimedOut) {
        failure = failure.detail("may_have_run", true);
    }
    failure
}

/// Arguments that fit the schema, and cannot be sent: told like those that do not fit.
fn unfit(tool: &Tool, secrets: Secrets<'_>, arguments: &Value, fault: Fault) -> Failure {
    let mut failure = Failure::invalid(fault.message, fault.next_action);
    let wrong = fault.detail.as_ref().and_then(|detail| detail.get("field_errors")?.as_array());
    let mut pointers = Vec::new();
    for error in wrong.into_iter().flatten() {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        failure = failure.field(text("pointer"), text("message"), None);
        pointers.push(text("pointer").to_string());
    }
    if pointers.is_empty() {
        return failure;
    }
    failure.offering(None, instead(tool, secrets, arguments, &pointers))
}

/// That a call has panicked. `was_begun` says whether something may have left for what runs its tool.
pub(super) fn broken(call: &Call, was_begun: bool) -> Failure {
    let may_have_run = was_begun && call.effect() != Effect::Read;
    let (message, next) = match may_have_run {
        true => {
            let message = format!("{MISTAKE}; whether the call was run is not known");
            (message, "tell the operator; look whether it was done before you send it again")
        }
        false => (format!("{MISTAKE}; nothing was changed"), "tell the operator"),
    };
    let failure = Failure::new(ErrorCode::Internal, message, next);
    if may_have_run { failure.detail("may_have_run", true) } else { failure }
}

/// That a backend did not keep its time.
pub(super) fn too_late(time: Duration) -> Fault {
    Fault {
        kind: FaultKind::TimedOut,
        message: format!("there was no answer within {} seconds", time.as_secs()),
        detail: None,
        next_action: "look whether it was done before you send it again".into(),
    }
}
