//! Calls that a person has to approve. They wait in a queue, and an approved call runs once. An approval holds for one op,
//! its arguments, its definition and its backend.

use std::collections::BTreeSet;

use serde_json::json;

use super::backend::Backends;
use super::call::{Checked, RunNotes, fingerprint};
use super::record::record_approval_request;
use crate::catalog::{Catalog, Tool};
use crate::guard::guarded;
use crate::refusal::{ErrorCode, Refusal};
use crate::state::{Approval, ApprovalStatus, HiddenValue, StateError, now, random_id};
use crate::tool::{Backend, NoSchemaMode};

/// Hexadecimal digits of a hash that is shown: 128 bits, too many to guess.
const DIGITS: usize = 32;

/// Time that a call waits for a person, and that an approval counts.
const APPROVAL_MS: i64 = 3_600_000;

/// Uses up the approval of a call; `None` if it needs no approval.
pub(super) async fn approve(call: &Checked) -> Result<Option<Approval>, Refusal> {
    guarded(require_approval(call)).await.unwrap_or_else(|_| Err(call.panicked(false)))
}

async fn require_approval(call: &Checked) -> Result<Option<Approval>, Refusal> {
    let tool = call.tool();
    let is_unchecked = call.no_schema_mode() == Some(NoSchemaMode::HumanApproval);
    if tool.definition.approval != Some(true) && !is_unchecked {
        return Ok(None);
    }
    let key = call.state().hash_key().await.map_err(unavailable)?;
    // An approval that another call has used in between is requested again, once.
    for _ in 0..2 {
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
                }
                return Err(approval_required(
                    tool,
                    &approval,
                    asked.void.as_deref(),
                    call.state().health().is_volatile,
                ));
            }
            ApprovalStatus::Used | ApprovalStatus::Void => {}
        }
    }
    let message = format!("an approval of `{}` was used by another call at the same moment", tool.op);
    Err(Refusal::new(ErrorCode::ApprovalRequired, message, "send the same call again to ask for another"))
}

/// Gives back an approval whose call was not run.
pub(super) async fn give_back(call: &Checked, approval: &Approval, notes: &mut RunNotes) {
    let id = &approval.id;
    let warning = match call.state().give_back(approval).await {
        Ok(()) => format!("nothing was run, so the approval {id} still counts for this same call"),
        Err(error) => format!("nothing was run, and the approval {id} could not be given back ({error})"),
    };
    notes.warnings.push(warning);
}

/// A hash of the definition and the configured backend, for which an approval holds beside op and arguments. Of a tool
/// of several steps, it covers their tools too.
pub fn binding(tool: &Tool, catalog: &Catalog, key: &str) -> String {
    let (mut bound, mut left, mut known) = (Vec::new(), vec![tool], BTreeSet::new());
    while let Some(tool) = left.pop() {
        let backend = Backends::configured(tool, &catalog.config);
        bound.push(json!([tool.definition, tool.effect.as_str(), backend]));
        if let Some(Backend::Steps(backend)) = &tool.definition.backend {
            let called = backend.steps.iter().rev().filter_map(|step| catalog.find(&step.op));
            left.extend(called.filter(|tool| known.insert(&tool.name)));
        }
    }
    hash(key, &json!(bound).to_string())
}

fn hash(key: &str, text: &str) -> String {
    let key = blake3::derive_key("toolcrib: hashes of approvals", key.as_bytes());
    blake3::keyed_hash(&key, text.as_bytes()).to_hex()[..DIGITS].to_string()
}

fn approval_request(call: &Checked, key: &str) -> Approval {
    let (tool, caller) = (call.tool(), call.context.caller());
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
        op: tool.op.clone(),
        arguments,
        hidden: hidden.collect(),
        fingerprint: fingerprint(&tool.op, call.arguments(), ""),
        bound: binding(tool, call.context.catalog(), key),
        asked_at: now,
        until: now.saturating_add(APPROVAL_MS),
        status: ApprovalStatus::Waiting,
        reason: None,
    }
}

fn approval_required(tool: &Tool, approval: &Approval, void: Option<&str>, nobody_can: bool) -> Refusal {
    let (op, id) = (&tool.op, &approval.id);
    let message = match void {
        None => format!("a person has to approve this call of `{op}`; it waits as {id}"),
        Some(void) => format!(
            "the approval {void} is void: `{op}` or its backend has changed since, or an older toolcrib requested it; \
             a person has to approve this call anew, and it waits as {id}"
        ),
    };
    let next = match nobody_can {
        true => "tell the user that nobody can approve it: this server keeps approvals in memory, and its operator has to set `url` below `[state]`".into(),
        false => format!(
            "tell the user that {id} waits for approval (`toolcrib approvals approve {id}`, with the catalog and the --state that this program was started with); once it is approved, send the same call again, unchanged"
        ),
    };
    let mut asked = json!({ "id": id, "status": approval.status, "until": approval.until });
    if let Some(void) = void {
        asked["void"] = void.into();
    }
    Refusal::new(ErrorCode::ApprovalRequired, message, next).detail("approval", asked)
}

fn denied(tool: &Tool, approval: &Approval) -> Refusal {
    let why = approval.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    let why = why.map(|reason| format!(": {}", crate::tool::clean_line(reason))).unwrap_or_default();
    let message = format!("a person has refused this call of `{}`{why}", tool.op);
    let next = "do not send it again; tell the user, and ask what to do instead";
    let asked = json!({ "id": approval.id, "status": approval.status, "reason": approval.reason });
    Refusal::new(ErrorCode::PermissionDenied, message, next).detail("approval", asked)
}

fn unavailable(error: StateError) -> Refusal {
    let message = format!(
        "nothing was run: a person has to approve the call, and no approval can be requested ({error})"
    );
    let next = "tell the operator: approvals need a store, `url` below `[state]`";
    Refusal::new(ErrorCode::StateUnavailable, message, next)
}
