//! The context of a session: a result with a `context_shift` sets it, and later answers repeat it (API-5).

use serde_json::Value;

use super::audit;
use crate::catalog::Tool;
use crate::exec::call::{Call, RunNotes};

/// Stores the context that a result sets for its session.
pub(in crate::exec) async fn store(call: &Call, tool: &Tool, result: &Value, notes: &mut RunNotes) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    notes.session_context = Some(context.clone());
    let Some(session) = call.context.caller().session() else { return };
    match call.state().set_session_context(&session, context).await {
        Ok(()) => audit::record_context_shift(call, tool, context),
        Err(error) => {
            let warning = format!("the context of the session could not be stored ({error})");
            notes.warnings.push(warning);
        }
    }
}

/// Adds the context of the session to the answer, if an earlier result has set it.
pub(super) async fn load(call: &Call, notes: &mut RunNotes) {
    if notes.session_context.is_some() || !call.context.has_context_shifts() {
        return;
    }
    let Some(session) = call.context.caller().session() else { return };
    notes.session_context = call.state().session_context(&session).await.ok().flatten();
}
