//! Calls that a person has to approve, in the client or on the command line. They wait in a queue, and an approved call runs once.
//! An approval holds for one op, its arguments, its definition and its backend.

mod argument_page;
mod decision;
mod notice;
mod question;
mod request;

use super::call::{Checked, Notes};
use super::record::record_approval;
use crate::state::{Approval, ApprovalStatus, StateError};
use crate::tool_error::{ErrorCode, Result, ToolError};
use decision::IN_CLIENT;
use notice::announce;
use question::{ask_client, note_on_client};
use request::{approval_request, approval_required, denied};
use toolcrib_definition::guard::guarded;

pub use argument_page::{erased, whole_arguments};
pub use decision::{Decided, Decision, decide, has_changed};
pub(super) use question::{is_allowed_by_asking, may_run_as_direct, runs_as_direct};
pub use request::binding;

/// Uses up the approval of a call; `None` if it needs no approval.
pub(super) async fn approve(call: &Checked) -> Result<Option<Approval>> {
    guarded(require_approval(call)).await.unwrap_or_else(|_| Err(call.panicked(false)))
}

async fn require_approval(call: &Checked) -> Result<Option<Approval>> {
    if !call.tool.wants_approval() && !is_allowed_by_asking(call, &call.tool) {
        return Ok(None);
    }
    let key = call.state().hash_key().await.map_err(unavailable)?;
    let mut was_asked = false;
    // An approval that another call has used in between is requested again, once.
    for _ in 0..3 {
        let request = approval_request(call, &key);
        let asked = call.state().request_approval(&request).await.map_err(unavailable)?;
        let approval = asked.approval;
        match approval.status {
            ApprovalStatus::Denied => return Err(denied(call, &approval)),
            ApprovalStatus::Approved => {
                if call.state().use_approval(&approval.id).await.map_err(unavailable)? {
                    return Ok(Some(approval));
                }
            }
            ApprovalStatus::Waiting => {
                if approval.id == request.id {
                    record_approval(call, &approval);
                    announce(call, &approval);
                }
                if !std::mem::replace(&mut was_asked, true)
                    && let Some(yes) = ask_client(call, &approval, &key).await
                {
                    let decision = Decision { id: &approval.id, yes, reason: Some(IN_CLIENT), by: None };
                    decide(call.state(), None, decision).await.map_err(unavailable)?;
                    continue;
                }
                let mut error = approval_required(call, &approval, asked.void.as_deref());
                error.next_action.insert_str(0, note_on_client(call));
                if !asked.displaced.is_empty() {
                    let ids = asked.displaced.join(", ");
                    let displaced = "no longer do: send those calls again later";
                    error.message.push_str(&format!("; too many calls wait, so {ids} {displaced}"));
                }
                return Err(error);
            }
            ApprovalStatus::Used | ApprovalStatus::Void => {}
        }
    }
    let message = format!("an approval of `{}` was used by another call at the same moment", call.op());
    Err(ToolError::new(ErrorCode::ApprovalRequired, message, "send the same call again to ask for another"))
}

/// Gives back an approval whose call was not run.
pub(super) async fn give_back(call: &Checked, approval: &Approval, notes: &mut Notes) {
    let id = &approval.id;
    let warning = match call.state().give_back(approval).await {
        Ok(()) => format!("nothing was run, so the approval {id} still counts for this same call"),
        Err(error) => format!("nothing was run, and the approval {id} could not be given back ({error})"),
    };
    notes.warnings.push(warning);
}

fn unavailable(error: StateError) -> ToolError {
    let message = format!(
        "nothing was run: a person has to approve the call, and no approval can be requested ({error})"
    );
    let next = "tell the operator: approvals need a store, `url` below `[state]`";
    ToolError::new(ErrorCode::StateUnavailable, message, next)
}
