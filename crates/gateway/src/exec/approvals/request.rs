//! The request for an approval: the whole call, with the definition and the backend that the approval is bound to, and what is
//! said to its caller.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::notice::page;
use crate::exec::backend::Backends;
use crate::exec::call::{Call, Checked};
use crate::state::{Approval, ApprovalStatus, HiddenValue, now, random_id};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::{Definition, clean_line};

/// Hexadecimal digits of a hash that is shown: 128 bits, too many to guess.
const DIGITS: usize = 32;

/// Time that a call waits for a person, and that an approval counts.
const APPROVAL_MS: i64 = 3_600_000;

/// The request for an approval of a call.
pub(super) fn approval_request(call: &Checked, key: &str) -> Approval {
    let tool = call.tool();
    let caller = &call.context.caller;
    let now = now();
    let (arguments, hidden) = call.secrets().declared(tool.input.parameters.schema(), call.arguments());
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
        fingerprint: call.fingerprint(""),
        bound: binding(tool, call.context.view.catalog(), key),
        definition: readable_definition(tool),
        asked_at: now,
        until: now.saturating_add(APPROVAL_MS),
        status: ApprovalStatus::Waiting,
        reason: None,
    }
}

/// What a person reads of a tool before deciding, to compare later definitions with it.
pub fn readable_definition(tool: &Tool) -> Value {
    json!({
        "description": tool.texts.description,
        "effect": tool.rules.effect.as_str(),
        "parameters": tool.input.parameters.schema(),
    })
}

/// A hash of the definition and the configured backend, for which an approval holds in addition to op and arguments. Of a tool
/// of several steps, it covers their tools too.
pub fn binding(tool: &Tool, catalog: &Catalog, key: &str) -> String {
    let mut bound = Vec::new();
    let mut left = vec![tool];
    let mut known = BTreeSet::new();
    while let Some(tool) = left.pop() {
        let backend = Backends::configured(tool, &catalog.config);
        // Names and categories also depend on other tools, and change nothing about the call.
        let definition = Definition {
            name: tool.names.written.clone(),
            op: None,
            aliases: Vec::new(),
            category: Vec::new(),
            short_description: None,
            ..tool.into()
        };
        bound.push(json!([definition, tool.rules.effect.as_str(), backend]));
        if let Some(backend) = tool.steps() {
            let called = backend.steps.iter().rev().filter_map(|step| catalog.find(&step.op));
            left.extend(called.filter(|tool| known.insert(&tool.names.canonical)));
        }
    }
    hash(key, &json!(bound).to_string())
}

pub(super) fn hash(key: &str, text: &str) -> String {
    let key = blake3::derive_key("toolcrib: hashes of approvals", key.as_bytes());
    blake3::keyed_hash(&key, text.as_bytes()).to_hex()[..DIGITS].to_string()
}

/// The error of a call that waits for a person. `void`: an earlier approval, which does not hold any more.
pub(super) fn approval_required(call: &Call, approval: &Approval, void: Option<&str>) -> ToolError {
    let op = call.op();
    let id = &approval.id;
    let message = match void {
        None => format!("a person has to approve this call of `{op}`; it waits as {id}"),
        Some(void) => format!(
            "the approval {void} is void: `{op}` or its backend has changed since, or an older toolcrib requested it; \
             a person has to approve this call anew, and it waits as {id}"
        ),
    };
    let again = "then send the same call again, unchanged";
    let next = if let Some(page) = page(call.config(), id) {
        format!("tell the user that an operator can approve it at {page}; {again}")
    } else if call.state().health().is_volatile {
        let file = call.config().place(call.context.caller.is_own_client);
        format!(
            "tell the user that nobody can approve it: approvals are kept in memory; the operator sets `url` below `[state]` in {file}, and restarts toolcrib"
        )
    } else {
        // No finished command: an agent with a shell would run it.
        format!("tell the user that it waits in `toolcrib approvals`; {again}")
    };
    let mut asked = json!({ "id": id, "status": approval.status, "until": approval.until });
    if let Some(void) = void {
        asked["void"] = void.into();
    }
    ToolError::new(ErrorCode::ApprovalRequired, message, next).detail("approval", asked)
}

/// The error of a call that a person has refused.
pub(super) fn denied(call: &Call, approval: &Approval) -> ToolError {
    let why = approval.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    let why = why.map(|reason| format!(": {}", clean_line(reason))).unwrap_or_default();
    let message = format!("a person has refused this call of `{}`{why}", call.op());
    let next = "do not send it again; tell the user, and ask what to do instead";
    let asked = json!({ "id": approval.id, "status": approval.status, "reason": approval.reason });
    ToolError::new(ErrorCode::PermissionDenied, message, next).detail("approval", asked)
}
