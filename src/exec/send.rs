//! Sends a call to its backend, and takes in the answer.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::backend::failure::{failure_of, no_backend};
use super::backend::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, Backends, Begun, McpAnswer,
};
use super::call::{Checked, RunNotes};
use super::sent::{Certainty, RunFailure, SentArguments};
use super::{Outcome, record, results, select, steps};
use crate::guard::guarded;
use crate::refusal::Refusal;
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
    let (fields, missing) = select::take(&content, &call.request.select);
    notes.warnings.extend(missing.iter().map(select::Missing::warning));
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
