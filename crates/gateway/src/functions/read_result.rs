//! `read_result`: reads on in a long result.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::Answer;
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

impl Answer {
    /// The answer as JSON without `meta`, with all of a result that is cut for its reader.
    pub async fn whole(&self, context: &FunctionContext) -> Result<Map<String, Value>> {
        let mut body = self.body();
        body.shift_remove("meta");
        let more = self.envelope().and_then(|envelope| envelope.meta.more.as_ref());
        if let Some(cursor) = more.and_then(|more| more.get("cursor")?.as_str()) {
            let results =
                Results { state: &context.services.state, caller: &context.caller.name, limit: LEAST };
            body.insert("result".into(), results.whole(cursor).await?);
        }
        Ok(body)
    }
}

impl Arguments for ReadResult {
    type Reply = ResultPart;

    async fn answer(self, context: &FunctionContext) -> Result<ResultPart> {
        let limit = context.view.catalog().config.exec.result_bytes.max(LEAST);
        let results = Results { state: &context.services.state, caller: &context.caller.name, limit };
        results.next_page(&self.cursor, self.select).await
    }
}
