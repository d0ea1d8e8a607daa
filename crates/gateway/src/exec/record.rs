//! Records calls in the trace (API-6), and answers them.

use std::time::Duration;

use serde_json::{Map, Number, Value, json};
use tokio::time::timeout;

use super::call::{Call, Notes};
use super::envelope::{CallMeta, Envelope};
use crate::fields::fields;
use crate::state::{Approval, Event, EventKind, now};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::arguments::value_in_text;
use toolcrib_catalog::results::length;
use toolcrib_definition::guard::guarded_now;
use toolcrib_definition::{Effect, secret};
use toolcrib_front::mcp::FilledSecrets;

/// The trace may lack this call.
pub(super) const NOT_RECORDED: &str = "this call may be missing from the trace, which cannot be written to";

/// Keys are lost when the server stops.
pub(super) const KEY_IN_MEMORY: &str = "the idempotency key is kept in memory only, until the server stops";

/// The operator's rule for results.
pub(super) const LEFT_OUT: &str =
    "the operator leaves out a part of these results; for all of one, call tool_exec with `select`: \"@\"";

pub(super) const NOT_CHECKED: &str = "this tool has no schema: its arguments were not checked";

pub(super) const CHANGES_NOTHING: &str = "this op changes nothing; tool_exec_read runs it too";

/// The op of a standing warning about a tool, and no op for one about the server; `None` for a warning about one call.
pub fn standing_scope<'o>(warning: &str, op: &'o str) -> Option<&'o str> {
    match warning {
        NOT_RECORDED | KEY_IN_MEMORY => Some(""),
        NOT_CHECKED | CHANGES_NOTHING | LEFT_OUT => Some(op),
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
        Err(failure) if failure.example.is_some() => failure.carried = call.carried(),
        Err(_) => {}
        Ok(_) if notes.replayed.is_none() => keep_session_context(&call, &mut notes).await,
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

/// Stores the context that the result has set for the session (API-5), or adds the one that an earlier result has set.
async fn keep_session_context(call: &Call, notes: &mut Notes) {
    let Some(session) = call.context.caller.session() else { return };
    let Some(context) = &notes.session_context else {
        if call.context.view.has_context_shifts() {
            notes.session_context = call.state().session_context(&session).await.ok().flatten();
        }
        return;
    };
    if let Err(error) = call.state().set_session_context(&session, context).await {
        return notes.warnings.push(format!("the context of the session could not be stored ({error})"));
    }
    let detail = json!({ "context": call.secrets().noted(&Value::Null, context) });
    let op = call.tool.as_ref().map(|tool| tool.names.op.clone());
    call.state().record(Event { op, outcome: "ok".into(), detail, ..call.event(EventKind::ContextShift) });
}

fn outcome_word(outcome: &Result<Value, ToolError>) -> &'static str {
    outcome.as_ref().map_or_else(|error| error.code.outcome(), |_| "ok")
}

/// Seconds that a write waits until its trace is on the disk: a slow disk should not delay the answer for longer.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Arguments without secrets, for the trace. In a failed call a secret may stand in the wrong place, or be meant for a near
/// tool, so a name that one of these schemas marks as secret is redacted at any place.
fn redacted(call: &Call, arguments: &Value, failure: Option<&ToolError>) -> Value {
    let schema = call.tool.as_ref().map_or(&Value::Null, |tool| tool.input.parameters.schema());
    let Some(failure) = failure else { return call.secrets().noted(schema, arguments) };
    let near = failure.nearest.iter().filter_map(|op| call.context.view.catalog().find(op));
    let schemas = near.map(|tool| tool.input.parameters.schema()).chain([schema]);
    let mut rules = call.config().state.redact.clone();
    rules.extend(schemas.flat_map(secret::declared_names));
    secret::SecretPolicy::new(&rules).noted(schema, arguments)
}

/// The arguments of a call, for the trace. Text that is no JSON is recorded by its kind and size alone.
fn input(call: &Call, given: &Value, failure: Option<&ToolError>) -> Value {
    match given {
        Value::Object(_) | Value::Null => redacted(call, given, failure),
        Value::String(text) => match value_in_text(text).ok().filter(Value::is_object) {
            Some(fields) => redacted(call, &fields, failure),
            None => json!({ "text": format!("{} characters, not JSON", text.chars().count()) }),
        },
        Value::Array(items) => json!({ "list": format!("{} items", items.len()) }),
        plain => json!({ "value": if plain.is_boolean() { "true or false" } else { "a number" } }),
    }
}

impl Call {
    /// The fields of this call that a corrected call repeats: dry run, key, receipt and session.
    fn carried(&self) -> Map<String, Value> {
        let caller = &self.context.caller;
        let session = if caller.names_session { caller.session.as_deref() } else { None };
        fields([
            ("dry_run", self.request.dry_run.map(Value::from)),
            ("idempotency_key", self.request.idempotency_key.as_deref().map(Value::from)),
            ("receipt", self.request.receipt.as_deref().map(Value::from)),
            ("session", session.map(Value::from)),
        ])
    }

    /// The `meta` of the envelope. A replayed answer has its own warnings.
    pub(super) fn meta(&self, notes: &Notes) -> CallMeta {
        let tenths = self.started.elapsed().as_micros() / 100;
        let trace_id = Some(self.context.trace.id().to_string());
        let latency_ms = if tenths.is_multiple_of(10) {
            Number::from_u128(tenths / 10)
        } else {
            Number::from_f64(tenths as f64 / 10.0)
        };
        if let Some(replayed) = &notes.replayed {
            return CallMeta { trace_id, latency_ms, replayed: true, ..replayed.clone() };
        }
        let unchecked = if self.validated == Some(false) { self.no_schema_mode() } else { None };
        CallMeta {
            trace_id,
            latency_ms,
            warnings: Some(self.request.warnings.iter().chain(&notes.warnings).cloned().collect()),
            dry_run: self.is_dry_run,
            validated: unchecked.map(|_| false),
            no_schema_mode: unchecked,
            more: notes.continuation.clone(),
            blocks: notes.original.as_ref().map(|original| original.described_data()).unwrap_or_default(),
            context: notes.session_context.clone(),
            replayed: false,
        }
    }

    /// An event of this call for the trace, without its facts.
    pub(super) fn event(&self, kind: EventKind) -> Event {
        let caller = &self.context.caller;
        Event {
            at: now(),
            trace_id: self.context.trace.id().to_string(),
            caller: caller.name.to_string(),
            session: caller.session.as_ref().map(ToString::to_string),
            kind,
            function: self.request.function.to_string(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            ..Event::default()
        }
    }

    /// Counts the call and writes it to the trace; `word` is its outcome.
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
            tool: self.tool.as_ref().map(|tool| tool.names.canonical.clone()),
            input: outer.hide_in(input(self, self.arguments(), failure)),
            outcome: word.to_string(),
            error,
            effect: self.tool.as_ref().map(|tool| tool.rules.effect),
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

/// Records that a person is asked about a call.
pub(super) fn record_approval(call: &Call, approval: &Approval) {
    call.state().record(Event {
        op: Some(call.op().to_string()),
        tool: call.tool.as_ref().map(|tool| tool.names.canonical.clone()),
        input: redacted(call, call.arguments(), None),
        outcome: "ok".into(),
        detail: json!({ "approval": approval.id, "status": approval.status }),
        ..call.event(EventKind::Approval)
    });
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
    let index = call.context.view.catalog().position(&call.tool.as_ref()?.names.canonical)?;
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
