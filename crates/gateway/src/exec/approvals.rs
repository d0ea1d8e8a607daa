//! Calls that a person has to approve, in the client or on the command line. They wait in a queue, and an approved call runs once.
//! An approval holds for one op, its arguments, its definition and its backend.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, ServerRequest,
};
use serde_json::{Value, json};

use super::approval_notice::{announce, page, whole_arguments};
use super::backend::Backends;
use super::record::{fingerprint, redacted};
use super::{Call, Checked, Notes};
use crate::state::{
    Approval, ApprovalStatus, Event, EventKind, HiddenValue, StateError, StateStore, now, random_id,
};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::config::ApprovalPlace;
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::guard::guarded;
use toolcrib_definition::{Backend, Effect, NoSchemaMode, clean_line};
use toolcrib_front::mcp::{RequestOrigin, ask, bound};

/// Hexadecimal digits of a hash that is shown: 128 bits, too many to guess.
const DIGITS: usize = 32;

/// Time that a call waits for a person, and that an approval counts.
const APPROVAL_MS: i64 = 3_600_000;

/// Uses up the approval of a call; `None` if it needs no approval.
pub(super) async fn approve(call: &Checked) -> Result<Option<Approval>, ToolError> {
    guarded(require_approval(call)).await.unwrap_or_else(|_| Err(call.panicked(false)))
}

async fn require_approval(call: &Checked) -> Result<Option<Approval>, ToolError> {
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
                let void = asked.void.as_deref();
                let error = approval_required(call, tool, &approval, void);
                return Err(with_displaced(error, &asked.displaced));
            }
            ApprovalStatus::Used | ApprovalStatus::Void => {}
        }
    }
    let message = format!("an approval of `{}` was used by another call at the same moment", tool.op);
    Err(ToolError::new(ErrorCode::ApprovalRequired, message, "send the same call again to ask for another"))
}

// The person at the client. The question has the whole call; the answer counts for it alone, once, while its approval waits.

/// The note on a decision in the client.
const IN_CLIENT: &str = "decided in the client";
/// The sender and the name of our question on the newer protocol.
const ASKING: &str = "toolcrib approvals";
const QUESTION: &str = "approval";
/// The longest question, in bytes. Longer calls are shown on the command line.
const MAX_QUESTION: usize = 20_000;

/// Whether a call that nobody has allowed or forbidden may run once its person agrees: the client has started this process for
/// its person, and can ask.
pub(super) fn is_allowed_by_asking(call: &Call, tool: &Tool) -> bool {
    let caller = &call.context.caller;
    let is_asked_here = || client_to_ask(call).is_some_and(|origin| origin.takes_questions());
    let is_open = call.config().exec.allow.is_none() && tool.effect != Effect::Read;
    is_open && caller.is_own_client && !runs_as_direct(call, tool) && is_asked_here()
}

/// Whether a live server's tool runs as it would without us: nothing is configured, and the client has asked its person.
pub(super) fn runs_as_direct(call: &Call, tool: &Tool) -> bool {
    call.context.caller.asks_its_person && may_run_as_direct(call, tool)
}

/// Whether it would do so, if the client had asked.
pub(super) fn may_run_as_direct(call: &Call, tool: &Tool) -> bool {
    call.config().exec.allow.is_none()
        && call.request.step.is_none()
        && matches!(Backends::of(tool, call.config()).as_deref(), Some(Backend::Mcp { .. }))
}

/// The client whose person decides, where the client and not the command line is the place for it.
fn client_to_ask(call: &Call) -> Option<&Arc<RequestOrigin>> {
    let caller = &call.context.caller;
    let is_place = match call.config().exec.approve_in {
        Some(place) => place == ApprovalPlace::Client,
        None => caller.is_own_client,
    };
    caller.origin.as_ref().filter(|_| is_place)
}

/// Asks the person at the client. `None` where nobody decides now, or where the question is the answer to the client.
async fn ask_client(call: &Checked, tool: &Tool, approval: &Approval, key: &str) -> Option<bool> {
    let origin = client_to_ask(call).filter(|origin| origin.takes_questions())?;
    let state = format!("{} {}", approval.id, hash(key, &json!(signed_part(approval)).to_string()));
    if let Some(given) = origin.take_own_input(ASKING, &state) {
        let action = given.get(QUESTION).and_then(|response| response.get("action"));
        return match action.and_then(|action| action.as_str()) {
            Some("accept") => Some(true),
            Some("decline") => Some(false),
            _ => None,
        };
    }
    let question = question(tool, approval)?;
    if origin.session().is_none() {
        // The call is sent again from its beginning, so that nothing may have run before.
        if call.request.step.is_none() && origin.may_ask_first() {
            let questions = BTreeMap::from([(QUESTION.to_string(), InputRequest::Elicitation(question))]);
            origin.require_input(InputRequiredResult::new(Some(questions), Some(bound(ASKING, Some(state)))));
        }
        return None;
    }
    match ask(origin, ServerRequest::ElicitRequest(question)).await {
        Ok(ClientResult::ElicitResult(result)) => match result.action {
            ElicitationAction::Accept => Some(true),
            ElicitationAction::Decline => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// All that an answer is bound to.
fn signed_part(approval: &Approval) -> [&str; 4] {
    [&approval.id, &approval.caller, &approval.fingerprint, &approval.bound]
}

/// The question whether to run a call; `None` for one too long to be read in a window.
fn question(tool: &Tool, approval: &Approval) -> Option<ElicitRequest> {
    let kind = if tool.effect == Effect::Destructive { "destructive" } else { "a change" };
    let message =
        format!("Run {}, which is {kind}?\n\n{}", clean_line(&tool.name), whole_arguments(approval));
    let requested_schema = ElicitationSchema::builder().build().ok()?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let is_short = matches!(&params, ElicitRequestParams::FormElicitationParams { message, .. } if message.len() <= MAX_QUESTION);
    is_short.then(|| ElicitRequest::new(params))
}

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

/// What a person reads of a tool before deciding, to compare later definitions with it.
pub fn readable_definition(tool: &Tool) -> Value {
    json!({
        "description": tool.description,
        "effect": tool.effect.as_str(),
        "parameters": tool.parameters.schema(),
    })
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

/// A hash of the definition and the configured backend, for which an approval holds in addition to op and arguments. Of a tool
/// of several steps, it covers their tools too.
pub fn binding(tool: &Tool, catalog: &Catalog, key: &str) -> String {
    let mut bound = Vec::new();
    let mut left = vec![tool];
    let mut known = BTreeSet::new();
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

/// Adds that older calls of the caller no longer wait.
fn with_displaced(mut error: ToolError, displaced: &[String]) -> ToolError {
    if !displaced.is_empty() {
        let ids = displaced.join(", ");
        error
            .message
            .push_str(&format!("; too many calls wait, so {ids} no longer do: send those calls again later"));
    }
    error
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

/// Records a request for approval.
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
