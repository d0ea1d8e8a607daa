//! A person's decision about a waiting call, wherever it was made.

use serde_json::json;

use super::request::binding;
use crate::state::{Approval, ApprovalStatus, Event, EventKind, StateError, StateStore, random_id};
use toolcrib_catalog::Catalog;

/// The note on a decision in the client.
pub(super) const IN_CLIENT: &str = "decided in the client";

/// A person's decision about a call, whether in the client, on the command line or on a page.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'d> {
    /// The approval.
    pub id: &'d str,
    /// Yes or no.
    pub yes: bool,
    /// The reason; that of a no is shown to the agent.
    pub reason: Option<&'d str>,
    /// The person, where it is known.
    pub by: Option<&'d str>,
}

/// Outcome of a [`Decision`].
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It holds.
    Done(Approval),
    /// There is no such approval.
    Unknown,
    /// Another decision, or the end of the time, came first.
    Late(Approval),
    /// The tool or its backend has changed since the call.
    Changed(Approval),
    /// The person is the caller.
    OwnCall,
}

/// Decides about a waiting call, and records who did. With a catalog, a call whose tool has changed cannot be approved.
pub async fn decide(
    state: &StateStore,
    catalog: Option<&Catalog>,
    decision: Decision<'_>,
) -> Result<Decided, StateError> {
    let Some(approval) = state.approval(decision.id).await? else { return Ok(Decided::Unknown) };
    if decision.by == Some(&approval.caller) {
        return Ok(Decided::OwnCall);
    }
    let is_waiting = approval.status == ApprovalStatus::Waiting;
    if decision.yes && is_waiting && has_changed(&approval, catalog, &state.hash_key().await?) {
        return Ok(Decided::Changed(approval));
    }
    match state.decide_approval(decision.id, decision.yes, decision.reason).await? {
        None => Ok(Decided::Unknown),
        Some((approval, false)) => Ok(Decided::Late(approval)),
        Some((approval, true)) => {
            state.record(decision_event(&approval, decision.by));
            state.flush().await?;
            Ok(Decided::Done(approval))
        }
    }
}

/// Returns true if the tool of an approval, or its backend, has changed since.
pub fn has_changed(approval: &Approval, catalog: Option<&Catalog>, key: &str) -> bool {
    let tool = catalog.and_then(|catalog| Some((catalog, catalog.find(&approval.op)?)));
    tool.is_some_and(|(catalog, tool)| binding(tool, catalog, key) != approval.bound)
}

/// The decision, for the trace of the session that asked.
fn decision_event(approval: &Approval, by: Option<&str>) -> Event {
    let mut detail = json!({ "approval": approval.id, "status": approval.status, "reason": approval.reason });
    if let Some(by) = by {
        detail["by"] = by.into();
    }
    Event {
        trace_id: random_id("tr"),
        caller: approval.caller.clone(),
        session: approval.session.clone(),
        kind: EventKind::Approval,
        function: "approvals".into(),
        op: Some(approval.op.clone()),
        outcome: "ok".into(),
        detail,
        ..Event::default()
    }
}
