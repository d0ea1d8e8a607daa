//! `read_result`: the next part of a result that was too long to be returned whole.

use serde::Deserialize;
use serde_json::Value;

use super::arguments::read;
use super::{Answer, AnswerFuture, Function, FunctionContext, Refusal};
use crate::exec::next_page;

/// Fewest bytes of a part.
const LEAST: usize = 16;

#[derive(Deserialize)]
struct Arguments {
    cursor: String,
    max_bytes: Option<usize>,
    select: Option<Value>,
}

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, arguments: Value) -> AnswerFuture {
    Box::pin(answer(function, context, arguments))
}

async fn answer(function: &Function, context: FunctionContext, arguments: Value) -> Result<Answer, Refusal> {
    let asked: Arguments = read(function.name(), arguments)?;
    let most = context.view.catalog().config.exec.result_bytes;
    let limit = asked.max_bytes.unwrap_or(most).clamp(LEAST, most.max(LEAST));
    let (state, caller) = (&*context.services.state, &context.caller.name);
    let fields = next_page(state, caller, &asked.cursor, (asked.select, limit)).await?;
    Ok(Answer::new(fields, None))
}
