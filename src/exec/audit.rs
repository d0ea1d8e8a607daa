//! What is written down of a call (API-6), without what is secret.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::Failure;
use super::active_call::ActiveCall;
use super::call_result::Outcome;
use crate::arguments::decoded;
use crate::catalog::Tool;
use crate::secret;
use crate::state::{self, Approval, Event, EventKind};

/// How long a call that has changed something waits for its trace.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// What such a call says where it cannot be sure of that.
pub(super) const NOT_RECORDED: &str = "this call may be missing from the trace, which cannot be written to";

/// Arguments as they may be written down. Those of a call that failed may stand in the wrong place, or be meant for a tool
/// that is near: what its schema declares secret is so by its name, wherever it stands.
fn redacted(call: &ActiveCall, arguments: &Value, failure: Option<&Failure>) -> Value {
    let schema = call.tool.as_ref().map_or(&Value::Null, |(_, tool)| tool.parameters.schema());
    let Some(failure) = failure else { return call.secrets().noted(schema, arguments) };
    let near = failure.nearest.iter().filter_map(|op| call.context.catalog().find(op));
    let schemas = near.map(|tool| tool.parameters.schema()).chain([schema]);
    let mut rules = call.config().state.redact.clone();
    rules.extend(schemas.flat_map(secret::declared_names));
    secret::Policy::new(&rules).noted(schema, arguments)
}

/// What stood where arguments are due, as it may be written down: where it was not taken apart, not word by word.
fn input(call: &ActiveCall, given: &Value, failure: Option<&Failure>) -> Value {
    match given {
        Value::Object(_) | Value::Null => redacted(call, given, failure),
        Value::String(text) => match decoded(text).ok().filter(Value::is_object) {
            Some(fields) => redacted(call, &fields, failure),
            None => json!({ "text": format!("{} characters, not JSON", text.chars().count()) }),
        },
        Value::Array(items) => json!({ "list": format!("{} items", items.len()) }),
        plain => json!({ "value": if plain.is_boolean() { "true or false" } else { "a number" } }),
    }
}

/// Writes down what came of a call.
pub(super) fn record(call: &mut ActiveCall, outcome_word: &str, outcome: Option<&Outcome>) {
    call.is_recorded = true;
    call.context.count(outcome_word, call.started.elapsed());
    let mut detail = Map::new();
    if let Some(key) = &call.key {
        detail.insert("idempotency_key".into(), key.as_str().into());
    }
    if call.replayed {
        detail.insert("replayed".into(), true.into());
    }
    let failure = match outcome {
        Some(Outcome::Failed(failure)) => Some(failure),
        _ => None,
    };
    let error = failure.map(|failure| call.secrets().text(&failure.message).into_owned());
    let event = Event {
        op: Some(call.secrets().text(&call.op).into_owned()),
        tool: call.tool.as_ref().map(|(_, tool)| tool.name.clone()),
        input: input(call, &call.arguments, failure),
        outcome: outcome_word.to_string(),
        error,
        effect: call.tool.as_ref().map(|(_, tool)| tool.effect),
        validated: call.validated,
        no_schema_mode: call
            .no_schema_mode
            .and_then(|mode| Some(serde_json::to_value(mode).ok()?.as_str()?.to_string())),
        dry_run: call.is_dry_run,
        detail: if detail.is_empty() { Value::Null } else { Value::Object(detail) },
        ..event(call, EventKind::Call)
    };
    call.state().record(event);
}

/// Waits until what was written down is on the disk, and says so where it may not be: who is told that something was changed
/// can count on finding it in the trace, whatever becomes of this process. `lost` is how many events had been lost before.
pub(super) async fn wait_until_durable(call: &mut ActiveCall, lost: u64) {
    let health = call.state().health();
    if health.is_volatile {
        return;
    }
    let is_written = health.problem.is_none()
        && matches!(timeout(FLUSH_TIMEOUT, call.state().flush()).await, Ok(Ok(())))
        && call.state().health().lost == lost;
    if !is_written && !call.warnings.iter().any(|warning| warning == NOT_RECORDED) {
        call.warnings.push(NOT_RECORDED.into());
    }
}

/// Writes down that a session is about something else.
pub(super) fn record_context_shift(call: &ActiveCall, tool: &Tool, context: &Value) {
    let detail = json!({ "context": call.secrets().noted(&Value::Null, context) });
    let op = Some(tool.op.clone());
    call.state().record(Event { op, outcome: "ok".into(), detail, ..event(call, EventKind::ContextShift) });
}

/// Writes down that a person is asked.
pub(super) fn record_approval_request(call: &ActiveCall, tool: &Tool, approval: &Approval) {
    let detail = json!({ "approval": approval.id, "status": approval.status });
    call.state().record(Event {
        op: Some(tool.op.clone()),
        tool: Some(tool.name.clone()),
        input: redacted(call, &call.arguments, None),
        outcome: "ok".into(),
        detail,
        ..event(call, EventKind::Approval)
    });
}

fn event(call: &ActiveCall, kind: EventKind) -> Event {
    let caller = call.context.caller();
    Event {
        at: state::now(),
        trace_id: call.trace_id.clone(),
        caller: caller.name.to_string(),
        session: caller.session.as_ref().map(ToString::to_string),
        kind,
        function: call.function.to_string(),
        latency_us: i64::try_from(call.started.elapsed().as_micros()).unwrap_or(i64::MAX),
        ..Event::default()
    }
}
