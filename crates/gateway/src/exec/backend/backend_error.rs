//! Errors of backends: their kinds and fields, and the error of an envelope that they become.

use serde_json::{Value, json};

use super::mcp_answer::McpAnswer;
use crate::tool_error::{Certainty, ErrorCode, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::with_placeholders;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Backend, Effect};
use toolcrib_front::credentials::SignInProblem;
use toolcrib_front::mcp::{FilledSecrets, Missing};

/// The error of a backend that has no result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendError {
    /// The kind, which says whether the tool was run.
    pub kind: BackendErrorKind,
    /// One line, without secrets or addresses.
    pub message: String,
    /// The next step for the caller.
    pub next_action: String,
    /// The argument that cannot be sent, if known; for [`BackendErrorKind::InvalidArgument`].
    pub argument: Option<String>,
    /// The answer that a backend gave in place of a result, as `details.backend` of an envelope shows it.
    pub answer: Option<Value>,
    /// The status of an HTTP response that is no success.
    pub status: Option<u16>,
    /// Seconds to wait, as its `Retry-After` header says.
    pub retry_after_seconds: Option<u64>,
    /// The unchanged answer of an MCP server.
    pub original: Option<Box<McpAnswer>>,
}

/// The result of a request to a backend, or of a part of it.
pub type Result<T, E = BackendError> = std::result::Result<T, E>;

/// The next step after a call that may have been run.
pub(super) const CHECK_FIRST: &str = "check whether it was done before you send the call again";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BackendErrorKind {
    #[default]
    /// No configuration says how to reach the backend, or it lacks a setting of the operator.
    Unconfigured,
    /// The caller's request lacks something that the backend needs, such as a token.
    MissingCredential,
    /// The operator has to sign in to the backend first.
    SignInRequired,
    /// An argument fits the schema, but cannot be sent.
    InvalidArgument,
    /// The backend was not reached: nothing was run.
    NotSent,
    /// The backend answered that it is too busy, and has not run the call.
    Busy,
    /// The backend answered with an error.
    Failed,
    /// The request was sent, and the connection broke: the tool may have been run.
    ConnectionLost,
    /// The request was sent, and no answer came in time: the tool may have been run.
    TimedOut,
}

impl BackendErrorKind {
    /// Certainty whether the tool was run.
    fn certainty(self) -> Certainty {
        match self {
            BackendErrorKind::Failed => Certainty::Answered,
            BackendErrorKind::ConnectionLost | BackendErrorKind::TimedOut => Certainty::Unknown,
            _ => Certainty::NotRun,
        }
    }
}

impl BackendError {
    /// An error of this kind.
    pub fn new(kind: BackendErrorKind, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, next_action: next_action.into(), ..Self::default() }
    }

    /// An error that only the operator can fix.
    pub fn unconfigured(message: impl Into<String>) -> Self {
        let next = "tell the operator; sending the call again changes nothing";
        Self::new(BackendErrorKind::Unconfigured, message, next)
    }

    /// The error of a call for which there is no token.
    pub(super) fn of_sign_in(server: &str, problem: &SignInProblem) -> Self {
        let kind = match problem {
            SignInProblem::SignIn(_) => BackendErrorKind::SignInRequired,
            SignInProblem::NotShared | SignInProblem::NoCallerToken => BackendErrorKind::MissingCredential,
            SignInProblem::Refused(_) => BackendErrorKind::NotSent,
            SignInProblem::Setting(_) => BackendErrorKind::Unconfigured,
        };
        let step = problem.next_step(server);
        let next = match kind {
            BackendErrorKind::SignInRequired => {
                format!("tell the user to {step}, and send the call again then")
            }
            _ => step,
        };
        Self::new(kind, format!("the server `{server}` was not called: {problem}"), next)
    }

    /// The error of a function of toolcrib that is the backend of a tool.
    pub(crate) fn of_function(error: ToolError) -> Self {
        let answer = json!(error);
        Self::new(BackendErrorKind::Failed, error.message, error.next_action).with_answer(answer)
    }

    /// A connection that broke in the middle of a call.
    pub(super) fn connection_lost(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::ConnectionLost, message, CHECK_FIRST)
    }

    /// A call that took longer than its timeout.
    pub(crate) fn timed_out(message: impl Into<String>) -> Self {
        Self::new(BackendErrorKind::TimedOut, message, CHECK_FIRST)
    }

    /// An argument that cannot be sent. An empty name: the argument is not known.
    pub(super) fn invalid_argument(argument: &str, message: impl Into<String>) -> Self {
        let argument = Some(argument).filter(|argument| !argument.is_empty()).map(str::to_string);
        Self { argument, ..Self::new(BackendErrorKind::InvalidArgument, message, "correct the arguments") }
    }

    pub(super) fn with_answer(self, answer: impl Into<Value>) -> Self {
        Self { answer: Some(answer.into()), ..self }
    }

    pub(super) fn with_original(self, original: McpAnswer) -> Self {
        Self { original: Some(Box::new(original)), ..self }
    }
}

impl From<Missing> for BackendError {
    fn from(missing: Missing) -> Self {
        match &missing {
            Missing::Variable(_) => Self::unconfigured(missing.to_string()),
            Missing::Header(name) => Self::new(
                BackendErrorKind::MissingCredential,
                format!("its backend needs the header `{name}` of the caller, and this call has none"),
                format!("the client has to send `{name}` with its requests to toolcrib"),
            ),
        }
    }
}

/// The next step after too many calls, with the seconds that the backend wants.
pub(super) fn wait_for(seconds: Option<u64>) -> String {
    let wait = seconds.map_or("a while".into(), |seconds| format!("{seconds} seconds"));
    format!("wait {wait} before the next call")
}

/// The error of an envelope for a call of `tool` with these arguments. Backends often repeat in their errors what was sent, so
/// secrets of that are hidden.
pub(crate) fn failure_of(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    sent: &FilledSecrets,
    error: BackendError,
) -> ToolError {
    if error.kind == BackendErrorKind::InvalidArgument {
        return invalid_argument(tool, secrets, arguments, error);
    }
    let message = secrets.text(&sent.hide(&error.message)).into_owned();
    let code = match error.status {
        Some(403) => ErrorCode::PermissionDenied,
        Some(404) => ErrorCode::NotFound,
        Some(409) => ErrorCode::Conflict,
        Some(429) => ErrorCode::RateLimited,
        _ => code(error.kind, tool.rules.effect),
    };
    let mut failure = ToolError::new(code, message, error.next_action).with_certainty(error.kind.certainty());
    if let (Some(seconds), ErrorCode::RateLimited) = (error.retry_after_seconds, code) {
        failure = failure.detail("retry_after", seconds);
    }
    if let Some(answer) = error.answer {
        failure = failure.detail("source", "backend");
        if let Some(status) = error.status {
            failure = failure.detail("status", status);
        }
        failure = failure.detail("backend", secrets.redacted(&Value::Null, &sent.hide_in(answer)));
    }
    if tool.rules.effect != Effect::Read && failure.certainty == Certainty::Unknown {
        failure = failure.detail("may_have_run", true);
    }
    failure
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
) -> ToolError {
    let Some(argument) = &error.argument else { return ToolError::invalid(error.message, error.next_action) };
    let pointer = pointer_join("", argument);
    ToolError::invalid(error.message.as_str(), error.next_action)
        .field(&pointer, &error.message)
        .offering(with_placeholders(tool, secrets, arguments, std::slice::from_ref(&pointer)))
}

/// A valid call of a tool without a backend: its caller has to run it.
pub(crate) fn no_backend(tool: &Tool, arguments: &Value) -> ToolError {
    let (why, next) = match (&tool.rules.withheld, &tool.backend) {
        (Some(next), Some(Backend::Steps(_))) => ("its steps are wrong", next.as_str()),
        (Some(next), _) => ("the program or server that it needs is not trusted", next.as_str()),
        (None, _) => (
            "no backend is configured for it",
            "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
        ),
    };
    let message = format!("the call is valid, but `{}` cannot be run here: {why}", tool.names.op);
    let mut failure = ToolError::new(ErrorCode::NoBackend, message, next);
    failure.call = Some(json!({ "tool": tool.names.canonical, "arguments": arguments }));
    failure
}
