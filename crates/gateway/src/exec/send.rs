//! Sends a call to its backend, and takes in the answer.

use std::borrow::Cow;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::backend::{
    BackendError, BackendRequest, BackendResponse, Backends, Begun, McpAnswer, failure_of, no_backend,
};
use super::call::{Checked, Notes};
use super::results::first_page;
use super::select::{found_nothing, selected};
use super::sent_arguments::SentArguments;
use super::session_context::store_session_context;
use super::steps::run_steps;
use crate::tool_error::{Result, ToolError};
use toolcrib_definition::Backend;
use toolcrib_definition::guard::guarded;
use toolcrib_front::mcp::FilledSecrets;

/// Answers a dry run with the request that a call would send.
pub(super) async fn preview(call: &Checked, notes: &mut Notes) -> Result<Value> {
    let backend = backend(call)?;
    if let Backend::Steps(backend) = &*backend {
        // A dry run of steps runs those that only read.
        let sent = SentArguments::of(call).map_err(|error| failure(call, error))?;
        return Box::pin(run_steps(call, backend, &sent, &Begun::default(), notes)).await;
    }
    let sent = SentArguments::shown(call).map_err(|error| failure(call, error))?;
    let begun = Begun::default();
    let request = backend_request(call, &backend, &sent, &begun);
    let would = call.context.services.backends.preview(request).map_err(|error| failure(call, error))?;
    // The dry run of the whole says so itself.
    if call.request.step.is_none() {
        notes.warnings.push("nothing was run; send dry_run: false to run it".into());
    }
    Ok(json!({ "would": would }))
}

/// Sends a call to its backend.
pub(super) async fn send(call: &Checked, notes: &mut Notes) -> Result<Value> {
    let begun = Begun::default();
    let sent = guarded(send_begun(call, &begun, notes)).await;
    sent.unwrap_or_else(|_| Err(call.panicked(begun.is_marked())))
}

/// Runs a call, and marks `begun` before anything is sent.
async fn send_begun(call: &Checked, begun: &Begun, notes: &mut Notes) -> Result<Value> {
    let backend = backend(call)?;
    let sent = SentArguments::of(call).map_err(|error| failure(call, error))?;
    notes.was_run = true;
    let request = backend_request(call, &backend, &sent, begun);
    let response = match &*backend {
        Backend::Builtin { function } => run_function(call, function, request).await,
        Backend::Steps(backend) => {
            let result = Box::pin(run_steps(call, backend, &sent, begun, notes)).await?;
            Ok(BackendResponse::new(result))
        }
        // The other backends have time limits themselves.
        _ => call.context.services.backends.run(request).await,
    };
    let hidden = FilledSecrets::of(sent.hidden);
    let response = match response {
        Ok(response) => response,
        Err(mut error) => {
            let arguments = call.secrets().split(call.tool().parameters.schema(), call.arguments()).1;
            let arguments = FilledSecrets::of(arguments.into_iter().map(|secret| secret.value));
            let original = error.original.take();
            notes.original = original.map(|original| Box::new(original.without(&arguments).without(&hidden)));
            return Err(without(&hidden, failure(call, error)));
        }
    };
    let (content, warning) = hidden.hide_in_result(response.content);
    notes.warnings.extend(response.warnings.into_iter().chain(warning));
    notes.original = response.original.map(|original| match original {
        McpAnswer::Result(result) => Box::new(McpAnswer::Result(hidden.hide_in_result(result).0)),
        error => Box::new(error.without(&hidden)),
    });
    store_session_context(call, call.tool(), &content, notes).await;
    match call.request.step {
        // The next step may need all of it.
        Some(_) => Ok(content),
        // The client gets the unchanged answer.
        None if call.request.as_is && notes.original.is_some() => Ok(content),
        None => {
            let content = selected_part(call, content, notes);
            Ok(first_page(call, content, notes).await)
        }
    }
}

fn backend(call: &Checked) -> Result<Cow<'_, Backend>> {
    Backends::of(call.tool(), call.config()).ok_or_else(|| no_backend(call.tool(), call.arguments()))
}

/// The part of a result that the call selects, without the blocks of an MCP server; else all of it. The call was run, so
/// nothing is withheld because of a mistake in `select`.
fn selected_part(call: &Checked, content: Value, notes: &mut Notes) -> Value {
    let Some(expression) = &call.request.select else { return content };
    let (part, problem) = match selected(expression, &content) {
        Ok(part) => {
            notes.original = None;
            let problem = found_nothing(&part, &content);
            (part, problem)
        }
        Err(problem) => (content, Some(problem)),
    };
    notes.warnings.extend(problem.map(|problem| problem.message));
    part
}

/// Runs a tool whose backend is one of toolcrib's functions.
async fn run_function(
    call: &Checked,
    function: &str,
    request: BackendRequest<'_>,
) -> Result<BackendResponse, BackendError> {
    let Some(answer) = (call.functions)(&call.context, function, request.arguments.clone()) else {
        let message = format!("`{function}` is not a built-in function that can run a tool");
        return Err(BackendError::unconfigured(message));
    };
    request.begun.mark();
    let time = call.config().serve.limits.call_time();
    match timeout(time, answer).await {
        Ok(answer) => answer.map(BackendResponse::new).map_err(BackendError::of_function),
        Err(_) => {
            Err(BackendError::timed_out(format!("there was no answer within {} seconds", time.as_secs())))
        }
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
        caller: &call.context.caller,
        idempotency_key: call.request.idempotency_key.as_deref(),
        longest_silence: call.longest_silence(),
        begun,
    }
}

fn failure(call: &Checked, error: BackendError) -> ToolError {
    failure_of(call.tool(), call.secrets(), call.arguments(), error)
}

/// An error that repeats no hidden value.
fn without(hidden: &FilledSecrets, mut error: ToolError) -> ToolError {
    error.message = hidden.hide(&error.message);
    if let Value::Object(hints) = hidden.hide_in(Value::Object(std::mem::take(&mut error.hints))) {
        error.hints = hints;
    }
    error
}
