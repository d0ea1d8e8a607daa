//! A call of a tool, whatever transport it came by (EXEC-1..6).
//!
//! [`execute`] shows every phase of a call, in order. A [`Refusal`] in any phase takes the call to the last one.

mod approval;
pub mod backend;
mod call;
mod check;
mod record;
mod request;
mod results;
mod send;
mod steps;

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::guard::guarded;
use crate::refusal::Refusal;
use crate::state::WaitBudget;
use approval::{approve, give_back};
use call::{Call, Checked, RunNotes};
use check::check;
use record::{record, reserve};
use send::{Certainty, RunFailure, preview, send};

pub use approval::binding;
pub use call::{CallResult, Outcome, part_of, reached};
pub use record::standing_scope;
pub use request::{
    CallContext, CallRequest, Caller, Doc, EVERY_ROLE, EffectLimit, FunctionFuture, LackedRight,
};
pub use results::next_page;

/// Answers a call. A write is run and recorded to its end even if its caller goes away.
pub async fn execute(context: Arc<dyn CallContext>, request: CallRequest) -> CallResult {
    let mut call = Call::new(context, request);
    // The tool, its arguments, the allowed effect, the receipt.
    let checked = guarded(check(&mut call)).await.unwrap_or_else(|_| Err(call.panicked(false)));
    match checked {
        Err(refusal) => record(call, Outcome::Failed(refusal), RunNotes::default()).await,
        Ok(tool) => match Checked::new(call, tool) {
            call if call.must_outlive_caller() => run_detached(call).await,
            call => run(call).await,
        },
    }
}

/// Runs a checked call.
async fn run(call: Checked) -> CallResult {
    let mut notes = RunNotes::default();
    if call.is_dry_run {
        let outcome = preview(&call, &mut notes).await;
        return record(call.into(), outcome, notes).await;
    }
    // The idempotency key, or the answer of an earlier call with it.
    let outcome = match reserve(&call, &mut notes).await {
        Err(outcome) => outcome,
        Ok(reservation) => {
            let ran = reservation.held_during(call.state(), run_approved(&call, &mut notes)).await;
            reservation.settle(&call, ran, &mut notes).await
        }
    };
    record(call.into(), outcome, notes).await
}

/// Sends a call to its backend once a person has approved it, where that is required.
async fn run_approved(call: &Checked, notes: &mut RunNotes) -> Result<serde_json::Value, RunFailure> {
    let approval = approve(call).await.map_err(RunFailure::not_run)?;
    let ran = send(call, notes).await;
    if let (Some(approval), Err(RunFailure { certainty: Certainty::NotRun, .. })) = (approval, &ran) {
        give_back(call, &approval, notes).await;
    }
    ran
}

/// Runs a call in a task of its own.
async fn run_detached(call: Checked) -> CallResult {
    let Ok(runtime) = Handle::try_current() else { return run(call).await };
    let mut failure = call.panicked(true);
    failure.help_path = Some(call.op().to_string());
    let lost = CallResult {
        op: call.op().to_string(),
        outcome: Outcome::Failed(failure),
        repaired: Vec::new(),
        meta: call.meta(&RunNotes::default()),
        original: None,
    };
    runtime.spawn(WaitBudget::current().with(run(call))).await.unwrap_or(lost)
}

/// Answers a call of `op` by `function` that could not be read.
pub async fn refuse(
    context: Arc<dyn CallContext>,
    function: &'static str,
    op: String,
    mut failure: Refusal,
) -> CallResult {
    failure.help_path = Some("root".into());
    let request = CallRequest { function, op, ..CallRequest::default() };
    record(Call::new(context, request), Outcome::Failed(failure), RunNotes::default()).await
}
