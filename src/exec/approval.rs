//! Calls that a person has to approve: they wait in a queue, and one that was approved runs once.

use serde_json::json;

use super::call::Call;
use super::fingerprint::fingerprint;
use super::{Failure, audit};
use crate::catalog::Tool;
use crate::refusal::ErrorCode;
use crate::state::{Approval, ApprovalStatus, now, random_id};
use crate::tool::NoSchemaMode;

/// Whether a person has approved the call, where one has to. A yes is used up by it.
pub(super) async fn given(call: &Call, tool: &Tool) -> Result<(), Failure> {
    let is_unchecked = call.no_schema_mode == Some(NoSchemaMode::HumanApproval);
    if tool.definition.approval != Some(true) && !is_unchecked {
        return Ok(());
    }
    // One that was used in between is asked for anew, once.
    for _ in 0..2 {
        let asked = request(call, tool);
        let approval = call.state().ask(&asked).await.map_err(|error| unavailable(&error.0))?;
        match approval.status {
            ApprovalStatus::Denied => return Err(denied(tool, &approval)),
            ApprovalStatus::Approved => {
                if call.state().take(&approval.id).await.map_err(|error| unavailable(&error.0))? {
                    return Ok(());
                }
            }
            ApprovalStatus::Waiting => {
                if approval.id == asked.id {
                    audit::asked(call, tool, &approval);
                }
                return Err(waits(tool, &approval, call.state().health().is_volatile));
            }
            ApprovalStatus::Used => {}
        }
    }
    let message = format!("an approval of `{}` was used by another call at the same moment", tool.op);
    Err(Failure::new(ErrorCode::ApprovalRequired, message, "send the same call again to ask for another"))
}

fn request(call: &Call, tool: &Tool) -> Approval {
    let caller = call.host.caller();
    let now = now();
    let minutes = i64::try_from(call.config().exec.approval_minutes).unwrap_or(i64::MAX);
    Approval {
        id: random_id("ap"),
        caller: caller.name.to_string(),
        session: caller.session.as_ref().map(ToString::to_string),
        op: tool.op.clone(),
        arguments: audit::redacted(call.config(), &call.arguments),
        fingerprint: fingerprint(&tool.op, &call.arguments, ""),
        asked_at: now,
        until: now.saturating_add(minutes.saturating_mul(60_000)),
        status: ApprovalStatus::Waiting,
        reason: None,
    }
}

fn waits(tool: &Tool, approval: &Approval, nobody_can: bool) -> Failure {
    let message = format!("a person has to approve this call of `{}`; it waits as {}", tool.op, approval.id);
    let next = match nobody_can {
        true => "tell the user that nobody can approve it: this server keeps approvals in memory, and its operator has to name a file, `at` below `[state]`".into(),
        false => format!(
            "tell the user that {} waits for approval (`toolcrib approvals approve {}`); once it is approved, send the same call again, unchanged",
            approval.id, approval.id
        ),
    };
    let asked = json!({
        "id": approval.id,
        "status": approval.status,
        "until": approval.until,
    });
    Failure::new(ErrorCode::ApprovalRequired, message, next).detail("approval", asked)
}

fn denied(tool: &Tool, approval: &Approval) -> Failure {
    let why = approval.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    let why = why.map(|reason| format!(": {}", crate::tool::clean_line(reason))).unwrap_or_default();
    let message = format!("a person has refused this call of `{}`{why}", tool.op);
    let next = "do not send it again; tell the user, and ask what to do instead";
    let asked = json!({ "id": approval.id, "status": approval.status, "reason": approval.reason });
    Failure::new(ErrorCode::PermissionDenied, message, next).detail("approval", asked)
}

fn unavailable(problem: &str) -> Failure {
    let message =
        format!("nothing was run: a person has to approve the call, and nobody can be asked ({problem})");
    let next = "tell the operator: approvals need a place where they are kept, `at` below `[state]`";
    Failure::new(ErrorCode::StateUnavailable, message, next)
}
