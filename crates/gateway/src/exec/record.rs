//! Records calls in the trace (API-6), and answers them.

use std::fmt::Display;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::call::{Call, Notes};
use super::envelope::Envelope;
use super::json_length::length;
use super::session_context::load_session_context;
use crate::context::FunctionContext;
use crate::fields::fields;
use crate::state::{Event, EventKind};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::arguments::decoded;
use toolcrib_catalog::config::WhenUnwritable;
use toolcrib_definition::guard::guarded_now;
use toolcrib_definition::{Effect, secret};
use toolcrib_front::mcp::FilledSecrets;

/// The trace may lack this call.
pub(super) const NOT_RECORDED: &str = "this call may be missing from the trace, which cannot be written to";

/// Keys are lost when the server stops.
pub(super) const KEY_IN_MEMORY: &str = "the idempotency key is kept in memory only, until the server stops";

pub(super) const NOT_CHECKED: &str = "this tool has no schema: its arguments were not checked";

pub(super) const CHANGES_NOTHING: &str = "this op changes nothing; tool_exec_read runs it too";

/// The op of a standing warning about a tool, and no op for one about the server; `None` for a warning about one call.
pub fn standing_scope<'o>(warning: &str, op: &'o str) -> Option<&'o str> {
    match warning {
        NOT_RECORDED | KEY_IN_MEMORY => Some(""),
        NOT_CHECKED | CHANGES_NOTHING => Some(op),
        _ => None,
    }
}

/// Records a call, and answers it.
pub(super) async fn record(
    mut call: Call,
    mut outcome: Result<Value, ToolError>,
    mut notes: Notes,
) -> Envelope {
    match &mut outcome {
        Err(failure) => {
            failure.help_path.get_or_insert_with(|| call.op().to_string());
            if failure.example.is_some() {
                failure.carried = call.carried();
            }
        }
        Ok(_) if notes.replayed.is_none() => load_session_context(&call, &mut notes).await,
        Ok(_) => {}
    }
    let has_changed = notes.was_run && call.effect() != Effect::Read;
    let lost = if has_changed { call.state().health().lost } else { 0 };
    call.record(outcome_word(&outcome), Some(&outcome), notes.replayed.is_some());
    if has_changed {
        wait_until_durable(&call, lost, &mut notes).await;
    }
    let meta = call.meta(&notes);
    let op = std::mem::take(&mut call.request.op);
    let repaired = std::mem::take(&mut call.repaired);
    Envelope { op, outcome, repaired, meta, original: notes.original }
}

fn outcome_word(outcome: &Result<Value, ToolError>) -> &'static str {
    outcome.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")
}

/// Seconds that a write waits until its trace is on the disk: a slow disk should not delay the answer for longer.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Arguments without secrets, for the trace. In a failed call a secret may stand in the wrong place, or be meant for a near
/// tool, so a name that one of these schemas marks as secret is redacted at any place.
pub(super) fn redacted(call: &Call, arguments: &Value, failure: Option<&ToolError>) -> Value {
    let schema = call.tool.as_ref().map_or(&Value::Null, |tool| tool.parameters.schema());
    let Some(failure) = failure else { return call.secrets().noted(schema, arguments) };
    let near = failure.nearest.iter().filter_map(|op| call.context.view.catalog().find(op));
    let schemas = near.map(|tool| tool.parameters.schema()).chain([schema]);
    let mut rules = call.config().state.redact.clone();
    rules.extend(schemas.flat_map(secret::declared_names));
    secret::SecretPolicy::new(&rules).noted(schema, arguments)
}

/// The arguments of a call, for the trace. Text that is no JSON is recorded by its kind and size alone.
fn input(call: &Call, given: &Value, failure: Option<&ToolError>) -> Value {
    match given {
        Value::Object(_) | Value::Null => redacted(call, given, failure),
        Value::String(text) => match decoded(text).ok().filter(Value::is_object) {
            Some(fields) => redacted(call, &fields, failure),
            None => json!({ "text": format!("{} characters, not JSON", text.chars().count()) }),
        },
        Value::Array(items) => json!({ "list": format!("{} items", items.len()) }),
        plain => json!({ "value": if plain.is_boolean() { "true or false" } else { "a number" } }),
    }
}

impl Call {
    /// Counts the call and writes it to the trace; `word` is `ok` or the code of its error.
    fn record(&mut self, word: &str, outcome: Option<&Result<Value, ToolError>>, is_replayed: bool) {
        self.is_recorded = true;
        let counts = &self.context.services.counts;
        counts.add("toolcrib_executions_total", &format!("outcome=\"{word}\""), 1);
        counts.took("toolcrib_execution_duration_seconds", "", self.started.elapsed());
        let failure = outcome.and_then(|outcome| outcome.as_ref().err());
        let hint = |name: &str| failure.and_then(|failure| failure.hints.get(name)).cloned();
        let detail = fields([
            ("idempotency_key", self.request.idempotency_key.as_deref().map(Value::from)),
            ("step_of", self.request.step.as_ref().map(|outer| outer.op.as_str().into())),
            ("replayed", is_replayed.then(|| true.into())),
            // Whether the backend has answered, and how, shows whether another try may go better.
            ("source", hint("source")),
            ("status", hint("status")),
        ]);
        // The secret arguments of the call that this one is a step of.
        let outer = FilledSecrets::of(self.request.step.iter().flat_map(|step| step.hidden.iter().cloned()));
        let error = failure.map(|failure| self.secrets().text(&outer.hide(&failure.message)).into_owned());
        let no_schema_mode = self.no_schema_mode().and_then(|mode| json!(mode).as_str().map(str::to_string));
        let event = Event {
            op: Some(self.secrets().text(self.op()).into_owned()),
            tool: self.tool.as_ref().map(|tool| tool.name.clone()),
            input: outer.hide_in(input(self, self.arguments(), failure)),
            outcome: word.to_string(),
            error,
            effect: self.tool.as_ref().map(|tool| tool.effect),
            profile: self.context.view.profile_name().map(str::to_string),
            registry_version: Some(self.context.view.catalog().version.clone()),
            doc_version: doc_version(self),
            validated: self.validated,
            no_schema_mode,
            dry_run: self.is_dry_run,
            tokens: outcome.map_or(0, tokens),
            detail: if detail.is_empty() { Value::Null } else { Value::Object(detail) },
            ..self.event(EventKind::Call)
        };
        self.state().record(event);
    }
}

/// Bytes of an answer for each token, as an estimate.
pub const BYTES_A_TOKEN: u64 = 4;

/// The estimated tokens of an outcome.
fn tokens(outcome: &Result<Value, ToolError>) -> i64 {
    let bytes = match outcome {
        Ok(result) => length(result) as u64,
        Err(failure) => failure.message.len() as u64 + failure.next_action.len() as u64,
    };
    bytes.div_ceil(BYTES_A_TOKEN) as i64
}

/// Records a call that was not recorded: its caller has gone away, or it has panicked. A panic here would end the process.
impl Drop for Call {
    fn drop(&mut self) {
        let word = if std::thread::panicking() { ErrorCode::Internal.as_str() } else { "ABANDONED" };
        if !self.is_recorded {
            let _ = guarded_now(|| self.record(word, None, false));
        }
    }
}

/// The version of the doc of the tool, as the caller can read it.
fn doc_version(call: &Call) -> Option<String> {
    let index = call.context.view.catalog().position(&call.tool.as_ref()?.name)?;
    Some(call.context.view.page(index)?.as_ref().ok()?.version.clone())
}

/// Waits until the trace is on the disk, and warns where it may be lost: a write that was answered is in the trace even if
/// the process dies. `lost` is the number of events lost before this call.
async fn wait_until_durable(call: &Call, lost: u64, notes: &mut Notes) {
    let health = call.state().health();
    if health.is_volatile {
        return;
    }
    let is_written = health.problem.is_none()
        && matches!(timeout(FLUSH_TIMEOUT, call.state().flush()).await, Ok(Ok(())))
        && call.state().health().lost == lost;
    let mut warnings = call.request.warnings.iter().chain(&notes.warnings);
    if !is_written && !warnings.any(|warning| warning == NOT_RECORDED) {
        notes.warnings.push(NOT_RECORDED.into());
    }
}

/// Refuses a call whose trace cannot be written, where the operator requires traces; else adds a warning.
pub(super) fn require_writable(
    context: &FunctionContext,
    warnings: &mut Vec<String>,
) -> Result<(), ToolError> {
    let Some(problem) = context.services.state.health().problem else { return Ok(()) };
    match context.view.catalog().config.state.when_unwritable {
        WhenUnwritable::GoOn => {
            warnings.push(NOT_RECORDED.into());
            Ok(())
        }
        WhenUnwritable::RefuseWrites => Err(unwritable(problem)),
    }
}

/// The error of a call that is not run, since the trace cannot be written.
pub(super) fn unwritable(problem: impl Display) -> ToolError {
    let message = format!("nothing was run: the trace cannot be written now ({problem})");
    let next = "tell the operator; reads still work; try again later";
    ToolError::new(ErrorCode::StateUnavailable, message, next)
}
