//! A key runs its write once (EXEC-6): across crashes, and for two callers at the same moment. What cannot be known is said
//! to be unknown.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::active_call::ActiveCall;
use super::backend::BackendErrorKind;
use super::backend_failure::broken;
use super::call_result::Outcome;
use super::fingerprint::fingerprint;
use super::run::{Ran, execute};
use super::{Failure, approval, gates};
use crate::guard::guarded;
use crate::refusal::ErrorCode;
use crate::state::{Claim, ClaimOutcome, ClaimStatus, Patience, StateError, StateStore, random_id};
use crate::tool::Effect;

/// How long a claim holds without being renewed.
const LEASE: Duration = Duration::from_secs(10);
/// How often it is renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3);
/// How often it is asked what became of a call that another runs: at first, and at most.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

/// Runs a call that may be run, once a person has approved it where that is wanted.
pub(super) async fn run_once(call: &mut ActiveCall) -> Outcome {
    let key = call.key.clone().filter(|_| call.effect() != Effect::Read);
    match key {
        Some(key) => run_with_key(call, key).await,
        None => {
            require_approval(call).await.map_or_else(|(failure, _)| Outcome::Failed(failure), Outcome::Result)
        }
    }
}

/// Runs a call once a person has approved it, where that is wanted. A yes whose call was not run is given back.
async fn require_approval(call: &mut ActiveCall) -> Ran {
    let yes = match call.tool.clone() {
        Some((_, tool)) => {
            let given = guarded(approval::require_approval(call, &tool)).await;
            given.unwrap_or_else(|_| Err(broken(call, false))).map_err(|failure| (failure, None))?
        }
        None => None,
    };
    let ran = execute(call).await;
    if let (Some(yes), Err((_, kind))) = (yes, &ran)
        && was_not_run(*kind)
    {
        approval::give_back(call, &yes).await;
    }
    ran
}

/// Whether a fault says that nothing was run; without one it was never tried.
fn was_not_run(kind: Option<BackendErrorKind>) -> bool {
    use BackendErrorKind::{Busy, InvalidArgument, MissingCredential, NotSent, Unconfigured};
    kind.is_none_or(|kind| {
        matches!(kind, NotSent | Busy | Unconfigured | MissingCredential | InvalidArgument)
    })
}

async fn run_with_key(call: &mut ActiveCall, key: String) -> Outcome {
    let context = Arc::clone(&call.context);
    let state = context.state();
    let claim = Claim {
        caller: Arc::clone(&context.caller().name),
        key,
        op: call.op.clone(),
        fingerprint: fingerprint(&call.op, &call.arguments, ""),
        owner: random_id("ow"),
    };
    let claimed = match gates::require_state(call) {
        Ok(()) => {
            acquire_claim(state, &claim, call.timeout()).await.map_err(|error| gates::unavailable(&error.0))
        }
        Err(failure) => Err(failure),
    };
    let claimed = match claimed {
        Ok(claimed) => claimed,
        // A key that was used before says so, though nothing can be written now.
        Err(failure) => match state.recall(&claim, LEASE).await {
            Ok(Some(known)) if known != ClaimStatus::Acquired => known,
            _ => return Outcome::Failed(failure),
        },
    };
    match claimed {
        ClaimStatus::Acquired => {}
        ClaimStatus::Answered(Value::Object(envelope)) => return Outcome::Replayed(envelope),
        ClaimStatus::Answered(result) => return Outcome::Result(result),
        other => return Outcome::Failed(claim_failure(&other, call)),
    }
    if state.health().is_volatile {
        call.warnings.push("the idempotency key is kept in memory only, until the server stops".into());
    }
    let ran = tokio::select! {
        ran = require_approval(call) => ran,
        never = renew_claim(state, &claim) => match never {},
    };
    let (outcome, kind) = match ran {
        Ok(result) => (Outcome::Result(result), None),
        Err((mut failure, kind)) => {
            failure.help_path.clone_from(&call.op);
            (Outcome::Failed(failure), Some(kind))
        }
    };
    let settled = match kind {
        Some(kind) if was_not_run(kind) => ClaimOutcome::Released,
        None | Some(Some(BackendErrorKind::Failed)) => {
            let mut envelope = outcome.fields(&call.op);
            envelope.insert("meta".into(), Value::Object(call.meta()));
            ClaimOutcome::Answered(Value::Object(envelope))
        }
        Some(_) => ClaimOutcome::Unknown,
    };
    settle_claim(state, &claim, settled, call).await;
    outcome
}

/// What becomes of a claim, once nobody else runs its call, or it has taken too long.
async fn acquire_claim(
    state: &dyn StateStore,
    claim: &Claim,
    time: Duration,
) -> Result<ClaimStatus, StateError> {
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
async fn renew_claim(state: &dyn StateStore, claim: &Claim) -> Infallible {
    loop {
        sleep(RENEWAL_INTERVAL).await;
        // Where this fails the next one may not; a claim that has run out says that the outcome is unknown.
        let _ = guarded(Patience::default().with(state.claim(claim, LEASE))).await;
    }
}

async fn settle_claim(state: &dyn StateStore, claim: &Claim, settled: ClaimOutcome, call: &mut ActiveCall) {
    if let Err(error) = state.settle(claim, settled).await {
        let told = "what became of the call could not be written down; its key will be said to be of unknown outcome";
        call.warnings.push(format!("{told} ({})", error.0));
    }
}

fn claim_failure(claimed: &ClaimStatus, call: &ActiveCall) -> Failure {
    let op = &call.op;
    match claimed {
        ClaimStatus::Conflict { op: other } if other == op => Failure::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{op}` with other arguments"),
            "send another key for another call, or the same arguments for the same one",
        ),
        ClaimStatus::Conflict { op: other } => Failure::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{other}`"),
            "send another key for another call",
        ),
        ClaimStatus::Unknown => Failure::new(
            ErrorCode::OutcomeUnknown,
            format!(
                "a call of `{op}` with this idempotency_key was begun, and it is not known whether it did its work"
            ),
            "look with a read whether it was done; if it was not, send it with a new key",
        ),
        _ => Failure::new(
            ErrorCode::Conflict,
            format!("a call of `{op}` with this idempotency_key is still running"),
            "wait, then send the same call with the same key for its answer",
        ),
    }
}
