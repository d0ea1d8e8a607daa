//! Calls that a person has to approve, in the client or on the command line. They wait in a queue, and an approved call runs once.
//! An approval holds for one op, its arguments, its definition and its backend.

mod argument_page;
mod binding;
mod decision;
mod notice;
mod question;

use serde_json::json;

use super::call::{Call, Checked, Notes};
use super::fingerprint::fingerprint;
use super::record::redacted;
use crate::state::{Approval, ApprovalStatus, Event, EventKind, HiddenValue, StateError, now, random_id};
use crate::tool_error::{ErrorCode, Result, ToolError};
use binding::{hash, readable_definition};
use decision::IN_CLIENT;
use notice::{announce, page};
use question::{ask_client, client_to_ask};
use toolcrib_catalog::Tool;
use toolcrib_definition::guard::guarded;
use toolcrib_definition::{NoSchemaMode, clean_line};

pub use argument_page::{erased, whole_arguments};
pub use binding::binding;
pub use decision::{Decided, Decision, decide, has_changed};
pub(super) use question::{is_allowed_by_asking, may_run_as_direct, runs_as_direct};

/// Time that a call waits for a person, and that an approval counts.
const APPROVAL_MS: i64 = 3_600_000;

/// Uses up the approval of a call; `None` if it needs no approval.
pub(super) async fn approve(call: &Checked) -> Result<Option<Approval>> {
    guarded(require_approval(call)).await.unwrap_or_else(|_| Err(call.panicked(false)))
}

async fn require_approval(call: &Checked) -> Result<Option<Approval>> {
    let tool = call.tool();
    let is_unchecked = call.no_schema_mode() == Some(NoSchemaMode::HumanApproval);
    if tool.definition.approval != Some(true) && !is_unchecked && !is_allowed_by_asking(call, tool) {
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
            ApprovalStatus::Denied => return Err(denied(tool, &approval)),
            ApprovalStatus::Approved => {
                if call.state().use_approval(&approval.id).await.map_err(unavailable)? {
                    return Ok(Some(approval));
                }
            }
            ApprovalStatus::Waiting => {
                if approval.id == request.id {
                    record_approval_request(call, tool, &approval);
                    announce(call, tool, &approval);
                }
                if !std::mem::replace(&mut was_asked, true)
                    && let Some(yes) = ask_client(call, tool, &approval, &key).await
                {
                    let decision = Decision { id: &approval.id, yes, reason: Some(IN_CLIENT), by: None };
                    decide(call.state(), None, decision).await.map_err(unavailable)?;
                    continue;
                }
                let mut error = approval_required(call, tool, &approval, asked.void.as_deref());
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
    let message = format!("an approval of `{}` was used by another call at the same moment", tool.op);
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

fn approval_request(call: &Checked, key: &str) -> Approval {
    let tool = call.tool();
    let caller = &call.context.caller;
    let now = now();
    let (arguments, hidden) = call.secrets().declared(tool.parameters.schema(), call.arguments());
    let hidden = hidden.into_iter().map(|secret| {
        let written = secret.value.to_string();
        let bytes = secret.value.as_str().map_or(written.len(), str::len);
        HiddenValue { pointer: secret.pointer, bytes, hash: hash(key, &written) }
    });
    Approval {
        id: random_id("ap"),
        caller: caller.name.to_string(),
        session: caller.session.as_ref().map(ToString::to_string),
        op: tool.shown_name().to_string(),
        arguments,
        hidden: hidden.collect(),
        fingerprint: fingerprint(&tool.op, call.arguments(), ""),
        bound: binding(tool, call.context.view.catalog(), key),
        definition: readable_definition(tool),
        asked_at: now,
        until: now.saturating_add(APPROVAL_MS),
        status: ApprovalStatus::Waiting,
        reason: None,
    }
}

fn approval_required(call: &Call, tool: &Tool, approval: &Approval, void: Option<&str>) -> ToolError {
    let nobody_can = call.state().health().is_volatile;
    let cannot_ask = client_to_ask(call).is_some_and(|origin| origin.is_first_without_questions());
    let file = call.config().place(call.context.caller.is_own_client);
    let note = if cannot_ask { "this client shows no questions (it has no MCP elicitation); " } else { "" };
    let op = &tool.op;
    let id = &approval.id;
    let message = match void {
        None => format!("a person has to approve this call of `{op}`; it waits as {id}"),
        Some(void) => format!(
            "the approval {void} is void: `{op}` or its backend has changed since, or an older toolcrib requested it; \
             a person has to approve this call anew, and it waits as {id}"
        ),
    };
    let next = match (page(call.config(), id), nobody_can) {
        (Some(page), _) => format!(
            "{note}tell the user that an operator can approve it at {page}; then send the same call again, unchanged"
        ),
        (None, true) => format!(
            "{note}tell the user that nobody can approve it: approvals are kept in memory; the operator sets `url` below `[state]` in {file}, and restarts toolcrib"
        ),
        (None, false) => format!(
            "{note}tell the user to run `toolcrib approvals approve {id}`; then send the same call again, unchanged"
        ),
    };
    let mut asked = json!({ "id": id, "status": approval.status, "until": approval.until });
    if let Some(void) = void {
        asked["void"] = void.into();
    }
    ToolError::new(ErrorCode::ApprovalRequired, message, next).detail("approval", asked)
}

fn denied(tool: &Tool, approval: &Approval) -> ToolError {
    let why = approval.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    let why = why.map(|reason| format!(": {}", clean_line(reason))).unwrap_or_default();
    let message = format!("a person has refused this call of `{}`{why}", tool.op);
    let next = "do not send it again; tell the user, and ask what to do instead";
    let asked = json!({ "id": approval.id, "status": approval.status, "reason": approval.reason });
    ToolError::new(ErrorCode::PermissionDenied, message, next).detail("approval", asked)
}

fn unavailable(error: StateError) -> ToolError {
    let message = format!(
        "nothing was run: a person has to approve the call, and no approval can be requested ({error})"
    );
    let next = "tell the operator: approvals need a store, `url` below `[state]`";
    ToolError::new(ErrorCode::StateUnavailable, message, next)
}

fn record_approval_request(call: &Call, tool: &Tool, approval: &Approval) {
    let detail = json!({ "approval": approval.id, "status": approval.status });
    call.state().record(Event {
        op: Some(tool.op.clone()),
        tool: Some(tool.name.clone()),
        input: redacted(call, call.arguments(), None),
        outcome: "ok".into(),
        detail,
        ..call.event(EventKind::Approval)
    });
}
