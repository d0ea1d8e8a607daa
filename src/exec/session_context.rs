//! What a session is about: some results say so, and later answers repeat it (API-5).

use serde_json::Value;

use super::active_call::ActiveCall;
use super::audit;
use crate::catalog::Tool;

/// Notes what a result says that the session is about from now on.
pub(super) async fn store(call: &mut ActiveCall, tool: &Tool, result: &Value) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    call.session_context = Some(context.clone());
    let Some(session) = call.context.caller().session() else { return };
    match call.state().set_session_context(&session, context).await {
        Ok(()) => audit::record_context_shift(call, tool, context),
        Err(error) => {
            let told = format!("what the session is about could not be written down ({})", error.0);
            call.warnings.push(told);
        }
    }
}

/// Repeats what the session is about, where some result has said so before.
pub(super) async fn load(call: &mut ActiveCall) {
    if call.session_context.is_some() || !call.context.has_context_shifts() {
        return;
    }
    let Some(session) = call.context.caller().session() else { return };
    call.session_context = call.state().session_context(&session).await.ok().flatten();
}
