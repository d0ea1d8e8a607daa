//! Everything that is asked before a call is run.
//!
//! 1. [`resolve`] finds the tool by one of its names, unless the caller has resolved it.
//! 2. [`arguments`] tells the fields of the call from the arguments, and has these checked against the schema of the tool.
//! 3. [`gates`] say how much may be changed here, [`doc_gate`] whether the doc has to be read first, and the
//!    [`repeat_guard`] stops what has failed too often.
//! 4. The call is [`Admitted`].

mod arguments;
mod doc_gate;
mod gates;
mod resolve;

use std::ops::Deref;
use std::sync::Arc;

use super::call::{Call, RunNotes};
use super::record::{Ran, Received, repeat_guard};
use super::{Failure, Outcome};
use crate::catalog::Tool;
use crate::provider::call::Repair;

/// The leave to run a call.
pub(super) struct Admission {
    tool: Arc<Tool>,
    /// The changes that made the arguments fit.
    repaired: Vec<Repair>,
}

/// A call that may be run. It does not change any more.
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

/// Asks everything that is asked before a call is run.
pub(super) async fn admit(call: &mut Call) -> Result<Admission, Failure> {
    let (index, tool) = resolve::find_tool(call)?;
    call.request.op.clone_from(&tool.op);
    call.tool = Some(Arc::clone(&tool));
    let repaired = arguments::read(call, &tool)?;
    gates::check(call, &tool)?;
    doc_gate::require_doc(call, index, &tool).await?;
    repeat_guard::check(call).await?;
    Ok(Admission { tool, repaired })
}
