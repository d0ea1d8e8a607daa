//! What a session is about: some results say so, and later answers repeat it (API-5).

use serde_json::Value;

use super::audit;
use super::call::Call;
use crate::catalog::Tool;

/// Notes what a result says that the session is about from now on.
pub(super) async fn note(call: &mut Call, tool: &Tool, result: &Value) {
    let Some(pointer) = tool.definition.context_shift.as_deref() else { return };
    let Some(context) = result.pointer(pointer).filter(|context| !context.is_null()) else { return };
    call.context = Some(context.clone());
    let Some(session) = call.host.caller().session() else { return };
    match call.state().shift(&session, context).await {
        Ok(()) => audit::shifted(call, tool, context),
        Err(error) => {
            let told = format!("what the session is about could not be written down ({})", error.0);
            call.warnings.push(told);
        }
    }
}

/// Repeats what the session is about, where some result has said so before.
pub(super) async fn recall(call: &mut Call) {
    if call.context.is_some() || !call.host.shifts() {
        return;
    }
    let Some(session) = call.host.caller().session() else { return };
    call.context = call.state().context(&session).await.ok().flatten();
}
