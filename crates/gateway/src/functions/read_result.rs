//! `read_result`: reads on in a long result.

use serde::Deserialize;
use serde_json::Value;

use super::function::{Answer, FunctionContext, ToolError};
use super::function::{Arguments, Function};
use crate::exec::next_page;

/// Fewest bytes of a part of a long result.
const LEAST: usize = 16;

/// Arguments of `read_result`.
#[derive(Deserialize)]
pub(super) struct ReadResult {
    cursor: String,
    select: Option<Value>,
}

impl Arguments for ReadResult {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let limit = context.view.catalog().config.exec.result_bytes.max(LEAST);
        let state = &*context.services.state;
        let caller = &context.caller.name;
        let fields = next_page(state, caller, &self.cursor, (self.select, limit)).await?;
        Ok(Answer::new(fields, None))
    }
}
