//! A call from its request to its result.
//!
//! 1. [`run`] admits, runs and records a call. A write runs in a task of its own.
//! 2. [`idempotency`] claims the key of a call, so that it is run once.
//! 3. [`approval`] counts the call in the quotas of its caller, asks a person, if the tool needs that, and gives back the approval of a call that was not run.
//! 4. [`execution`] sends the call to its backend, or runs its [`steps`].
//! 5. [`long_result`] stores a long result, which is read in parts by cursors.

pub(super) mod approval;
mod execution;
mod idempotency;
pub(super) mod long_result;
mod run_failure;
mod sent_arguments;
mod steps;

use std::sync::Arc;

use tokio::runtime::Handle;

use super::admit::{Admitted, admit};
use super::call::RunNotes;
use super::record::{Ran, Received, record};
use super::{CallContext, CallRequest, CallResult, Outcome};
use crate::guard::guarded;
use crate::refusal::Refusal;
use crate::state::WaitBudget;
use crate::tool::{Backend, Effect};

/// Answers a call. A write is run and recorded to its end even if its caller goes away.
pub async fn run(context: Arc<dyn CallContext>, request: CallRequest) -> CallResult {
    let mut call = Received::new(context, request);
    let admission = guarded(admit(&mut call)).await;
    match admission.unwrap_or_else(|_| Err(call.panicked(false))) {
        Err(failure) => record(Ran::refused(call, failure)).await,
        Ok(admission) => match Admitted::new(call, admission) {
            call if must_outlive_caller(&call) => run_detached(call).await,
            call => run_inline(call).await,
        },
    }
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
    record(Ran::refused(Received::new(context, request), failure)).await
}

/// Whether a call has to be run to its end even if its caller goes away.
fn must_outlive_caller(call: &Admitted) -> bool {
    let is_static = || matches!(call.tool().definition.backend, Some(Backend::Static { .. }));
    let changes = call.effect() != Effect::Read && !call.is_dry_run;
    changes && (call.request.idempotency_key.is_some() || !is_static())
}

/// Runs a call in a task of its own.
async fn run_detached(call: Admitted) -> CallResult {
    let Ok(runtime) = Handle::try_current() else { return run_inline(call).await };
    let (op, meta, mut failure) =
        (call.op().to_string(), call.meta(&RunNotes::default()), call.panicked(true));
    failure.help_path = Some(op.clone());
    let lost =
        |_| CallResult { op, outcome: Outcome::Failed(failure), repaired: Vec::new(), meta, original: None };
    runtime.spawn(WaitBudget::current().with(run_inline(call))).await.unwrap_or_else(lost)
}

async fn run_inline(call: Admitted) -> CallResult {
    let mut notes = RunNotes::default();
    let outcome = match call.is_dry_run {
        true => execution::preview(&call, &mut notes).await,
        false => idempotency::run_once(&call, &mut notes).await,
    };
    record(call.ran(outcome, notes)).await
}
