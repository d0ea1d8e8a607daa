//! `tool_exec`: runs a tool by its op. `tool_exec_read` and `tool_exec_write` are the same for clients that ask a person by
//! what a function may do.

use std::sync::Arc;

use serde_json::Value;

use super::{Answer, Context, Later, Refusal};
use crate::exec::{self, Done, Limit};

/// Answers a call.
pub(super) fn run(context: Context, input: Value) -> Later {
    Box::pin(answer(context, "tool_exec", Limit::None, input))
}

/// Answers a call of what changes nothing.
pub(super) fn run_reads(context: Context, input: Value) -> Later {
    Box::pin(answer(context, "tool_exec_read", Limit::Reads, input))
}

/// Answers a call of what changes something.
pub(super) fn run_changes(context: Context, input: Value) -> Later {
    Box::pin(answer(context, "tool_exec_write", Limit::Changes, input))
}

async fn answer(
    context: Context,
    function: &'static str,
    limit: Limit,
    input: Value,
) -> Result<Answer, Refusal> {
    Ok(enveloped(exec::answer(Arc::new(context), function, limit, input).await))
}

fn enveloped(done: Done) -> Answer {
    let error = done.outcome.error();
    Answer::enveloped(done.envelope(), error)
}
