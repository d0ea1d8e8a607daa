//! Repeats of the same wrong path in one session: each error is stronger than the last.

use crate::functions::{ErrorCode, FunctionContext, Refusal};

/// Number of repeats from which the caller is told to stop.
const STOP: u32 = 3;

/// Counts an unknown path, and strengthens the error with each repeat.
pub(super) async fn answer(context: &FunctionContext, asked: &str, mut refusal: Refusal) -> Refusal {
    let Some(session) = context.caller.session() else { return refusal };
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(b"tool_help\0")
        .update(refusal.code.as_str().as_bytes())
        .update(b"\0")
        .update(asked.as_bytes());
    let fingerprint = &hasher.finalize().to_hex()[..32];
    let Ok(count) = context.services.state.count_failure(&session, fingerprint).await else { return refusal };
    if count == 2 {
        refusal.next_action =
            format!("the same was asked for before, and nothing has changed: {}", refusal.next_action);
    }
    if count >= STOP {
        let last = refusal.code.as_str();
        refusal.message =
            format!("stop: this has been asked for {count} times with {last}: {}", refusal.message);
        refusal.next_action = match refusal.code {
            ErrorCode::Ambiguous => "ask for one of `nearest`, letter by letter".into(),
            _ => "do not guess another path. Ask tool_search for what you want to do, or tell the user that there is no such tool".into(),
        };
        refusal.code = ErrorCode::LoopStopped;
    }
    refusal
}
