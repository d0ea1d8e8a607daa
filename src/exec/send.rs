//! Sends a call to its backend, and takes in the answer.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::backend::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, Backends, Begun, McpAnswer, failure_of,
    no_backend,
};
use super::call::{Checked, RunNotes};
use super::{Outcome, record, results, steps};
use crate::arguments::FieldError;
use crate::catalog::ToolArgument;
use crate::finding::{nearest, pointer_unescape};
use crate::guard::guarded;
use crate::refusal::Refusal;
use crate::secret::REDACTED;
use crate::sources::mcp::FilledSecrets;
use crate::tool::{Backend, quoted};

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
    let (fields, missing) = select_fields(&content, &call.request.select);
    notes.warnings.extend(missing.iter().map(Missing::warning));
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

// `select`: fields of a result, by JSON Pointers. `*` in a pointer stands for every item of a list.

/// Most pointers of a call.
const MAX_POINTERS: usize = 50;
/// Names that an error shows.
const MAX_NAMES: usize = 12;
/// The step for every item of a list.
const EVERY: &str = "*";

/// Reads the field `select`: a list of pointers, or one alone.
pub(super) fn read_select(given: Option<Value>) -> Result<Vec<String>, Refusal> {
    let pointers = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(only)) => vec![Value::String(only)],
        Some(Value::Array(pointers)) => pointers,
        Some(_) => return Err(misshapen_select("/select")),
    };
    if pointers.len() > MAX_POINTERS {
        let message =
            format!("`select` has {} pointers, and at most {MAX_POINTERS} are read", pointers.len());
        return Err(Refusal::invalid(message, "select the fields above them").field("/select", "too many"));
    }
    let pointer = |(index, pointer): (usize, Value)| match pointer {
        Value::String(pointer) if pointer.starts_with('/') => Ok(pointer),
        _ => Err(misshapen_select(&format!("/select/{index}"))),
    };
    pointers.into_iter().enumerate().map(pointer).collect()
}

fn misshapen_select(at: &str) -> Refusal {
    let expected = "JSON Pointers such as \"/total\" and \"/items/*/id\"";
    Refusal::invalid(format!("`select` is a list of {expected}"), format!("send {expected}"))
        .with_field(FieldError::new(at, "this is no JSON Pointer").expecting("a text that begins with /"))
}

/// Refuses pointers to fields that the schema of a result does not know.
pub(super) fn check_select(pointers: &[String], schema: &Value) -> Result<(), Refusal> {
    let unknown = pointers.iter().enumerate().find_map(|(index, pointer)| {
        let problem = unknown_field(pointer, schema)?;
        Some((index, pointer, problem))
    });
    unknown.map_or(Ok(()), |(index, pointer, problem)| Err(refused_pointer(index, pointer, &problem)))
}

/// Refuses pointers to nothing in a result.
pub(super) fn check_all_selected(missing: &[Missing]) -> Result<(), Refusal> {
    missing
        .first()
        .map_or(Ok(()), |missing| Err(refused_pointer(missing.index, &missing.pointer, &missing.nearest)))
}

fn refused_pointer(index: usize, pointer: &str, problem: &str) -> Refusal {
    let message = format!("the result has nothing at `{}`; {problem}", quoted(pointer));
    let next = "correct `select`, or leave it out for the whole result";
    Refusal::invalid(message, next).field(&format!("/select/{index}"), problem)
}

fn pointer_steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| pointer_unescape(step).into_owned())
}

/// The names near a step that a schema does not know; `None` where it knows them all, or leaves them open.
fn unknown_field(pointer: &str, schema: &Value) -> Option<String> {
    let (root, mut at, mut path) = (schema, schema, String::new());
    for step in pointer_steps(pointer) {
        if let Some(target) = at.get("$ref").and_then(Value::as_str) {
            at = root.pointer(target.strip_prefix('#')?)?;
        }
        if at.get("type").is_some_and(|kind| kind == "array") {
            at = at.get("items").filter(|_| step == EVERY || step.parse::<usize>().is_ok())?;
        } else {
            let is_open = ["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if"]
                .iter()
                .any(|word| at.get(*word).is_some_and(|rule| *rule != Value::Bool(false)));
            let known = at.get("properties").and_then(Value::as_object).filter(|_| !is_open)?;
            let Some(property) = known.get(&step) else { return Some(nearest_names(&path, &step, known)) };
            at = property;
        }
        path = format!("{path}/{step}");
    }
    None
}

/// The names that an object has at a pointer, nearest first.
fn nearest_names(path: &str, step: &str, known: &Map<String, Value>) -> String {
    let near = nearest(step, known.keys().map(String::as_str));
    let rest = known.keys().map(String::as_str).filter(|name| !near.contains(name));
    let names: Vec<String> = near.iter().copied().chain(rest).take(MAX_NAMES).map(quoted).collect();
    let place = if path.is_empty() { "it has".to_string() } else { format!("`{}` has", quoted(path)) };
    if names.is_empty() { format!("{place} no fields") } else { format!("{place} {}", names.join(", ")) }
}

/// A pointer to nothing in a result.
pub(super) struct Missing {
    index: usize,
    pointer: String,
    nearest: String,
}

impl Missing {
    /// The warning about it.
    pub(super) fn warning(&self) -> String {
        format!("the result has nothing at `{}`; {}", quoted(&self.pointer), self.nearest)
    }
}

/// The selected fields of a result by their pointers, and the pointers to nothing.
pub(super) fn select_fields(result: &Value, pointers: &[String]) -> (Value, Vec<Missing>) {
    let (mut fields, mut missing) = (Map::new(), Vec::new());
    for (index, pointer) in pointers.iter().enumerate() {
        let steps: Vec<String> = pointer_steps(pointer).collect();
        match selected_value(result, &steps, String::new()) {
            Ok(value) => {
                fields.insert(pointer.clone(), value);
            }
            Err(nearest) => missing.push(Missing { index, pointer: pointer.clone(), nearest }),
        }
    }
    (Value::Object(fields), missing)
}

fn selected_value(value: &Value, steps: &[String], path: String) -> Result<Value, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let below = format!("{path}/{step}");
    match value {
        // Items may lack what others have.
        Value::Array(items) if step == EVERY => {
            let found = items
                .iter()
                .filter_map(|item| selected_value(item, rest, below.clone()).ok())
                .collect::<Vec<_>>();
            if found.is_empty() && !items.is_empty() {
                let problem = items.first().map(|item| selected_value(item, rest, below));
                return Err(problem.and_then(Result::err).unwrap_or_default());
            }
            Ok(found.into())
        }
        Value::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|index| items.get(index));
            let count = items.len();
            let none =
                || format!("`{}` is a list of {count} items: `*` stands for every item", quoted(&path));
            selected_value(item.ok_or_else(none)?, rest, below)
        }
        Value::Object(fields) => match fields.get(step) {
            Some(field) => selected_value(field, rest, below),
            None => Err(nearest_names(&path, step, fields)),
        },
        _ => Err(format!("`{}` has no fields", quoted(&path))),
    }
}
