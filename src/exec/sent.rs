//! The arguments that go to a backend, with those that the operator sets, and the way in which sending them can fail.

use std::borrow::Cow;

use serde_json::Value;

use super::backend::{BackendError, BackendErrorKind, BackendResponse, McpAnswer};
use super::call::Checked;
use crate::catalog::ToolArgument;
use crate::refusal::Refusal;
use crate::secret::REDACTED;
use crate::sources::mcp::FilledSecrets;

/// The failure of a run.
pub(super) struct RunFailure {
    pub(super) failure: Refusal,
    pub(super) certainty: Certainty,
}

/// Certainty whether a failed call was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The call was not run.
    NotRun,
    /// Some of its steps were run. Each has a key of its own, so that the same call goes on.
    Partly,
    /// Its backend answered with an error.
    Answered,
    /// The call may have been run.
    Unknown,
}

impl From<BackendErrorKind> for Certainty {
    fn from(kind: BackendErrorKind) -> Self {
        match kind {
            BackendErrorKind::Failed => Certainty::Answered,
            kind if kind.was_not_run() => Certainty::NotRun,
            _ => Certainty::Unknown,
        }
    }
}

impl RunFailure {
    /// The failure of a call that was not run.
    pub(super) fn not_run(failure: Refusal) -> Self {
        Self { failure, certainty: Certainty::NotRun }
    }
}

/// The arguments of a call, for its backend.
pub(super) struct SentArguments<'c> {
    pub(super) value: Cow<'c, Value>,
    /// The values that no answer may repeat.
    pub(super) hidden: Vec<Value>,
}

impl<'c> SentArguments<'c> {
    /// The arguments with all values.
    pub(super) fn of(call: &'c Checked) -> Result<Self, BackendError> {
        Self::filled(call, |_, value| value)
    }

    /// The arguments for a text about the call, without the values that no answer may repeat.
    pub(super) fn shown(call: &'c Checked) -> Result<Self, BackendError> {
        Self::filled(call, |argument, value| if is_secret(argument) { REDACTED.into() } else { value })
    }

    fn filled(call: &'c Checked, shown: fn(&ToolArgument, Value) -> Value) -> Result<Self, BackendError> {
        let mut value = Cow::Borrowed(call.arguments());
        let mut hidden = Vec::new();
        for argument in &call.tool().set_arguments {
            let is_given = value.get(&argument.name).is_some_and(|given| !given.is_null());
            if is_given && !argument.set.hidden {
                continue;
            }
            let own = value_of(call, argument)?;
            if is_secret(argument) {
                hidden.push(own.clone());
            }
            if let Value::Object(arguments) = value.to_mut() {
                arguments.insert(argument.name.clone(), shown(argument, own));
            }
        }
        Ok(Self { value, hidden })
    }

    /// A refusal that repeats no hidden value.
    pub(super) fn hide_in_refusal(&self, mut refusal: Refusal) -> Refusal {
        if self.hidden.is_empty() {
            return refusal;
        }
        let hidden = FilledSecrets::of(self.hidden.iter().cloned());
        refusal.message = hidden.hide(&refusal.message);
        if let Value::Object(hints) = hidden.hide_in(Value::Object(std::mem::take(&mut refusal.hints))) {
            refusal.hints = hints;
        }
        refusal
    }

    /// A response that repeats no hidden credential, with a warning where one stood in it.
    pub(super) fn hide_in_response(&self, mut response: BackendResponse) -> BackendResponse {
        if self.hidden.is_empty() {
            return response;
        }
        let hidden = FilledSecrets::of(self.hidden.iter().cloned());
        let (content, warning) = hidden.hide_in_result(response.content);
        response.content = content;
        response.warnings.extend(warning);
        response.original = response.original.map(|original| match original {
            McpAnswer::Result(result) => McpAnswer::Result(hidden.hide_in_result(result).0),
            error => error.without(&hidden),
        });
        response
    }

    /// The error of an MCP server as it came, without hidden values.
    pub(super) fn hide_in_error(&self, original: McpAnswer) -> McpAnswer {
        match self.hidden.is_empty() {
            true => original,
            false => original.without(&FilledSecrets::of(self.hidden.iter().cloned())),
        }
    }
}

/// Whether the value may be in no answer: callers do not know it, or it comes from the environment.
fn is_secret(argument: &ToolArgument) -> bool {
    argument.set.hidden || argument.set.env.is_some()
}

fn value_of(call: &Checked, argument: &ToolArgument) -> Result<Value, BackendError> {
    if let Some(value) = &argument.set.value {
        return Ok(value.clone());
    }
    let Some(variable) = &argument.set.env else {
        return Err(BackendError::unconfigured(format!(
            "the operator sets the argument `{}`, and its value is not read: toolcrib.toml was merely found",
            argument.name
        )));
    };
    let text = call.context.backends().variable(variable)?;
    let plain = || Value::from(text.as_str());
    Ok(if argument.is_text { plain() } else { serde_json::from_str(&text).unwrap_or_else(|_| plain()) })
}
