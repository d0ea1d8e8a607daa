//! `read_result`: reads on in a long result.

use serde::Deserialize;
use serde_json::Value;

use super::arguments::Arguments;
use crate::context::FunctionContext;
use crate::exec::{ResultPart, Results};
use crate::tool_error::Result;

/// Fewest bytes of a part of a long result.
const LEAST: usize = 16;

/// Arguments of `read_result`.
#[derive(Deserialize)]
pub(super) struct ReadResult {
    cursor: String,
    select: Option<Value>,
}

impl Arguments for ReadResult {
    type Reply = ResultPart;

    async fn answer(self, context: &FunctionContext) -> Result<ResultPart> {
        let limit = context.view.catalog().config.exec.result_bytes.max(LEAST);
        let results = Results { state: &context.services.state, caller: &context.caller.name, limit };
        results.next_page(&self.cursor, self.select).await
    }
}
