//! What a backend's fault means to the caller.

use std::time::Duration;

use serde_json::Value;

use super::Failure;
use super::active_call::ActiveCall;
use super::backend::{BackendError, BackendErrorKind};
use crate::arguments::with_placeholders;
use crate::catalog::Tool;
use crate::guard::MISTAKE;
use crate::refusal::ErrorCode;
use crate::secret::Policy as Secrets;
use crate::sources::mcp::Secrets as Filled;
use crate::tool::Effect;

/// The same in the words of an envelope.
pub(super) fn failure_of(
    tool: &Tool,
    secrets: Secrets<'_>,
    arguments: &Value,
    mut error: BackendError,
) -> Failure {
    if error.kind == BackendErrorKind::InvalidArgument {
        return invalid_argument(tool, secrets, arguments, error);
    }
    // What runs tools likes to repeat what it was sent.
    let (_, hidden) = secrets.split(tool.parameters.schema(), arguments);
    let sent = Filled::of(hidden.into_iter().map(|secret| secret.value));
    error.message = secrets.text(&sent.hide(&error.message)).into_owned();
    error.detail = error.detail.map(|detail| secrets.shown(&Value::Null, &sent.hide_in(detail)));
    let changes = tool.effect != Effect::Read;
    let code = match error.kind {
        BackendErrorKind::Unconfigured => ErrorCode::NoBackend,
        BackendErrorKind::MissingCredential => ErrorCode::PermissionDenied,
        BackendErrorKind::InvalidArgument => ErrorCode::ValidationError,
        BackendErrorKind::NotSent | BackendErrorKind::Busy | BackendErrorKind::Failed => {
            ErrorCode::BackendError
        }
        BackendErrorKind::ConnectionLost if changes => ErrorCode::OutcomeUnknown,
        BackendErrorKind::ConnectionLost => ErrorCode::BackendError,
        BackendErrorKind::TimedOut => ErrorCode::BackendTimeout,
    };
    let mut failure = Failure::new(code, error.message, error.next_action);
    if let Some(detail) = error.detail {
        failure = failure.detail("backend", detail);
    }
    if changes && matches!(error.kind, BackendErrorKind::ConnectionLost | BackendErrorKind::TimedOut) {
        failure = failure.detail("may_have_run", true);
    }
    failure
}

/// Arguments that fit the schema, and cannot be sent: told like those that do not fit.
fn invalid_argument(tool: &Tool, secrets: Secrets<'_>, arguments: &Value, error: BackendError) -> Failure {
    let mut failure = Failure::invalid(error.message, error.next_action);
    let wrong = error.detail.as_ref().and_then(|detail| detail.get("field_errors")?.as_array());
    let mut pointers = Vec::new();
    for error in wrong.into_iter().flatten() {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        failure = failure.field(text("pointer"), text("message"), None);
        pointers.push(text("pointer").to_string());
    }
    if pointers.is_empty() {
        return failure;
    }
    failure.offering(None, with_placeholders(tool, secrets, arguments, &pointers))
}

/// That a call has panicked. `was_begun` says whether something may have left for what runs its tool.
pub(super) fn broken(call: &ActiveCall, was_begun: bool) -> Failure {
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
pub(super) fn timed_out(time: Duration) -> BackendError {
    BackendError {
        kind: BackendErrorKind::TimedOut,
        message: format!("there was no answer within {} seconds", time.as_secs()),
        detail: None,
        next_action: "look whether it was done before you send it again".into(),
    }
}
