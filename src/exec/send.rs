//! Sends a call to its backend, and takes in the answer.

use std::borrow::Cow;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::backend::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, Backends, Begun, McpAnswer, failure_of,
    no_backend,
};
use super::call::{Checked, RunNotes};
use super::{Outcome, record, results, steps};
use crate::catalog::ToolArgument;
use crate::guard::guarded;
use crate::refusal::Refusal;
use crate::secret::REDACTED;
use crate::sources::mcp::FilledSecrets;
use crate::tool::Backend;

/// Answers a dry run with the request that a call would send.
pub(super) async fn preview(call: &Checked, notes: &mut RunNotes) -> Outcome {
    let Some(backend) = Backends::of(call.tool(), call.config()) else {
        return Outcome::Failed(no_backend(call.tool(), call.arguments()));
    };
    let sent = match &*backend {
        // A dry run of steps runs those that only read.
        Backend::Steps(_) => SentArguments::of(call),
        _ => SentArguments::shown(call),
    };
    let sent = match sent {
        Ok(sent) => sent,
        Err(error) => return Outcome::Failed(failure(call, error)),
    };
    if let Backend::Steps(backend) = &*backend {
        return Box::pin(steps::preview(call, backend, &sent, notes)).await;
    }
    match call.context.backends().preview(backend_request(call, &backend, &sent, &Begun::default())) {
        Ok(would) => {
            // The dry run of the whole says so itself.
            if call.request.step.is_none() {
                notes.warnings.push("nothing was run; send dry_run: false to run it".into());
            }
            Outcome::Result(json!({ "would": would }))
        }
        Err(error) => Outcome::Failed(failure(call, error)),
    }
}

/// Sends a call to its backend.
pub(super) async fn send(call: &Checked, notes: &mut RunNotes) -> Result<Value, RunFailure> {
    let begun = Begun::default();
    let executed = guarded(send_begun(call, &begun, notes)).await;
    executed.unwrap_or_else(|_| {
        let is_begun = begun.is_marked();
        let certainty = if is_begun { Certainty::Unknown } else { Certainty::NotRun };
        Err(RunFailure { failure: call.panicked(is_begun), certainty })
    })
}

/// Runs a call, and marks `begun` before anything is sent.
async fn send_begun(call: &Checked, begun: &Begun, notes: &mut RunNotes) -> Result<Value, RunFailure> {
    let Some(backend) = Backends::of(call.tool(), call.config()) else {
        let failure = no_backend(call.tool(), call.arguments());
        return Err(RunFailure::not_run(failure));
    };
    let sent = SentArguments::of(call).map_err(|error| RunFailure::not_run(failure(call, error)))?;
    notes.was_run = true;
    let request = backend_request(call, &backend, &sent, begun);
    let response = match &*backend {
        Backend::Builtin { function } => run_function(call, function, request).await,
        Backend::Steps(backend) => Box::pin(steps::run(call, backend, &sent, begun, notes))
            .await
            .map(BackendResponse::new)
            .map(Ok)?,
        // The other backends keep the timeout themselves.
        _ => call.context.backends().run(request).await,
    };
    match response {
        Ok(response) => {
            let response = sent.hide_in_response(response);
            notes.warnings.extend(response.warnings);
            notes.original = response.original.map(Box::new);
            record::store_session_context(call, call.tool(), &response.content, notes).await;
            match call.request.step {
                // The next step may need all of it.
                Some(_) => Ok(response.content),
                // The client gets the answer as it came.
                None if call.request.as_is && notes.original.is_some() => Ok(response.content),
                None => {
                    let content = selected(call, response.content, notes);
                    Ok(results::first_page(call, content, notes).await)
                }
            }
        }
        Err(mut error) => {
            let certainty = error.kind.into();
            let original = error.original.take().map(|original| without_arguments(call, original));
            notes.original = original.map(|original| Box::new(sent.hide_in_error(*original)));
            Err(RunFailure { failure: sent.hide_in_refusal(failure(call, error)), certainty })
        }
    }
}

/// The fields of a result that the call selects, without blocks beside them; else all of it.
fn selected(call: &Checked, content: Value, notes: &mut RunNotes) -> Value {
    if call.request.select.is_empty() {
        return content;
    }
    notes.original = None;
    let (fields, missing) = results::select_fields(&content, &call.request.select);
    notes.warnings.extend(missing.iter().map(results::Missing::warning));
    fields
}

/// Runs a tool whose backend is one of toolcrib's functions.
async fn run_function(
    call: &Checked,
    function: &str,
    request: BackendRequest<'_>,
) -> Result<BackendResponse, BackendError> {
    request.begun.mark();
    let answer = call.context.function(function, request.arguments.clone());
    match timeout(request.timeout, answer).await {
        Ok(answer) => answer.map(BackendResponse::new),
        Err(_) => Err(BackendError::new(
            BackendErrorKind::TimedOut,
            format!("there was no answer within {} seconds", request.timeout.as_secs()),
            "check whether it was done before you send it again",
        )),
    }
}

fn backend_request<'o>(
    call: &'o Checked,
    backend: &'o Backend,
    sent: &'o SentArguments<'_>,
    begun: &'o Begun,
) -> BackendRequest<'o> {
    BackendRequest {
        tool: call.tool(),
        backend,
        config: call.config(),
        arguments: &sent.value,
        caller: call.context.caller(),
        idempotency_key: call.request.idempotency_key.as_deref(),
        timeout: call.timeout(),
        begun,
    }
}

/// The error of an MCP server as it came, less the secret arguments that it repeats.
fn without_arguments(call: &Checked, original: Box<McpAnswer>) -> Box<McpAnswer> {
    let (_, hidden) = call.secrets().split(call.tool().parameters.schema(), call.arguments());
    if hidden.is_empty() {
        return original;
    }
    let sent = FilledSecrets::of(hidden.into_iter().map(|secret| secret.value));
    Box::new(original.without(&sent))
}

fn failure(call: &Checked, error: BackendError) -> Refusal {
    failure_of(call.tool(), call.secrets(), call.arguments(), error)
}

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
