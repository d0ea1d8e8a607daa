//! The end of every call, run or not.
//!
//! 1. A [`Received`] call is recorded in any case, also if it is abandoned.
//! 2. [`record`] takes a call that has [`Ran`]; [`session_context`] adds the context of the session.
//! 3. [`audit`] writes the trace; a write waits until it is on the disk.
//! 4. The answer is a [`CallResult`]; [`standing_warnings`] need not be told twice.

pub(super) mod audit;
pub(super) mod call_result;
pub(super) mod session_context;
pub(super) mod standing_warnings;

use self::call_result::{CallResult, Outcome};
use super::call::RunNotes;
use crate::arguments::Repair;
use crate::refusal::{ErrorCode, Refusal};
use crate::tool::Effect;

pub(super) use audit::Received;

/// A call with its outcome, run or not.
pub(super) struct Ran {
    call: Received,
    outcome: Outcome,
    notes: RunNotes,
    repaired: Vec<Repair>,
}

impl Ran {
    /// A call that was admitted, with its outcome.
    pub(super) fn new(call: Received, outcome: Outcome, notes: RunNotes, repaired: Vec<Repair>) -> Self {
        Self { call, outcome, notes, repaired }
    }

    /// A call that was not admitted.
    pub(super) fn refused(call: Received, failure: Refusal) -> Self {
        Self::new(call, Outcome::Failed(failure), RunNotes::default(), Vec::new())
    }
}

/// Records a call, and answers it.
pub(super) async fn record(ran: Ran) -> CallResult {
    let Ran { mut call, mut outcome, mut notes, repaired } = ran;
    match &mut outcome {
        Outcome::Failed(failure) => {
            failure.help_path.get_or_insert_with(|| call.op().to_string());
            if failure.example.is_some() {
                failure.carried = call.carried();
            }
        }
        Outcome::Result(_) => {
            session_context::load(&call, &mut notes).await;
        }
        Outcome::Replayed(_) => {}
    }
    let word = outcome.error().map_or("ok", ErrorCode::as_str);
    let has_changed = notes.was_run && call.effect() != Effect::Read;
    let lost = if has_changed { call.state().health().lost } else { 0 };
    call.record(word, Some(&outcome));
    if has_changed {
        audit::wait_until_durable(&call, lost, &mut notes).await;
    }
    let mut meta = call.meta(&notes);
    if let Outcome::Replayed(_) = outcome {
        meta.insert("replayed".into(), true.into());
        // The stored envelope has its own warnings.
        meta.shift_remove("warnings");
    }
    let op = std::mem::take(&mut call.request.op);
    CallResult { op, outcome, repaired, meta, original: notes.original }
}
