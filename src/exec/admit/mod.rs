//! Admission: all checks before a call is run.
//!
//! 1. [`resolve`] finds the tool by one of its names, unless the caller has resolved it.
//! 2. [`call_fields`] separates the fields of the call from its arguments; [`validate`] makes these fit the schema of the tool,
//!    else [`model_repair`] asks a model, once.
//! 3. [`gates`] check the effect, [`doc_gate`] the receipt.
//! 4. The call is [`Admitted`].

mod call_fields;
mod doc_gate;
mod gates;
mod model_repair;
mod resolve;

use std::ops::Deref;
use std::sync::Arc;

use super::Outcome;
use super::call::{Call, RunNotes};
use super::record::{Ran, Received};
use super::select;
use crate::arguments::{Repair, validate};
use crate::catalog::{Callable, Tool};
use crate::refusal::{ErrorCode, Refusal};

/// Permission to run a call.
pub(super) struct Admission {
    tool: Arc<Tool>,
    /// The changes that made the arguments fit.
    repaired: Vec<Repair>,
}

/// A call that may be run. It cannot be changed any more.
pub(super) struct Admitted {
    call: Received,
    admission: Admission,
}

impl Admitted {
    pub(super) fn new(call: Received, admission: Admission) -> Self {
        Self { call, admission }
    }

    /// The tool that is called.
    pub(super) fn tool(&self) -> &Tool {
        &self.admission.tool
    }

    /// The call with its outcome.
    pub(super) fn ran(self, outcome: Outcome, notes: RunNotes) -> Ran {
        Ran::new(self.call, outcome, notes, self.admission.repaired)
    }
}

impl Deref for Admitted {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

/// Runs all checks, in order; the first refusal ends them.
pub(super) async fn admit(call: &mut Call) -> Result<Admission, Refusal> {
    let (index, tool) = resolve::find_tool(call)?;
    call.request.op.clone_from(&tool.op);
    call.tool = Some(Arc::clone(&tool));
    separate(call, &tool)?;
    leave_out_hidden(call, &tool);
    let is_alone = call.request.extra_fields.is_empty();
    let repaired = match read_arguments(call, &tool) {
        // Fields beside `args` would be lost.
        Err(refusal) if is_alone => model_repair::repair(call, &tool, refusal).await?,
        read => read?,
    };
    if let Some(schema) = &tool.definition.result_schema {
        select::check(&call.request.select, schema.value())?;
    }
    leave_out_hidden(call, &tool);
    gates::check(call, &tool)?;
    doc_gate::require_doc(call, index, &tool).await?;
    Ok(Admission { tool, repaired })
}

/// Leaves out arguments that the operator sets and hides: no caller can give them.
fn leave_out_hidden(call: &mut Call, tool: &Tool) {
    let request = &mut call.request;
    for argument in tool.set_arguments.iter().filter(|argument| argument.set.hidden) {
        let beside = request.extra_fields.shift_remove(&argument.name);
        let among = request.args.as_object_mut().and_then(|args| args.shift_remove(&argument.name));
        if beside.or(among).is_some() {
            request.warnings.push(format!("`{}` is set by the operator, and was left out", argument.name));
        }
    }
}

/// Separates the fields of the call from the arguments of a tool that can be called.
fn separate(call: &mut Call, tool: &Tool) -> Result<(), Refusal> {
    let separated = call_fields::separate(&mut call.request, tool);
    call.is_dry_run = call.request.dry_run.unwrap_or(tool.definition.dry_run == Some(true));
    separated?;
    call.validated = Some(tool.parameters.is_checked());
    if let Callable::No(reason) = tool.parameters.callable() {
        let next = "choose another tool, or say that this one is broken";
        let message = format!("`{}` cannot be called: {reason}", tool.op);
        return Err(Refusal::new(ErrorCode::NoBackend, message, next));
    }
    Ok(())
}

/// Makes the arguments fit the schema of the tool, and returns the changes.
fn read_arguments(call: &mut Call, tool: &Tool) -> Result<Vec<Repair>, Refusal> {
    let (secrets, request) = (call.context.catalog().secrets(), &mut call.request);
    let beside = std::mem::take(&mut request.extra_fields);
    let repaired = validate(tool, secrets, &mut request.args, beside, &mut request.warnings)?;
    // Arguments that were JSON text are an object only now, so fields of the call may have come to light.
    let mut valid = std::mem::take(&mut request.args);
    call_fields::take_from_arguments(request, tool.parameters.schema(), &mut valid)?;
    request.args = valid;
    call.is_dry_run = request.dry_run.unwrap_or(call.is_dry_run);
    Ok(repaired)
}
