//! The context of a session (API-5): a result sets it, and later answers of the session repeat it.

use serde_json::{Value, json};

use super::call::{Call, Notes};
use crate::state::{Event, EventKind};
use toolcrib_catalog::Tool;

/// Stores the context that a result sets for its session.
pub(super) async fn store_session_context(call: &Call, tool: &Tool, result: &Value, notes: &mut Notes) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    notes.session_context = Some(context.clone());
    let Some(session) = call.context.caller.session() else { return };
    match call.state().set_session_context(&session, context).await {
        Ok(()) => {
            let detail = json!({ "context": call.secrets().noted(&Value::Null, context) });
            let event = call.event(EventKind::ContextShift);
            call.state().record(Event { op: Some(tool.op.clone()), outcome: "ok".into(), detail, ..event });
        }
        Err(error) => {
            let warning = format!("the context of the session could not be stored ({error})");
            notes.warnings.push(warning);
        }
    }
}

/// Adds the context of the session to the answer, if an earlier result has set it.
pub(super) async fn load_session_context(call: &Call, notes: &mut Notes) {
    if notes.session_context.is_some() || !call.context.view.has_context_shifts() {
        return;
    }
    let Some(session) = call.context.caller.session() else { return };
    notes.session_context = call.state().session_context(&session).await.ok().flatten();
}
