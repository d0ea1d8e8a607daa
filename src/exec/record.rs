//! The end of every call, run or not: its trace (API-6), the context of its session (API-5), and its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::call::{Call, Checked, RunNotes, fingerprint};
use super::send::{Certainty, RunFailure};
use super::{CallContext, CallResult, Outcome};
use crate::arguments::decoded;
use crate::catalog::Tool;
use crate::config::WhenUnwritable;
use crate::guard::{guarded, guarded_now};
use crate::refusal::{ErrorCode, Refusal};
use crate::secret;
use crate::sources::mcp::FilledSecrets;
use crate::state::{
    self, Approval, Claim, ClaimOutcome, ClaimStatus, Event, EventKind, StateError, StateStore, WaitBudget,
    random_id,
};
use crate::tool::Effect;

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
pub(super) async fn record(mut call: Call, mut outcome: Outcome, mut notes: RunNotes) -> CallResult {
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
    let (op, repaired) = (std::mem::take(&mut call.request.op), std::mem::take(&mut call.repaired));
    CallResult { op, outcome, repaired, meta, original: notes.original }
}

/// Seconds that a write waits until its trace is on the disk: a slow disk should not delay the answer for longer.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Arguments without secrets, for the trace. In a failed call a secret may stand in the wrong place, or be meant for a near
/// tool, so a name that one of these schemas marks as secret is redacted at any place.
fn redacted(call: &Call, arguments: &Value, failure: Option<&Refusal>) -> Value {
    let schema = call.tool.as_ref().map_or(&Value::Null, |tool| tool.parameters.schema());
    let Some(failure) = failure else { return call.secrets().noted(schema, arguments) };
    let near = failure.nearest.iter().filter_map(|op| call.context.catalog().find(op));
    let schemas = near.map(|tool| tool.parameters.schema()).chain([schema]);
    let mut rules = call.config().state.redact.clone();
    rules.extend(schemas.flat_map(secret::declared_names));
    secret::SecretPolicy::new(&rules).noted(schema, arguments)
}

/// The arguments of a call, for the trace. Text that is no JSON is recorded by its kind and size alone.
fn input(call: &Call, given: &Value, failure: Option<&Refusal>) -> Value {
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

/// The secret arguments of the call that this one is a step of.
fn outer_secrets(call: &Call) -> FilledSecrets {
    FilledSecrets::of(call.request.step.iter().flat_map(|step| step.hidden.iter().cloned()))
}

impl Call {
    /// Writes the call to the trace; `word` is `ok` or the code of its error.
    fn record(&mut self, word: &str, outcome: Option<&Outcome>) {
        self.is_recorded = true;
        write_event(self, word, outcome);
    }
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

/// Counts a call and writes its event; `outcome_word` is `ok` or the code of its error.
fn write_event(call: &Call, outcome_word: &str, outcome: Option<&Outcome>) {
    call.context.count(outcome_word, call.started.elapsed());
    let mut detail = Map::new();
    if let Some(key) = &call.request.idempotency_key {
        detail.insert("idempotency_key".into(), key.as_str().into());
    }
    if let Some(outer) = &call.request.step {
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
    let error =
        failure.map(|failure| call.secrets().text(&outer_secrets(call).hide(&failure.message)).into_owned());
    let event = Event {
        op: Some(call.secrets().text(call.op()).into_owned()),
        tool: call.tool.as_ref().map(|tool| tool.name.clone()),
        input: outer_secrets(call).hide_in(input(call, call.arguments(), failure)),
        outcome: outcome_word.to_string(),
        error,
        effect: call.tool.as_ref().map(|tool| tool.effect),
        profile: call.context.profile().map(str::to_string),
        registry_version: Some(call.context.catalog().version.clone()),
        doc_version: doc_version(call),
        validated: call.validated,
        no_schema_mode: call
            .no_schema_mode()
            .and_then(|mode| Some(serde_json::to_value(mode).ok()?.as_str()?.to_string())),
        dry_run: call.is_dry_run,
        detail: if detail.is_empty() { Value::Null } else { Value::Object(detail) },
        ..event(call, EventKind::Call)
    };
    call.state().record(event);
}

/// The version of the doc of the tool, as the caller can read it.
fn doc_version(call: &Call) -> Option<String> {
    let index = call.context.catalog().position(&call.tool.as_ref()?.name)?;
    Some(call.context.doc(index)?.version)
}

/// Waits until the trace is on the disk, and warns where it may be lost: a write that was answered is in the trace even if
/// the process dies. `lost` is the number of events lost before this call.
async fn wait_until_durable(call: &Call, lost: u64, notes: &mut RunNotes) {
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
pub(super) fn require_writable(context: &dyn CallContext, warnings: &mut Vec<String>) -> Result<(), Refusal> {
    let Some(problem) = context.state().health().problem else { return Ok(()) };
    match context.catalog().config.state.when_unwritable {
        WhenUnwritable::GoOn => {
            warnings.push(NOT_RECORDED.into());
            Ok(())
        }
        WhenUnwritable::RefuseWrites => Err(unwritable(&problem)),
    }
}

/// The failure of a call that is not run, since the trace cannot be written.
pub(super) fn unwritable(problem: &str) -> Refusal {
    let message = format!("nothing was run: the trace cannot be written now ({problem})");
    Refusal::new(ErrorCode::StateUnavailable, message, "tell the operator; reads still work; try again later")
}

/// Records that the context of a session has changed.
fn record_context_shift(call: &Call, tool: &Tool, context: &Value) {
    let detail = json!({ "context": call.secrets().noted(&Value::Null, context) });
    let op = Some(tool.op.clone());
    call.state().record(Event { op, outcome: "ok".into(), detail, ..event(call, EventKind::ContextShift) });
}

/// Records a request for approval.
pub(super) fn record_approval_request(call: &Call, tool: &Tool, approval: &Approval) {
    let detail = json!({ "approval": approval.id, "status": approval.status });
    call.state().record(Event {
        op: Some(tool.op.clone()),
        tool: Some(tool.name.clone()),
        input: redacted(call, call.arguments(), None),
        outcome: "ok".into(),
        detail,
        ..event(call, EventKind::Approval)
    });
}

fn event(call: &Call, kind: EventKind) -> Event {
    let caller = call.context.caller();
    Event {
        at: state::now(),
        trace_id: call.context.trace_id().to_string(),
        caller: caller.name.to_string(),
        session: caller.session.as_ref().map(ToString::to_string),
        kind,
        function: call.request.function.to_string(),
        latency_us: i64::try_from(call.started.elapsed().as_micros()).unwrap_or(i64::MAX),
        ..Event::default()
    }
}

/// Stores the context that a result sets for its session.
pub(super) async fn store_session_context(call: &Call, tool: &Tool, result: &Value, notes: &mut RunNotes) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    notes.session_context = Some(context.clone());
    let Some(session) = call.context.caller().session() else { return };
    match call.state().set_session_context(&session, context).await {
        Ok(()) => record_context_shift(call, tool, context),
        Err(error) => {
            let warning = format!("the context of the session could not be stored ({error})");
            notes.warnings.push(warning);
        }
    }
}

/// Adds the context of the session to the answer, if an earlier result has set it.
async fn load_session_context(call: &Call, notes: &mut RunNotes) {
    if notes.session_context.is_some() || !call.context.has_context_shifts() {
        return;
    }
    let Some(session) = call.context.caller().session() else { return };
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

/// The reservation of the idempotency key of a call, if it has one.
pub(super) struct Reservation(Option<Claim>);

/// Reserves the key of a write, so that it runs once, however often it is sent; else the outcome of an earlier call with the
/// same key. A read needs no key.
pub(super) async fn reserve(call: &Checked, notes: &mut RunNotes) -> Result<Reservation, Outcome> {
    let Some(key) = call.request.idempotency_key.clone().filter(|_| call.effect() != Effect::Read) else {
        return Ok(Reservation(None));
    };
    let claim = Claim {
        caller: Arc::clone(&call.context.caller().name),
        key,
        op: call.op().to_string(),
        fingerprint: match &call.request.step {
            // Its arguments may differ the next time, when the reads before it are run again.
            Some(step) => step.identity.clone(),
            None => fingerprint(call.op(), call.arguments(), ""),
        },
        owner: random_id("ow"),
    };
    match status_of(call, &claim, notes).await {
        Ok(ClaimStatus::Acquired) => {
            if call.state().health().is_volatile && call.request.step.is_none() {
                notes.warnings.push(KEY_IN_MEMORY.into());
            }
            Ok(Reservation(Some(claim)))
        }
        // Each step knows whether it was done.
        Ok(ClaimStatus::Unknown) if call.has_steps() => Ok(Reservation(None)),
        Ok(ClaimStatus::Answered(Value::Object(envelope))) => Err(Outcome::Replayed(envelope)),
        Ok(ClaimStatus::Answered(result)) => Err(Outcome::Result(result)),
        Ok(other) => Err(Outcome::Failed(claim_failure(&other, call.op()))),
        Err(failure) => Err(Outcome::Failed(failure)),
    }
}

impl Reservation {
    /// Renews the reservation for as long as the call runs.
    pub(super) async fn held_during<T>(&self, state: &StateStore, running: impl Future<Output = T>) -> T {
        let Some(claim) = &self.0 else { return running.await };
        tokio::select! {
            ran = running => ran,
            never = renew_claim(state, claim) => match never {},
        }
    }

    /// Stores the outcome of the call, or frees the key of a call that was not run.
    pub(super) async fn settle(
        &self,
        call: &Checked,
        ran: Result<Value, RunFailure>,
        notes: &mut RunNotes,
    ) -> Outcome {
        let Some(claim) = &self.0 else {
            return ran.map_or_else(|ran| Outcome::Failed(ran.failure), Outcome::Result);
        };
        let (outcome, certainty) = match ran {
            Ok(result) => (Outcome::Result(result), Certainty::Answered),
            Err(RunFailure { mut failure, certainty }) => {
                failure.help_path = Some(call.op().to_string());
                (Outcome::Failed(failure), certainty)
            }
        };
        let settled = match certainty {
            Certainty::NotRun | Certainty::Partly => ClaimOutcome::Released,
            Certainty::Unknown => ClaimOutcome::Unknown,
            Certainty::Answered => {
                let mut envelope = outcome.fields(call.op());
                envelope.insert("meta".into(), Value::Object(call.meta(notes)));
                ClaimOutcome::Answered(Value::Object(envelope))
            }
        };
        if let Err(error) = call.state().settle(claim, settled).await {
            let warning =
                "the outcome of the call could not be stored; its key will report an unknown outcome";
            notes.warnings.push(format!("{warning} ({error})"));
        }
        outcome
    }
}

/// The status of a claim, which this call acquires if it is free.
async fn status_of(call: &Checked, claim: &Claim, notes: &mut RunNotes) -> Result<ClaimStatus, Refusal> {
    let state = call.state();
    let claimed = match require_writable(&*call.context, &mut notes.warnings) {
        Ok(()) => {
            let claimed = acquire_claim(state, claim, call.timeout()).await;
            claimed.map_err(|error| unwritable(&error.to_string()))
        }
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
    let (mut wait, begun) = (POLL_INTERVALS.0, Instant::now());
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

fn claim_failure(claimed: &ClaimStatus, op: &str) -> Refusal {
    match claimed {
        ClaimStatus::Conflict { op: other } if other == op => Refusal::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{op}` with other arguments"),
            "send another key for another call, or the same arguments for the same one",
        ),
        ClaimStatus::Conflict { op: other } => Refusal::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{other}`"),
            "send another key for another call",
        ),
        ClaimStatus::Unknown => Refusal::new(
            ErrorCode::OutcomeUnknown,
            format!(
                "a call of `{op}` with this idempotency_key was begun, and it is not known whether it did its work"
            ),
            "check with a read whether it was done; if not, send it with a new key",
        ),
        _ => Refusal::new(
            ErrorCode::Conflict,
            format!("a call of `{op}` with this idempotency_key is still running"),
            "wait, then send the same call with the same key for its answer",
        ),
    }
}
