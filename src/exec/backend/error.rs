//! Errors of backends: their kinds and fields.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::mcp_answer::McpAnswer;
use crate::credentials::SignInProblem;
use crate::refusal::Refusal;
use crate::sources::mcp::Missing;

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
    /// The answer of an MCP server as it came.
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
    /// A refusal of one of toolcrib's functions.
    Function(Box<Refusal>),
}

impl BackendErrorKind {
    /// Whether the tool was not run.
    pub fn was_not_run(self) -> bool {
        use BackendErrorKind::{
            Busy, InvalidArgument, MissingCredential, NotSent, SignInRequired, Unconfigured,
        };
        let is_early = matches!(self, Unconfigured | MissingCredential | SignInRequired | InvalidArgument);
        is_early || matches!(self, NotSent | Busy)
    }

    /// Whether the tool may have been run: nobody can know.
    pub fn may_have_run(self) -> bool {
        matches!(self, BackendErrorKind::ConnectionLost | BackendErrorKind::TimedOut)
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

    /// The refusal of a function of toolcrib that is the backend of a tool.
    pub fn of_function(refusal: Refusal) -> Self {
        let (message, next_action) = (refusal.message.clone(), refusal.next_action.clone());
        Self::new(BackendErrorKind::Failed, message, next_action)
            .with_answer(ErrorAnswer::Function(Box::new(refusal)))
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
