//! Idempotency keys: each runs its write once (EXEC-6), also after a crash, and for two callers at the same moment. An
//! outcome that nobody can know is `OUTCOME_UNKNOWN`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::call::{Checked, Notes};
use super::check::{require_writable, unwritable};
use super::envelope::{read_stored, stored};
use super::record::KEY_IN_MEMORY;
use crate::state::{Claim, ClaimOutcome, ClaimStatus, StateError, StateStore, WaitBudget, random_id};
use crate::tool_error::{Certainty, ErrorCode, Result, ToolError};
use toolcrib_definition::Effect;
use toolcrib_definition::guard::guarded;

/// Seconds that a claim holds without being renewed: three renewals may fail.
const LEASE: Duration = Duration::from_secs(10);

/// Seconds between two renewals.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3);

/// Time between two attempts to store an outcome late, and their number: ten minutes.
const SETTLE_INTERVAL: Duration = Duration::from_secs(3);
const SETTLE_ATTEMPTS: u32 = 200;

/// Milliseconds between two polls of a claim that another caller holds: at first, and at most.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

/// Reserves the key of a write, so that it runs once, however often it is sent; else the outcome of an earlier call with the
/// same key. A read needs no key.
pub(super) async fn reserve(call: &Checked, notes: &mut Notes) -> Result<Option<Claim>, Result<Value>> {
    let Some(key) = call.request.idempotency_key.clone() else { return Ok(None) };
    if call.effect() == Effect::Read {
        return Ok(None);
    }
    let claim = Claim {
        caller: Arc::clone(&call.context.caller.name),
        key,
        op: call.op().to_string(),
        fingerprint: match &call.request.step {
            // Its arguments may differ the next time, when the reads before it are run again.
            Some(step) => step.identity.clone(),
            None => call.fingerprint(""),
        },
        owner: random_id("ow"),
    };
    match status_of(call, &claim, notes).await.map_err(Err)? {
        ClaimStatus::Acquired => {
            if call.state().health().is_volatile && call.request.step.is_none() {
                notes.warnings.push(KEY_IN_MEMORY.into());
            }
            Ok(Some(claim))
        }
        // Each step knows whether it was done.
        ClaimStatus::Unknown if call.has_steps() => Ok(None),
        ClaimStatus::Answered(envelope) => {
            let (outcome, meta) = read_stored(envelope);
            notes.replayed = Some(meta);
            Err(outcome)
        }
        other => Err(Err(claim_failure(&other, call.op()))),
    }
}

/// Renews a claim for as long as its call runs.
pub(super) async fn hold<T>(claim: Option<&Claim>, call: &Checked, running: impl Future<Output = T>) -> T {
    let Some(claim) = claim else { return running.await };
    tokio::select! {
        ran = running => ran,
        never = renew_claim(call, claim) => match never {},
    }
}

/// Stores the outcome of a call under its key, or frees the key of a call that was not run.
pub(super) async fn settle(
    claim: Option<&Claim>,
    call: &Checked,
    outcome: Result<Value>,
    notes: &mut Notes,
) -> Result<Value> {
    let Some(claim) = claim else { return outcome };
    let settled = match outcome.as_ref().map_or_else(|error| error.certainty, |_| Certainty::Answered) {
        Certainty::NotRun | Certainty::Partly => ClaimOutcome::Released,
        Certainty::Unknown => ClaimOutcome::Unknown,
        Certainty::Answered => ClaimOutcome::Answered(stored(call.op(), &outcome, &call.meta(notes))),
    };
    if let Err(error) = call.state().settle(claim, settled.clone()).await {
        let warning =
            "the outcome of the call is not stored yet; until then its key reports an unknown outcome";
        notes.warnings.push(format!("{warning} ({error})"));
        settle_later(Arc::clone(&call.context.services.state), claim.clone(), settled);
    }
    outcome
}

/// Stores an outcome once the state can be written again. Nobody waits for it; calls with a key that begin meanwhile are refused, so
/// few outcomes wait.
fn settle_later(state: Arc<StateStore>, claim: Claim, outcome: ClaimOutcome) {
    tokio::spawn(async move {
        for _ in 0..SETTLE_ATTEMPTS {
            sleep(SETTLE_INTERVAL).await;
            let settled = guarded(state.settle(&claim, outcome.clone())).await;
            if let Ok(Ok(()) | Err(StateError::NotOurs)) = settled {
                return;
            }
        }
    });
}

/// The status of a claim, which this call acquires if it is free.
async fn status_of(call: &Checked, claim: &Claim, notes: &mut Notes) -> Result<ClaimStatus> {
    let claimed = match require_writable(&call.context, &mut notes.warnings) {
        Ok(()) => acquire_claim(call, claim).await.map_err(unwritable),
        Err(failure) => Err(failure),
    };
    match claimed {
        Ok(status) => Ok(status),
        // The outcome of a used key can be read even if the trace cannot be written now.
        Err(failure) => match call.state().recall(claim, LEASE).await {
            Ok(Some(known)) if known != ClaimStatus::Acquired => Ok(known),
            _ => Err(failure),
        },
    }
}

/// The status of a claim, once no other caller holds it, or the wait was too long.
async fn acquire_claim(call: &Checked, claim: &Claim) -> Result<ClaimStatus, StateError> {
    let time = call.longest_silence();
    let mut wait = POLL_INTERVALS.0;
    let begun = Instant::now();
    loop {
        let claimed = call.state().claim(claim, LEASE).await?;
        if claimed != ClaimStatus::Running || begun.elapsed() >= time {
            return Ok(claimed);
        }
        sleep(wait.min(time.saturating_sub(begun.elapsed()))).await;
        wait = (wait * 2).min(POLL_INTERVALS.1);
    }
}

/// Holds a claim for as long as its call runs.
async fn renew_claim(call: &Checked, claim: &Claim) -> Infallible {
    loop {
        sleep(RENEWAL_INTERVAL).await;
        // The next renewal makes up for a failed one; a claim that has expired has an unknown outcome.
        let _ = guarded(WaitBudget::default().with(call.state().claim(claim, LEASE))).await;
    }
}

fn claim_failure(claimed: &ClaimStatus, op: &str) -> ToolError {
    let used = "this idempotency_key was used for a call of";
    let call = format!("a call of `{op}` with this idempotency_key");
    let (code, message, next) = match claimed {
        ClaimStatus::Conflict { op: other } if other == op => {
            let next = "send another key for another call, or the same arguments for the same one";
            (ErrorCode::Conflict, format!("{used} `{op}` with other arguments"), next)
        }
        ClaimStatus::Conflict { op: other } => {
            (ErrorCode::Conflict, format!("{used} `{other}`"), "send another key for another call")
        }
        ClaimStatus::Unknown => {
            let message = format!("{call} was begun, and it is not known whether it did its work");
            let next = "check with a read whether it was done; if not, send it with a new key";
            (ErrorCode::OutcomeUnknown, message, next)
        }
        ClaimStatus::AnswerGone => {
            let message = format!("{call} was run, and newer answers have replaced its answer");
            (ErrorCode::OutcomeUnknown, message, "check with a read what it did; it is not run again")
        }
        _ => {
            let next = "wait, then send the same call with the same key for its answer";
            (ErrorCode::Conflict, format!("{call} is still running"), next)
        }
    };
    ToolError::new(code, message, next)
}
