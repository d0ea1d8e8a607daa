//! `read_result`: the next part of a result that was too long to be returned whole.

use serde::Deserialize;
use serde_json::Value;

use super::arguments::read;
use super::{Answer, Context, Later, Refusal};
use crate::exec::read_on;

/// The least that a part holds.
const LEAST: usize = 16;

#[derive(Deserialize)]
struct Arguments {
    cursor: String,
    max_bytes: Option<usize>,
}

/// Answers a call.
pub(super) fn run(context: Context, arguments: Value) -> Later {
    Box::pin(answer(context, arguments))
}

async fn answer(context: Context, arguments: Value) -> Result<Answer, Refusal> {
    let asked: Arguments = read("read_result", arguments)?;
    let most = context.edition.catalog().config.exec.result_bytes;
    let limit = asked.max_bytes.unwrap_or(most).clamp(LEAST, most.max(LEAST));
    let part = read_on(&*context.services.state, &context.caller.name, &asked.cursor, limit).await?;
    Ok(Answer::new(part.fields, None))
}
