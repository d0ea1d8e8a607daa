//! A key runs its write once (EXEC-6): across crashes, and for two callers at the same moment. What cannot be known is said
//! to be unknown.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::backend::FaultKind;
use super::call::Call;
use super::done::Outcome;
use super::fault::broken;
use super::fingerprint::fingerprint;
use super::run::{Ran, execute};
use super::{Failure, approval, gates};
use crate::guard::guarded;
use crate::refusal::ErrorCode;
use crate::state::{Claim, Claimed, Patience, Settled, State, StateError, random_id};
use crate::tool::Effect;

/// How long a claim holds without being renewed.
const LEASE: Duration = Duration::from_secs(10);
/// How often it is renewed.
const RENEWAL: Duration = Duration::from_secs(3);
/// How often it is asked what became of a call that another runs: at first, and at most.
const POLLS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));

/// Runs a call that may be run, once a person has approved it where that is wanted.
pub(super) async fn perform(call: &mut Call) -> Outcome {
    let key = call.key.clone().filter(|_| call.effect() != Effect::Read);
    match key {
        Some(key) => with_key(call, key).await,
        None => approved(call).await.map_or_else(|(failure, _)| Outcome::Failed(failure), Outcome::Result),
    }
}

/// Runs a call once a person has approved it, where that is wanted. A yes whose call was not run is given back.
async fn approved(call: &mut Call) -> Ran {
    let yes = match call.tool.clone() {
        Some((_, tool)) => {
            let given = guarded(approval::given(call, &tool)).await;
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
fn was_not_run(kind: Option<FaultKind>) -> bool {
    use FaultKind::{Busy, Missing, NotSent, Unconfigured, Unfit};
    kind.is_none_or(|kind| matches!(kind, NotSent | Busy | Unconfigured | Missing | Unfit))
}

async fn with_key(call: &mut Call, key: String) -> Outcome {
    let host = Arc::clone(&call.host);
    let state = host.state();
    let claim = Claim {
        caller: Arc::clone(&host.caller().name),
        key,
        op: call.op.clone(),
        fingerprint: fingerprint(&call.op, &call.arguments, ""),
        owner: random_id("ow"),
    };
    let claimed = match gates::can_be_written_down(call) {
        Ok(()) => taken(state, &claim, call.time()).await.map_err(|error| gates::unavailable(&error.0)),
        Err(failure) => Err(failure),
    };
    let claimed = match claimed {
        Ok(claimed) => claimed,
        // A key that was used before says so, though nothing can be written now.
        Err(failure) => match state.recall(&claim, LEASE).await {
            Ok(Some(known)) if known != Claimed::Ours => known,
            _ => return Outcome::Failed(failure),
        },
    };
    match claimed {
        Claimed::Ours => {}
        Claimed::Answered(Value::Object(envelope)) => return Outcome::Replayed(envelope),
        Claimed::Answered(result) => return Outcome::Result(result),
        other => return Outcome::Failed(not_ours(&other, call)),
    }
    if state.health().is_volatile {
        call.warnings.push("the idempotency key is kept in memory only, until the server stops".into());
    }
    let ran = tokio::select! {
        ran = approved(call) => ran,
        never = renewed(state, &claim) => match never {},
    };
    let (outcome, kind) = match ran {
        Ok(result) => (Outcome::Result(result), None),
        Err((mut failure, kind)) => {
            failure.help_path.clone_from(&call.op);
            (Outcome::Failed(failure), Some(kind))
        }
    };
    let settled = match kind {
        Some(kind) if was_not_run(kind) => Settled::Released,
        None | Some(Some(FaultKind::Failed)) => {
            let mut envelope = outcome.fields(&call.op);
            envelope.insert("meta".into(), Value::Object(call.meta()));
            Settled::Answered(Value::Object(envelope))
        }
        Some(_) => Settled::Unknown,
    };
    settle(state, &claim, settled, call).await;
    outcome
}

/// What becomes of a claim, once nobody else runs its call, or it has taken too long.
async fn taken(state: &dyn State, claim: &Claim, time: Duration) -> Result<Claimed, StateError> {
    let (mut wait, begun) = (POLLS.0, Instant::now());
    loop {
        let claimed = state.claim(claim, LEASE).await?;
        if claimed != Claimed::Running || begun.elapsed() >= time {
            return Ok(claimed);
        }
        sleep(wait.min(time.saturating_sub(begun.elapsed()))).await;
        wait = (wait * 2).min(POLLS.1);
    }
}

/// Holds a claim for as long as its call runs.
async fn renewed(state: &dyn State, claim: &Claim) -> Infallible {
    loop {
        sleep(RENEWAL).await;
        // Where this fails the next one may not; a claim that has run out says that the outcome is unknown.
        let _ = guarded(Patience::default().with(state.claim(claim, LEASE))).await;
    }
}

async fn settle(state: &dyn State, claim: &Claim, settled: Settled, call: &mut Call) {
    if let Err(error) = state.settle(claim, settled).await {
        let told = "what became of the call could not be written down; its key will be said to be of unknown outcome";
        call.warnings.push(format!("{told} ({})", error.0));
    }
}

fn not_ours(claimed: &Claimed, call: &Call) -> Failure {
    let op = &call.op;
    match claimed {
        Claimed::Conflict { op: other } if other == op => Failure::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{op}` with other arguments"),
            "send another key for another call, or the same arguments for the same one",
        ),
        Claimed::Conflict { op: other } => Failure::new(
            ErrorCode::Conflict,
            format!("this idempotency_key was used for a call of `{other}`"),
            "send another key for another call",
        ),
        Claimed::Unknown => Failure::new(
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
