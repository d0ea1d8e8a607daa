//! A call of a tool, whatever transport it came by (EXEC-1..6).
//!
//! [`execute`] shows every phase of a call, in order. A [`ToolError`] in any phase takes the call to the last one. A
//! [`CallRequest`] becomes a [`Checked`] call, and this an [`Envelope`].

mod approvals;
pub mod backend;
mod call;
mod check;
mod envelope;
mod idempotency;
mod parts;
mod pointer_references;
mod record;
mod request;
mod results;
mod select;
mod send;
mod steps;

use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::context::FunctionContext;
use crate::state::WaitBudget;
use crate::tool_error::{Certainty, ToolError};
use approvals::{approve, give_back};
use call::{Call, Checked, Notes, StepAnswer};
use check::check;
use idempotency::{hold, reserve, settle};
use record::record;
use send::{preview, send};
use toolcrib_definition::guard::guarded;
use toolcrib_front::telemetry::{self, Operation};

pub use crate::caller::{Caller, LackedRight};
pub use approvals::{Decided, Decision, binding, decide, erased, has_changed, whole_arguments};
pub use call::Functions;
pub use envelope::{CallMeta, Envelope};
pub use parts::ResultPart;
pub(crate) use record::{BYTES_A_TOKEN, standing_scope};
pub(crate) use request::{CallRequest, EffectLimit};
pub use results::Results;

/// Answers a call. A write is run and recorded to its end even if its caller goes away.
pub async fn execute(context: FunctionContext, request: CallRequest, functions: Functions) -> Envelope {
    let mut call = Call::new(context, request);
    // The tool, its arguments, the allowed effect, the receipt.
    let checked = guarded(check(&mut call)).await.unwrap_or_else(|_| Err(call.panicked(false)));
    let tool = match checked {
        Err(error) => return record(call, Err(error), Notes::default()).await,
        Ok(tool) => tool,
    };
    let operation = Operation::tool(&tool.names.canonical);
    let call = Checked { call, tool, functions, run_step };
    // Boxed: each future around this large one would move it.
    let running = Box::pin(async {
        if call.must_outlive_caller() { run_detached(call).await } else { run(call).await }
    });
    let error = |done: &Envelope| done.error().map(|code| code.as_str().to_string());
    operation.observe(running, error).await
}

/// Answers a step of a call, which is a call with every check. Its type is erased, since a call may have steps.
fn run_step(context: FunctionContext, request: CallRequest, functions: Functions) -> StepAnswer {
    Box::pin(execute(context, request, functions))
}

/// Runs a checked call once under its idempotency key, if it has one, and records it.
async fn run(call: Checked) -> Envelope {
    let mut notes = Notes::default();
    let outcome = if call.is_dry_run {
        preview(&call, &mut notes).await
    } else {
        match reserve(&call, &mut notes).await {
            Ok(claim) => {
                let ran = hold(claim.as_ref(), &call, run_approved(&call, &mut notes)).await;
                settle(claim.as_ref(), &call, ran, &mut notes).await
            }
            Err(earlier) => earlier,
        }
    };
    record(call.call, outcome, notes).await
}

/// Sends a call to its backend once a person has approved it, where that is required.
async fn run_approved(call: &Checked, notes: &mut Notes) -> Result<Value, ToolError> {
    let approval = approve(call).await?;
    let ran = send(call, notes).await;
    if let (Some(approval), Err(ToolError { certainty: Certainty::NotRun, .. })) = (approval, &ran) {
        give_back(call, &approval, notes).await;
    }
    ran
}

/// Time that a write may still take after its caller has gone away.
const UNATTENDED: Duration = Duration::from_secs(600);

/// Runs a call in its own task. Once nobody waits for it, it ends in time, and is recorded as abandoned.
async fn run_detached(call: Checked) -> Envelope {
    let Ok(runtime) = Handle::try_current() else { return run(call).await };
    let op = call.op().to_string();
    let failure = call.panicked(true);
    let meta = call.meta(&Notes::default());
    let lost = Envelope { op, outcome: Err(failure), repaired: Vec::new(), meta, original: None };
    let (_waiting, gone) = oneshot::channel::<()>();
    let attended = async {
        tokio::select! {
            done = run(call) => Some(done),
            () = async { _ = gone.await; sleep(UNATTENDED).await } => None,
        }
    };
    let done = runtime.spawn(telemetry::carried(WaitBudget::current().with(attended))).await;
    done.ok().flatten().unwrap_or(lost)
}

/// Answers a call of `op` by `function` that could not be read.
pub async fn refuse(
    context: FunctionContext,
    function: &'static str,
    op: String,
    mut error: ToolError,
) -> Envelope {
    error.help_path = Some("root".into());
    let request = CallRequest { function, op, ..CallRequest::default() };
    record(Call::new(context, request), Err(error), Notes::default()).await
}
