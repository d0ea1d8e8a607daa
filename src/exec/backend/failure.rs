//! Errors of backends as errors of an envelope.

use serde_json::{Value, json};

use super::{BackendError, BackendErrorKind, ErrorAnswer};
use crate::arguments::with_placeholders;
use crate::catalog::Tool;
use crate::finding::pointer_join;
use crate::refusal::{ErrorCode, Refusal};
use crate::secret::SecretPolicy;
use crate::sources::mcp::FilledSecrets;
use crate::tool::{Backend, Effect};

/// The error of an envelope for a call of `tool` with these arguments.
pub(in crate::exec) fn failure_of(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    error: BackendError,
) -> Refusal {
    if error.kind == BackendErrorKind::InvalidArgument {
        return invalid_argument(tool, secrets, arguments, error);
    }
    // Backends often repeat the arguments in their errors.
    let (_, hidden) = secrets.split(tool.parameters.schema(), arguments);
    let sent = FilledSecrets::of(hidden.into_iter().map(|secret| secret.value));
    let message = secrets.text(&sent.hide(&error.message)).into_owned();
    let code = answer_code(&error).unwrap_or_else(|| code(error.kind, tool.effect));
    let wait = error.retry_after().filter(|_| code == ErrorCode::RateLimited);
    let mut failure = Refusal::new(code, message, error.next_action);
    if let Some(wait) = wait {
        failure = failure.detail("retry_after", wait.as_secs());
    }
    if let Some(answer) = error.answer {
        failure = failure.detail("source", "backend");
        if let ErrorAnswer::Http { status, .. } = *answer {
            failure = failure.detail("status", status);
        }
        let answer = serde_json::to_value(answer).unwrap_or_default();
        failure = failure.detail("backend", secrets.redacted(&Value::Null, &sent.hide_in(answer)));
    }
    if tool.effect != Effect::Read && error.kind.may_have_run() {
        failure = failure.detail("may_have_run", true);
    }
    failure
}

/// The code of an answer whose status has one of its own.
fn answer_code(error: &BackendError) -> Option<ErrorCode> {
    let Some(ErrorAnswer::Http { status, .. }) = error.answer.as_deref() else { return None };
    match status {
        403 => Some(ErrorCode::PermissionDenied),
        404 => Some(ErrorCode::NotFound),
        409 => Some(ErrorCode::Conflict),
        429 => Some(ErrorCode::RateLimited),
        _ => None,
    }
}

fn code(kind: BackendErrorKind, effect: Effect) -> ErrorCode {
    match kind {
        BackendErrorKind::Unconfigured => ErrorCode::NoBackend,
        BackendErrorKind::MissingCredential => ErrorCode::PermissionDenied,
        BackendErrorKind::SignInRequired => ErrorCode::SignInRequired,
        BackendErrorKind::InvalidArgument => ErrorCode::ValidationError,
        BackendErrorKind::ConnectionLost if effect != Effect::Read => ErrorCode::OutcomeUnknown,
        BackendErrorKind::TimedOut => ErrorCode::BackendTimeout,
        BackendErrorKind::NotSent
        | BackendErrorKind::Busy
        | BackendErrorKind::Failed
        | BackendErrorKind::ConnectionLost => ErrorCode::BackendError,
    }
}

/// Arguments that fit the schema but cannot be sent get the same error as invalid arguments.
fn invalid_argument(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    error: BackendError,
) -> Refusal {
    let Some(argument) = &error.argument else { return Refusal::invalid(error.message, error.next_action) };
    let pointer = pointer_join("", argument);
    Refusal::invalid(error.message.as_str(), error.next_action)
        .field(&pointer, &error.message)
        .offering(with_placeholders(tool, secrets, arguments, std::slice::from_ref(&pointer)))
}

/// A valid call of a tool without a backend: its caller has to run it.
pub(in crate::exec) fn no_backend(tool: &Tool, arguments: &Value) -> Refusal {
    let (why, next) = match (&tool.withheld, &tool.definition.backend) {
        (Some(next), Some(Backend::Steps(_))) => ("its steps are wrong", next.as_str()),
        (Some(next), _) => ("the program or server that it needs is not trusted", next.as_str()),
        (None, _) => (
            "no backend is configured for it",
            "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
        ),
    };
    let message = format!("the call is valid, but `{}` cannot be run here: {why}", tool.op);
    let mut failure = Refusal::new(ErrorCode::NoBackend, message, next);
    failure.call = Some(json!({ "tool": tool.name, "arguments": arguments }));
    failure
}
