//! What is kept of calls: their traces (API-6), the contexts of their sessions (API-5), and idempotency keys (EXEC-6).

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::results::length;
use super::{Call, Checked, Envelope, Notes, Outcome};
use crate::functions::FunctionContext;
use crate::state::{
    Claim, ClaimOutcome, ClaimStatus, Event, EventKind, StateError, StateStore, WaitBudget, now, random_id,
};
use crate::tool_error::{Certainty, ErrorCode, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::decoded;
use toolcrib_catalog::config::WhenUnwritable;
use toolcrib_definition::Effect;
use toolcrib_definition::guard::{guarded, guarded_now};
use toolcrib_definition::secret;
use toolcrib_front::mcp::FilledSecrets;

/// The trace may lack this call.
pub(super) const NOT_RECORDED: &str = "this call may be missing from the trace, which cannot be written to";
/// Keys are lost when the server stops.
pub(super) const KEY_IN_MEMORY: &str = "the idempotency key is kept in memory only, until the server stops";
/// The tool has no schema.
pub(super) const NOT_CHECKED: &str = "this tool has no schema: its arguments were not checked";
/// The tool is a read.
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
pub(super) async fn record(mut call: Call, mut outcome: Outcome, mut notes: Notes) -> Envelope {
    match &mut outcome {
        Outcome::Failed(failure) => {
            failure.help_path.get_or_insert_with(|| call.op().to_string());
            if failure.example.is_some() {
                failure.carried = call.carried();
            }
        }
        Outcome::Result(_) => load_session_context(&call, &mut notes).await,
        Outcome::Replayed(_) => {}
    }
    let word = outcome.error().map_or("ok", ErrorCode::as_str);
    let has_changed = notes.was_run && call.effect() != Effect::Read;
    let lost = if has_changed { call.state().health().lost } else { 0 };
    call.record(word, Some(&outcome));
    if has_changed {
        wait_until_durable(&call, lost, &mut notes).await;
    }
    let mut meta = call.meta(&notes);
    if let Outcome::Replayed(_) = outcome {
        meta.insert("replayed".into(), true.into());
        // The stored envelope has its own warnings.
        meta.shift_remove("warnings");
    }
    let op = std::mem::take(&mut call.request.op);
    let repaired = std::mem::take(&mut call.repaired);
    Envelope { op, outcome, repaired, meta, original: notes.original }
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
    fn record(&mut self, word: &str, outcome: Option<&Outcome>) {
        self.is_recorded = true;
        let counts = &self.context.services.counts;
        counts.add("toolcrib_executions_total", &format!("outcome=\"{word}\""), 1);
        counts.took("toolcrib_execution_duration_seconds", "", self.started.elapsed());
        let mut detail = Map::new();
        if let Some(key) = &self.request.idempotency_key {
            detail.insert("idempotency_key".into(), key.as_str().into());
        }
        if let Some(outer) = &self.request.step {
            detail.insert("step_of".into(), outer.op.as_str().into());
        }
        if let Some(Outcome::Replayed(_)) = outcome {
            detail.insert("replayed".into(), true.into());
        }
        let failure = match outcome {
            Some(Outcome::Failed(failure)) => Some(failure),
            _ => None,
        };
        // Whether the backend has answered, and how, shows whether another try may go better.
        for name in ["source", "status"] {
            if let Some(value) = failure.and_then(|failure| failure.hints.get(name)) {
                detail.insert(name.into(), value.clone());
            }
        }
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
fn tokens(outcome: &Outcome) -> i64 {
    let bytes = match outcome {
        Outcome::Result(result) => length(result) as u64,
        Outcome::Replayed(fields) => length(fields) as u64,
        Outcome::Failed(failure) => failure.message.len() as u64 + failure.next_action.len() as u64,
    };
    bytes.div_ceil(BYTES_A_TOKEN) as i64
}

/// Records a call that was not recorded: its caller has gone away, or it has panicked. A panic here would end the process.
impl Drop for Call {
    fn drop(&mut self) {
        let word = if std::thread::panicking() { ErrorCode::Internal.as_str() } else { "ABANDONED" };
        if !self.is_recorded {
            let _ = guarded_now(|| self.record(word, None));
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
fn unwritable(problem: impl Display) -> ToolError {
    let message = format!("nothing was run: the trace cannot be written now ({problem})");
    ToolError::new(
        ErrorCode::StateUnavailable,
        message,
        "tell the operator; reads still work; try again later",
    )
}

/// Records that the context of a session has changed.
fn record_context_shift(call: &Call, tool: &Tool, context: &Value) {
    let detail = json!({ "context": call.secrets().noted(&Value::Null, context) });
    let op = Some(tool.op.clone());
    call.state().record(Event { op, outcome: "ok".into(), detail, ..call.event(EventKind::ContextShift) });
}

/// Stores the context that a result sets for its session.
pub(super) async fn store_session_context(call: &Call, tool: &Tool, result: &Value, notes: &mut Notes) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    notes.session_context = Some(context.clone());
    let Some(session) = call.context.caller.session() else { return };
    match call.state().set_session_context(&session, context).await {
        Ok(()) => record_context_shift(call, tool, context),
        Err(error) => {
            let warning = format!("the context of the session could not be stored ({error})");
            notes.warnings.push(warning);
        }
    }
}

/// Adds the context of the session to the answer, if an earlier result has set it.
async fn load_session_context(call: &Call, notes: &mut Notes) {
    if notes.session_context.is_some() || !call.context.view.has_context_shifts() {
        return;
    }
    let Some(session) = call.context.caller.session() else { return };
    notes.session_context = call.state().session_context(&session).await.ok().flatten();
}

// Idempotency keys: each runs its write once (EXEC-6), also after a crash, and for two callers at the same moment. An
// outcome that nobody can know is `OUTCOME_UNKNOWN`.

/// Seconds that a claim holds without being renewed: three renewals may fail.
const LEASE: Duration = Duration::from_secs(10);
/// Seconds between two renewals.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3);
/// Milliseconds between two polls of a claim that another caller holds: at first, and at most.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

/// Reserves the key of a write, so that it runs once, however often it is sent; else the outcome of an earlier call with the
/// same key. A read needs no key.
pub(super) async fn reserve(call: &Checked, notes: &mut Notes) -> Result<Option<Claim>, Outcome> {
    let Some(key) = call.request.idempotency_key.clone().filter(|_| call.effect() != Effect::Read) else {
        return Ok(None);
    };
    let claim = Claim {
        caller: Arc::clone(&call.context.caller.name),
        key,
        op: call.op().to_string(),
        fingerprint: match &call.request.step {
            // Its arguments may differ the next time, when the reads before it are run again.
            Some(step) => step.identity.clone(),
            None => fingerprint(call.op(), call.arguments(), ""),
        },
        owner: random_id("ow"),
    };
    match status_of(call, &claim, notes).await.map_err(Outcome::Failed)? {
        ClaimStatus::Acquired => {
            if call.state().health().is_volatile && call.request.step.is_none() {
                notes.warnings.push(KEY_IN_MEMORY.into());
            }
            Ok(Some(claim))
        }
        // Each step knows whether it was done.
        ClaimStatus::Unknown if call.has_steps() => Ok(None),
        ClaimStatus::Answered(Value::Object(envelope)) => Err(Outcome::Replayed(envelope)),
        ClaimStatus::Answered(result) => Err(Outcome::Result(result)),
        other => Err(Outcome::Failed(claim_failure(&other, call.op()))),
    }
}

/// Renews a claim for as long as its call runs.
pub(super) async fn hold<T>(
    claim: Option<&Claim>,
    state: &StateStore,
    running: impl Future<Output = T>,
) -> T {
    let Some(claim) = claim else { return running.await };
    tokio::select! {
        ran = running => ran,
        never = renew_claim(state, claim) => match never {},
    }
}

/// Stores the outcome of a call under its key, or frees the key of a call that was not run.
pub(super) async fn settle(
    claim: Option<&Claim>,
    call: &Checked,
    ran: Result<Value, ToolError>,
    notes: &mut Notes,
) -> Outcome {
    let (outcome, certainty) = match ran {
        Ok(result) => (Outcome::Result(result), Certainty::Answered),
        Err(error) => {
            let certainty = error.certainty;
            (Outcome::Failed(error.or_help_path(call.op())), certainty)
        }
    };
    let Some(claim) = claim else { return outcome };
    let settled = match certainty {
        Certainty::NotRun | Certainty::Partly => ClaimOutcome::Released,
        Certainty::Unknown => ClaimOutcome::Unknown,
        Certainty::Answered => {
            let mut envelope = outcome.clone().into_fields(call.op());
            envelope.insert("meta".into(), Value::Object(call.meta(notes)));
            ClaimOutcome::Answered(Value::Object(envelope))
        }
    };
    if let Err(error) = call.state().settle(claim, settled).await {
        let warning = "the outcome of the call could not be stored; its key will report an unknown outcome";
        notes.warnings.push(format!("{warning} ({error})"));
    }
    outcome
}

/// The status of a claim, which this call acquires if it is free.
async fn status_of(call: &Checked, claim: &Claim, notes: &mut Notes) -> Result<ClaimStatus, ToolError> {
    let state = call.state();
    let claimed = match require_writable(&call.context, &mut notes.warnings) {
        Ok(()) => acquire_claim(state, claim, call.longest_silence()).await.map_err(unwritable),
        Err(failure) => Err(failure),
    };
    match claimed {
        Ok(status) => Ok(status),
        // The outcome of a used key can be read even if the trace cannot be written now.
        Err(failure) => match state.recall(claim, LEASE).await {
            Ok(Some(known)) if known != ClaimStatus::Acquired => Ok(known),
            _ => Err(failure),
        },
    }
}

/// The status of a claim, once no other caller holds it, or the wait was too long.
async fn acquire_claim(state: &StateStore, claim: &Claim, time: Duration) -> Result<ClaimStatus, StateError> {
    let mut wait = POLL_INTERVALS.0;
    let begun = Instant::now();
    loop {
        let claimed = state.claim(claim, LEASE).await?;
        if claimed != ClaimStatus::Running || begun.elapsed() >= time {
            return Ok(claimed);
        }
        sleep(wait.min(time.saturating_sub(begun.elapsed()))).await;
        wait = (wait * 2).min(POLL_INTERVALS.1);
    }
}

/// Holds a claim for as long as its call runs.
async fn renew_claim(state: &StateStore, claim: &Claim) -> Infallible {
    loop {
        sleep(RENEWAL_INTERVAL).await;
        // The next renewal makes up for a failed one; a claim that has expired has an unknown outcome.
        let _ = guarded(WaitBudget::default().with(state.claim(claim, LEASE))).await;
    }
}

fn claim_failure(claimed: &ClaimStatus, op: &str) -> ToolError {
    match claimed {
        ClaimStatus::Conflict { op: other } if other == op => ToolError::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{op}` with other arguments"),
            "send another key for another call, or the same arguments for the same one",
        ),
        ClaimStatus::Conflict { op: other } => ToolError::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{other}`"),
            "send another key for another call",
        ),
        ClaimStatus::Unknown => ToolError::new(
            ErrorCode::OutcomeUnknown,
            format!(
                "a call of `{op}` with this idempotency_key was begun, and it is not known whether it did its work"
            ),
            "check with a read whether it was done; if not, send it with a new key",
        ),
        ClaimStatus::AnswerGone => ToolError::new(
            ErrorCode::OutcomeUnknown,
            format!(
                "a call of `{op}` with this idempotency_key was run, and newer answers have replaced its answer"
            ),
            "check with a read what it did; it is not run again",
        ),
        _ => ToolError::new(
            ErrorCode::Conflict,
            format!("a call of `{op}` with this idempotency_key is still running"),
            "wait, then send the same call with the same key for its answer",
        ),
    }
}

/// The hash of an op, its arguments, and a further text that distinguishes calls.
pub(super) fn fingerprint(op: &str, arguments: &Value, also: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(op.as_bytes()).update(b"\0").update(also.as_bytes()).update(b"\0");
    add(&mut hasher, arguments);
    hasher.finalize().to_hex()[..32].to_string()
}

fn add(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            hasher.update(b"{").update(&fields.len().to_le_bytes());
            for (name, field) in fields {
                hasher.update(&name.len().to_le_bytes()).update(name.as_bytes());
                add(hasher, field);
            }
        }
        Value::Array(items) => {
            hasher.update(b"[").update(&items.len().to_le_bytes());
            items.iter().for_each(|item| add(hasher, item));
        }
        Value::String(text) => {
            hasher.update(b"\"").update(&text.len().to_le_bytes()).update(text.as_bytes());
        }
        plain => {
            hasher.update(b"=").update(plain.to_string().as_bytes()).update(b"\0");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fingerprint;

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let one = fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "");
        assert_eq!(one, fingerprint("a.b", &json!({"y": [1, "2"], "x": 1}), ""));
        for other in
            [json!({"x": 1, "y": [1, 2]}), json!({"x": 1, "y": ["2", 1]}), json!({"x": 1}), json!({})]
        {
            assert_ne!(one, fingerprint("a.b", &other, ""));
        }
        assert_ne!(one, fingerprint("a.c", &json!({"x": 1, "y": [1, "2"]}), ""));
        assert_ne!(one, fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "NOT_FOUND"));
    }
}
