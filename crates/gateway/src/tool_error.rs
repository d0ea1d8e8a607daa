//! The error of a call that has no result: a stable code, the wrong arguments, and the next step.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use serde_with::skip_serializing_none;
use strum::{IntoStaticStr, VariantArray};

use crate::fields::fields;
use crate::state::WAITING;
use toolcrib_catalog::arguments::{Corrected, FieldError, InvalidArguments};

/// Code of an error; stable, and documented in `docs/errors.md`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The arguments do not fit the schema of the function.
    ValidationError,
    /// To check the arguments takes too long.
    ValidationTimeout,
    /// There is no such tool, for this caller.
    NotFound,
    /// Several tools have this name.
    Ambiguous,
    /// No tool in this category fits the query.
    NoMatchInCategory,
    /// There is no such category.
    UnknownPath,
    /// The discovery protocol's word for [`ErrorCode::NotFound`].
    ToolNotFound,
    /// The tool exists, but not for this caller.
    NotAuthorized,
    /// The catalog has changed since the cursor was given.
    CursorExpired,
    /// The call is valid, but no backend here can run it.
    NoBackend,
    /// The effect of the call is stronger than allowed, or a person has denied it.
    PermissionDenied,
    /// A person has to approve the call first; it waits in the queue.
    ApprovalRequired,
    /// The tool's doc has to be read before it is called.
    DocRequired,
    /// The idempotency key was used for another call.
    Conflict,
    /// Nobody can know whether an earlier call with this key did its work.
    OutcomeUnknown,
    /// A call of a batch was not run, since a call that it needs has no result, or no time was left.
    NotRun,
    /// The caller, or the backend, has had too many calls.
    RateLimited,
    /// The operator has to sign in to the server of the tool first.
    SignInRequired,
    /// The backend answered with an error, or cannot be reached.
    BackendError,
    /// The backend did not answer in time.
    BackendTimeout,
    /// State that must be kept cannot be written.
    StateUnavailable,
    /// A mistake in toolcrib, or in a template.
    #[default]
    Internal,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: &[ErrorCode] = Self::VARIANTS;

    /// The code as answers write it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The outcome of a call with this error, for the trace and for metrics.
    pub fn outcome(self) -> &'static str {
        if self == ErrorCode::ApprovalRequired { WAITING } else { self.as_str() }
    }

    /// The HTTP status of the code.
    pub fn http_status(self) -> u16 {
        match self {
            ErrorCode::ValidationError | ErrorCode::ValidationTimeout => 400,
            ErrorCode::NotAuthorized
            | ErrorCode::PermissionDenied
            | ErrorCode::ApprovalRequired
            | ErrorCode::SignInRequired => 403,
            ErrorCode::NotFound
            | ErrorCode::NoMatchInCategory
            | ErrorCode::UnknownPath
            | ErrorCode::ToolNotFound => 404,
            ErrorCode::Ambiguous | ErrorCode::Conflict | ErrorCode::OutcomeUnknown => 409,
            ErrorCode::CursorExpired => 410,
            ErrorCode::DocRequired => 428,
            ErrorCode::NotRun => 424,
            ErrorCode::RateLimited => 429,
            ErrorCode::Internal => 500,
            ErrorCode::NoBackend => 501,
            ErrorCode::BackendError => 502,
            ErrorCode::StateUnavailable => 503,
            ErrorCode::BackendTimeout => 504,
        }
    }
}

/// The help path where no op is known.
pub(crate) const ROOT: &str = "root";

/// The result of a call, or of a part of it.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

/// The reason why a call has no result, and the next step.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolError {
    pub code: ErrorCode,
    /// The message, in one line.
    pub message: String,
    /// Each argument that does not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_errors: Vec<FieldError>,
    /// Names that the caller may have meant, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Further facts: categories and tools to look at instead, the answer of a backend.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub hints: Map<String, Value>,
    /// Path to ask `tool_help` for, where tools are called.
    pub help_path: Option<String>,
    /// The next step.
    pub next_action: String,
    /// Arguments that would have been valid.
    pub example: Option<Value>,
    /// Pointers to the made-up values of the example.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fill_in: Vec<String>,
    /// Pointers to the given values that the example lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The call as it was checked, for a host that can run it.
    pub call: Option<Value>,
    /// The op of the example, where that is not the one that was called. This and what follows is for envelopes.
    #[serde(skip)]
    pub example_op: Option<String>,
    /// The fields that the example repeats of the call in addition to its arguments.
    #[serde(skip)]
    pub carried: Map<String, Value>,
    /// Help on the tool.
    #[serde(skip)]
    pub help: Option<Map<String, Value>>,
    /// Whether the call was run.
    #[serde(skip)]
    pub certainty: Certainty,
    /// Whether the wrong arguments are those of a tool, and not of the function that was called.
    #[serde(skip)]
    pub is_of_tool: bool,
}

/// Certainty whether a failed call was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// The call was not run.
    #[default]
    NotRun,
    /// Some of its steps were run. Each has its own key, so that the same call goes on.
    Partly,
    /// Its backend answered with an error.
    Answered,
    /// The call may have been run.
    Unknown,
}

impl ToolError {
    /// An error with a message and a next step.
    pub fn new(code: ErrorCode, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, next_action: next_action.into(), ..Self::default() }
    }

    /// With the certainty whether the call was run.
    pub(crate) fn with_certainty(self, certainty: Certainty) -> Self {
        Self { certainty, ..self }
    }

    /// The error of a mistake in toolcrib or in a template.
    pub(crate) fn internal(problem: impl ToString) -> Self {
        Self::new(ErrorCode::Internal, problem.to_string(), "tell the operator of this server")
    }

    /// The error of a caller whose roles do not allow a tool.
    pub(crate) fn lacks_role(code: ErrorCode, tool: &str) -> Self {
        let message = format!("you may not use `{tool}`: it needs a role that you do not have");
        Self::new(
            code,
            message,
            "do without it, or say that this task needs it; asking again changes nothing",
        )
    }

    /// Two errors as one.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.message = format!("{}; {}", self.message, other.message);
        self.nearest.extend(other.nearest);
        self
    }

    /// The error of input that does not fit.
    pub(crate) fn invalid(message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationError, message, next_action)
    }

    /// With what is wrong with an argument.
    pub fn field(mut self, pointer: &str, message: &str) -> Self {
        self.field_errors.push(FieldError::new(pointer, message));
        self
    }

    /// With what is wrong with a field.
    pub(crate) fn with_field(mut self, field: FieldError) -> Self {
        self.field_errors.push(field);
        self
    }

    /// With this help path, unless it has one.
    pub fn or_help_path(mut self, path: &str) -> Self {
        self.help_path.get_or_insert_with(|| path.to_string());
        self
    }

    /// With something else to know.
    pub(crate) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.hints.insert(name.into(), value.into());
        self
    }

    /// With arguments that would have been right, if there are any.
    pub(crate) fn offering(mut self, corrected: Option<Corrected>) -> Self {
        let Some(corrected) = corrected else { return self };
        self.next_action.push_str(match (corrected.fill_in.is_empty(), corrected.dropped.is_empty()) {
            (true, true) => "; `example` fits",
            (false, true) => "; `example` fits: replace the values listed in fill_in by your own",
            (true, false) => "; `example` fits, without the values listed in dropped",
            (false, false) => {
                "; `example` fits, without the values listed in dropped: replace the values listed in fill_in by your own"
            }
        });
        if !corrected.unnamed.is_empty() {
            self.next_action
                .push_str(", with the arguments listed in unnamed, which the tool does not describe");
            self.hints.insert("unnamed".into(), corrected.unnamed.into());
        }
        self.example = Some(corrected.args);
        (self.fill_in, self.dropped) = (corrected.fill_in, corrected.dropped);
        self
    }

    /// The `error` of an envelope, for a call of `op`.
    pub(crate) fn in_envelope(&self, op: &str) -> Value {
        let mut details = self.hints.clone();
        details.insert("field_errors".into(), json!(self.field_errors));
        let example = self.example.as_ref().map(|args| {
            let op = self.example_op.as_deref().unwrap_or(op);
            let own = [("op".to_string(), op.into()), ("args".to_string(), args.clone())];
            own.into_iter().chain(self.carried.clone()).collect()
        });
        let list = |texts: &[String]| (!texts.is_empty()).then(|| json!(texts));
        let error = fields([
            ("code", Some(json!(self.code))),
            ("message", Some(self.message.as_str().into())),
            ("details", Some(details.into())),
            ("help_path", Some(self.help_path.as_deref().unwrap_or(op).into())),
            ("nearest", list(&self.nearest)),
            ("next_action", Some(self.next_action.as_str().into())),
            ("example", example),
            ("fill_in", list(&self.fill_in)),
            ("dropped", list(&self.dropped)),
            ("call", self.call.clone()),
            ("help", self.help.clone().map(Value::Object)),
        ]);
        error.into()
    }

    /// The error of a stored envelope: one of a backend, without field errors and without an example.
    pub(crate) fn of_envelope(error: Value) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Stored {
            code: ErrorCode,
            message: String,
            details: Map<String, Value>,
            help_path: String,
            next_action: String,
        }
        let Stored { code, message, details: mut hints, help_path, next_action } =
            serde_json::from_value(error).unwrap_or_default();
        hints.shift_remove("field_errors");
        Self { hints, help_path: Some(help_path), ..Self::new(code, message, next_action) }
    }

    /// Adds alternatives, unless the list is empty.
    pub fn hint(mut self, what: &str, list: Vec<impl Serialize>) -> Self {
        if !list.is_empty() {
            self.hints.insert(what.into(), json!(list));
        }
        self
    }

    /// Seconds after which a call that came too soon may be sent again.
    pub fn retry_after(&self) -> Option<u64> {
        if self.code == ErrorCode::RateLimited { self.hints.get("retry_after")?.as_u64() } else { None }
    }
}

impl From<InvalidArguments> for ToolError {
    fn from(invalid: InvalidArguments) -> Self {
        let InvalidArguments { message, next_action, fields, nearest, corrected } = invalid;
        let error = Self { field_errors: fields, nearest, ..Self::invalid(message, next_action) };
        error.offering(corrected)
    }
}
