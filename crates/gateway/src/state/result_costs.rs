//! What the results of tools have cost, from the latest calls.

use std::collections::HashMap;

use rusqlite::types::Value;

use super::callers::Callers;
use super::database::{Access, Result};
use super::store::StateStore;

/// Calls of one tool from which its mean is taken; the calls of all callers among which these are looked for; and calls of all
/// tools.
const OF_TOOL: usize = 20;
const LOOKED_AT: usize = 1_000;
const OF_ALL: usize = 10_000;

/// The successful calls of one tool, and the tokens of their results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultCost {
    pub tool: String,
    pub calls: i64,
    pub tokens: i64,
}

/// Condition on a call with a result.
const HAS_RESULT: &str = "tool IS NOT NULL AND outcome = 'ok' AND NOT dry_run";

impl StateStore {
    /// The mean tokens of the latest results of each of these tools, as this caller got them.
    pub async fn mean_result_tokens(&self, caller: &str, tools: &[&str]) -> Result<HashMap<String, i64>> {
        if tools.is_empty() {
            return Ok(HashMap::new());
        }
        let of_tool = |at: usize| {
            format!(
                "SELECT tool, CAST(avg(tokens) AS bigint) FROM (SELECT tool, tokens FROM (SELECT id, tool, caller, tokens FROM \
                 tool_executions WHERE tool = ?{} AND {HAS_RESULT} ORDER BY id DESC LIMIT {LOOKED_AT}) AS all_callers \
                 WHERE caller = ?1 ORDER BY id DESC LIMIT {OF_TOOL}) AS latest GROUP BY tool",
                at + 2
            )
        };
        let select = (0..tools.len()).map(of_tool).collect::<Vec<_>>().join(" UNION ALL ");
        let values: Vec<Value> =
            std::iter::once(&caller).chain(tools).map(|text| Value::from(text.to_string())).collect();
        let rows = self.rows(Access::Read, &select, values).await?;
        Ok(rows.into_iter().map(|mut row| (row.string(), row.int())).collect())
    }

    /// The costs of the latest results by tool, the most costly tools first.
    pub async fn result_costs(&self, callers: &Callers) -> Result<Vec<ResultCost>> {
        let _ = self.flush().await;
        let mut values = Vec::new();
        let chosen = callers.condition(&mut values);
        let select = format!(
            "SELECT tool, count(*), CAST(sum(tokens) AS bigint) FROM (SELECT tool, tokens FROM tool_executions \
             WHERE {HAS_RESULT} AND {chosen} ORDER BY id DESC LIMIT {OF_ALL}) AS latest GROUP BY tool ORDER BY 3 DESC, tool"
        );
        let rows = self.rows(Access::Read, &select, values).await?;
        let cost = |mut row: super::database::Row| ResultCost {
            tool: row.string(),
            calls: row.int(),
            tokens: row.int(),
        };
        Ok(rows.into_iter().map(cost).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Event;

    #[tokio::test]
    async fn costs_are_those_of_results_that_the_caller_got() {
        let state = StateStore::in_memory();
        let call = |caller: &str, tool: &str, outcome: &str, tokens: i64| Event {
            caller: caller.into(),
            tool: Some(tool.into()),
            outcome: outcome.into(),
            tokens,
            ..Event::default()
        };
        for number in 0..30 {
            // The latest twenty count.
            state.record(call("amy", "list", "ok", if number < 10 { 90_000 } else { 100 }));
        }
        state.record(call("amy", "list", "TIMEOUT", 7_000));
        state.record(call("bob", "list", "ok", 5_000));
        state.record(call("bob", "get", "ok", 10));
        let all = state.result_costs(&Callers::All).await.unwrap();
        let expect = [("list", 31, 907_000), ("get", 1, 10)];
        let found: Vec<_> = all.iter().map(|cost| (cost.tool.as_str(), cost.calls, cost.tokens)).collect();
        assert_eq!(found, expect);
        let mean = state.mean_result_tokens("amy", &["list", "get"]).await.unwrap();
        assert_eq!(mean, HashMap::from([("list".to_string(), 100)]));
    }
}
