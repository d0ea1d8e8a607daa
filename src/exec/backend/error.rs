//! Errors of backends: their kinds and fields, and the error of an envelope that they become.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::mcp::McpAnswer;
use crate::arguments::with_placeholders;
use crate::catalog::Tool;
use crate::credentials::SignInProblem;
use crate::finding::pointer_join;
use crate::secret::SecretPolicy;
use crate::sources::mcp::{FilledSecrets, Missing};
use crate::tool::{Backend, Effect};
use crate::tool_error::{Certainty, ErrorCode, ToolError};

/// The error of a backend that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendError {
    /// The kind, which says whether the tool was run.
    pub kind: BackendErrorKind,
    /// One line, without secrets or addresses.
    pub message: String,
    /// The next step for the caller.
    pub next_action: String,
    /// The argument that cannot be sent, if known; for [`BackendErrorKind::InvalidArgument`].
    pub argument: Option<String>,
    /// The answer of the backend, if it gave one.
    pub answer: Option<Box<ErrorAnswer>>,
    /// The unchanged answer of an MCP server.
    pub original: Option<Box<McpAnswer>>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendErrorKind {
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

/// The answer of a backend in place of a result. As JSON it is `details.backend` of an envelope; long texts are cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ErrorAnswer {
    /// An HTTP response that is no success.
    Http {
        /// Its status code.
        status: u16,
        /// Seconds to wait, as its `Retry-After` header says.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
        /// Its `Location` header, of a redirect that is not followed.
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<String>,
        /// Its body: JSON where it is JSON and short, else text.
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// A program that ended with an error.
    Command {
        /// Its exit code; `None` where a signal ended it.
        exit_code: Option<i32>,
        /// The end of its stderr.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
        /// The beginning of its stdout.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
    },
    /// An error of MCP's protocol.
    McpError {
        /// Its JSON-RPC code.
        code: i32,
        /// Its data.
        data: Option<Value>,
    },
    /// A result of an MCP tool with `isError`.
    McpResult {
        /// Its content.
        body: String,
    },
    /// An error of one of toolcrib's functions.
    Function(Box<ToolError>),
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
        let (message, next_action) = (message.into(), next_action.into());
        Self { kind, message, next_action, argument: None, answer: None, original: None }
    }

    /// An error that only the operator can fix.
    pub fn unconfigured(message: impl Into<String>) -> Self {
        let next = "tell the operator; sending the call again changes nothing";
        Self::new(BackendErrorKind::Unconfigured, message, next)
    }

    /// The error of a call for which there is no token.
    pub(super) fn of_sign_in(server: &str, problem: &SignInProblem) -> Self {
        let kind = match problem {
            SignInProblem::SignIn { .. } => BackendErrorKind::SignInRequired,
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
    pub fn of_function(error: ToolError) -> Self {
        let (message, next_action) = (error.message.clone(), error.next_action.clone());
        Self::new(BackendErrorKind::Failed, message, next_action)
            .with_answer(ErrorAnswer::Function(Box::new(error)))
    }

    /// A connection that broke in the middle of a call.
    pub(super) fn connection_lost(message: impl Into<String>) -> Self {
        Self::new(
            BackendErrorKind::ConnectionLost,
            message,
            "check whether it was done before you send the call again",
        )
    }

    /// A call that took longer than its timeout.
    pub(super) fn timed_out(message: impl Into<String>) -> Self {
        Self::new(
            BackendErrorKind::TimedOut,
            message,
            "check whether it was done before you send the call again",
        )
    }

    /// An argument that cannot be sent. An empty name: the argument is not known.
    pub(super) fn invalid_argument(argument: &str, message: impl Into<String>) -> Self {
        let argument = Some(argument).filter(|argument| !argument.is_empty()).map(str::to_string);
        Self { argument, ..Self::new(BackendErrorKind::InvalidArgument, message, "correct the arguments") }
    }

    pub(super) fn with_answer(self, answer: ErrorAnswer) -> Self {
        Self { answer: Some(Box::new(answer)), ..self }
    }

    pub(super) fn with_original(self, original: McpAnswer) -> Self {
        Self { original: Some(Box::new(original)), ..self }
    }

    /// The time to wait that the backend asked for (`Retry-After`).
    pub fn retry_after(&self) -> Option<Duration> {
        match self.answer.as_deref()? {
            ErrorAnswer::Http { retry_after_seconds, .. } => retry_after_seconds.map(Duration::from_secs),
            _ => None,
        }
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

/// The error of an envelope for a call of `tool` with these arguments.
pub(in crate::exec) fn failure_of(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &Value,
    error: BackendError,
) -> ToolError {
    if error.kind == BackendErrorKind::InvalidArgument {
        return invalid_argument(tool, secrets, arguments, error);
    }
    // Backends often repeat the arguments in their errors.
    let (_, hidden) = secrets.split(tool.parameters.schema(), arguments);
    let sent = FilledSecrets::of(hidden.into_iter().map(|secret| secret.value));
    let message = secrets.text(&sent.hide(&error.message)).into_owned();
    let code = answer_code(&error).unwrap_or_else(|| code(error.kind, tool.effect));
    let wait = error.retry_after().filter(|_| code == ErrorCode::RateLimited);
    let mut failure = ToolError::new(code, message, error.next_action).with_certainty(error.kind.certainty());
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
    if tool.effect != Effect::Read && failure.certainty == Certainty::Unknown {
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
) -> ToolError {
    let Some(argument) = &error.argument else { return ToolError::invalid(error.message, error.next_action) };
    let pointer = pointer_join("", argument);
    ToolError::invalid(error.message.as_str(), error.next_action)
        .field(&pointer, &error.message)
        .offering(with_placeholders(tool, secrets, arguments, std::slice::from_ref(&pointer)))
}

/// A valid call of a tool without a backend: its caller has to run it.
pub(in crate::exec) fn no_backend(tool: &Tool, arguments: &Value) -> ToolError {
    let (why, next) = match (&tool.withheld, &tool.definition.backend) {
        (Some(next), Some(Backend::Steps(_))) => ("its steps are wrong", next.as_str()),
        (Some(next), _) => ("the program or server that it needs is not trusted", next.as_str()),
        (None, _) => (
            "no backend is configured for it",
            "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
        ),
    };
    let message = format!("the call is valid, but `{}` cannot be run here: {why}", tool.op);
    let mut failure = ToolError::new(ErrorCode::NoBackend, message, next);
    failure.call = Some(json!({ "tool": tool.name, "arguments": arguments }));
    failure
}
