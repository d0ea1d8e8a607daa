//! Sends a call to its backend, with the arguments of the caller and those that the operator sets, and takes in the answer.

use std::borrow::Cow;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::backend::{
    BackendError, BackendRequest, BackendResponse, Backends, Begun, McpAnswer, failure_of, no_backend,
};
use super::call::{Checked, Notes};
use super::record::LEFT_OUT;
use super::results::Results;
use super::select::{found_nothing, selected};
use super::steps::run_steps;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::results::length;
use toolcrib_catalog::{ToolArgument, contradicts};
use toolcrib_definition::Backend;
use toolcrib_definition::guard::guarded;
use toolcrib_definition::secret::REDACTED;
use toolcrib_front::long_work::apart;
use toolcrib_front::mcp::FilledSecrets;

/// Answers a dry run with the request that a call would send.
pub(super) async fn preview(call: &Checked, notes: &mut Notes) -> Result<Value> {
    let backend = backend(call)?;
    if let Backend::Steps(backend) = &*backend {
        // A dry run of steps runs those that only read.
        let sent = SentArguments::of(call).map_err(|error| failure(call, error))?;
        return Box::pin(run_steps(call, backend, (&*sent.value, &*sent.hidden), &Begun::default(), notes))
            .await;
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
            let result =
                Box::pin(run_steps(call, backend, (&*sent.value, &*sent.hidden), begun, notes)).await?;
            Ok(BackendResponse::new(result))
        }
        // The other backends have time limits themselves.
        _ => call.context.services.backends.run(request).await,
    };
    let response = match response {
        Ok(response) => response,
        Err(mut error) => {
            let original = error.original.take();
            let secrets = secrets_of(call, sent.hidden);
            notes.original = original.map(|original| Box::new(original.without(&secrets)));
            return Err(failure_of(call.tool(), call.secrets(), call.arguments(), &secrets, error));
        }
    };
    let hidden = FilledSecrets::of(sent.hidden);
    let (content, warning) = hidden.hide_in_result(response.content);
    notes.warnings.extend(response.warnings.into_iter().chain(warning));
    notes.original = response.original.map(|original| match original {
        McpAnswer::Result(result) => Box::new(McpAnswer::Result(hidden.hide_in_result(result).0)),
        error => Box::new(error.without(&hidden)),
    });
    notes.warnings.extend(broken_promise(call, notes.original.as_deref()));
    let shifted = call.tool().rules.context_shift.as_deref().and_then(|pointer| content.pointer(pointer));
    notes.session_context = shifted.filter(|context| !context.is_null()).cloned();
    match call.request.step {
        // The next step may need all of it.
        Some(_) => Ok(content),
        None => {
            let content = selected_part(call, content, notes);
            let limit = call.tool().rules.result.limit;
            if limit.is_none() && call.request.as_is && notes.original.is_some() {
                // The client gets the unchanged answer.
                return Ok(content);
            }
            let limit = limit.unwrap_or(call.config().exec.result_bytes).max(1);
            let results = Results { state: call.state(), caller: &call.context.caller.name, limit };
            let page = results.first_page(content).await;
            notes.warnings.extend(page.warning);
            notes.continuation = page.more.map(|more| json!(more));
            Ok(page.value)
        }
    }
}

/// The note about a result of an MCP server that is not what its tool's `outputSchema` promises.
fn broken_promise(call: &Checked, original: Option<&McpAnswer>) -> Option<String> {
    let schema = call.tool().output.as_ref()?.value();
    let what = match original?.structured() {
        None => "is missing",
        Some(data) if apart(length(data), || contradicts(schema, data)) => "does not fit",
        Some(_) => return None,
    };
    Some(format!(
        "the server's `structuredContent` {what}: its tool promises another result in `outputSchema`"
    ))
}

fn backend(call: &Checked) -> Result<Cow<'_, Backend>> {
    Backends::of(call.tool(), call.config()).ok_or_else(|| no_backend(call.tool(), call.arguments()))
}

/// The part of a result that the call selects, or else the operator, without the blocks of an MCP server; else all of it. The call
/// was run, so nothing is withheld because of a mistake in an expression.
fn selected_part(call: &Checked, content: Value, notes: &mut Notes) -> Value {
    let own = call.request.select.as_deref();
    let Some(expression) = own.or(call.tool().rules.result.select.as_deref()) else { return content };
    let selected = selected(expression, &content).map(|part| (found_nothing(&part, &content), part));
    match selected {
        Ok((None, part)) if own.is_none() && part == content => content,
        Ok((None, part)) => {
            notes.original = None;
            notes.warnings.extend(own.is_none().then(|| LEFT_OUT.to_string()));
            part
        }
        // An operator's expression is not for results of another form.
        Ok((Some(_), _)) | Err(_) if own.is_none() => content,
        Ok((Some(nothing), part)) => {
            notes.original = None;
            notes.warnings.push(nothing.message);
            part
        }
        Err(problem) => {
            notes.warnings.push(problem.message);
            content
        }
    }
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
    failure_of(call.tool(), call.secrets(), call.arguments(), &secrets_of(call, Vec::new()), error)
}

/// The secret arguments of a call, and the values that the operator has set.
fn secrets_of(call: &Checked, set: Vec<Value>) -> FilledSecrets {
    let (_, given) = call.secrets().split(call.tool().input.parameters.schema(), call.arguments());
    FilledSecrets::of(given.into_iter().map(|secret| secret.value).chain(set))
}

/// The arguments that a backend gets: those of the caller, and those that the operator sets.
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
        for argument in &call.tool().input.set_arguments {
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
            "the operator sets the argument `{}`, but its value is not read: toolcrib.toml was found, not named",
            argument.name
        )));
    };
    let text = call.context.services.backends.variable(variable)?;
    let plain = || Value::from(text.as_str());
    Ok(if argument.is_text { plain() } else { serde_json::from_str(&text).unwrap_or_else(|_| plain()) })
}
