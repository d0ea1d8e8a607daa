//! The ops that a session has read help on, or has called: its model knows them already.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::broken;
use crate::functions::{ErrorCode, FunctionContext, Refusal};
use crate::help::usage;
use crate::state::{EventKind, EventQuery};

/// Most events that are read, and most ops that are listed.
const MAX_EVENTS: usize = 2_000;
const MAX_OPS: usize = 40;

/// The ops of the caller's session, in the order of their first event.
pub(super) async fn known_ops(context: &FunctionContext) -> Result<Map<String, Value>, Refusal> {
    let Some(session) = context.caller.session() else { return Err(no_session()) };
    let wanted = EventQuery { limit: MAX_EVENTS, ..EventQuery::of(&session) };
    let events = context.services.state.events(&wanted).await;
    let events = events.map_err(|error| broken(&format!("the trace cannot be read: {error}")))?;
    let catalog = context.view.catalog();
    let mut ops: IndexMap<&str, String> = IndexMap::new();
    for event in &events {
        let is_known = matches!(event.kind, EventKind::Read | EventKind::Expand | EventKind::Call);
        let tool =
            event.op.as_deref().filter(|_| is_known && event.outcome == "ok").and_then(|op| catalog.find(op));
        // A caller that may not use a tool may not see its arguments either.
        let tool = tool.filter(|tool| {
            catalog.position(&tool.name).is_some_and(|index| !context.view.is_forbidden(index))
        });
        if let Some(tool) = tool {
            ops.entry(&tool.op).or_insert_with(|| usage(tool));
        }
    }
    let left_out = ops.len().saturating_sub(MAX_OPS);
    let known = ops.into_iter().skip(left_out).map(|(op, usage)| json!({ "op": op, "usage": usage }));
    let mut fields = Map::new();
    fields.insert("path".into(), "session".into());
    fields.insert("known".into(), known.collect());
    if left_out > 0 {
        fields.insert("left_out".into(), left_out.into());
    }
    fields.insert("next".into(), "call these without asking for help again".into());
    Ok(fields)
}

fn no_session() -> Refusal {
    let next = "send the same `session`, a text of your own, with every call; or ask for an op or a group";
    Refusal::new(
        ErrorCode::ValidationError,
        "this call belongs to no session, so that nothing is known of one",
        next,
    )
}
