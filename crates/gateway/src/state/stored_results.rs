//! Results that are too long to be returned whole, stored for their caller.

use super::bounds::{MAX_BYTES_OF_CALLER, bounds, over_bounds};
use super::database::{Access, Result, StateError, values};
use super::store::StateStore;

/// A result that was too long to be returned whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Id of the result.
    pub id: String,
    /// The caller who may read it.
    pub caller: String,
    /// All of it.
    pub text: String,
    /// Time at which it expires, in milliseconds of Unix time.
    pub until: i64,
}

impl StateStore {
    /// Stores a result for its caller, to be read on. The oldest results go if those of the caller, or of all callers, have too
    /// many bytes.
    pub async fn store_result(&self, result: StoredResult) -> Result<()> {
        let StoredResult { id, caller, text, until } = result;
        if text.len() > MAX_BYTES_OF_CALLER {
            return Err(StateError::Failed(format!("it is over {} MiB", MAX_BYTES_OF_CALLER >> 20)));
        }
        let bounds = bounds(&id);
        let values = [id.into(), caller.into(), text.into_bytes().into(), until.into()];
        self.ask(Access::Write, move |sql| {
            sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[])?;
            let insert = "INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4) \
                          ON CONFLICT (id) DO UPDATE SET caller = excluded.caller, text = excluded.text, \
                          until = excluded.until";
            sql.rows(insert, &values)?;
            let over = over_bounds("id", "tool_results", "text", "until");
            sql.rows(&format!("DELETE FROM tool_results WHERE {over}"), &bounds).map(drop)
        })
        .await
    }

    /// The text of a stored result of this caller.
    pub async fn stored_result(&self, caller: &str, id: &str) -> Result<Option<String>> {
        let select = "SELECT text FROM tool_results WHERE caller = ?1 AND id = ?2 AND until > NOW_MS";
        Ok(self.rows(Access::Read, select, values![*caller, *id]).await?.pop().map(|mut row| row.string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::now;

    #[tokio::test]
    async fn the_oldest_results_of_a_caller_go_and_those_of_others_stay() {
        let state = StateStore::in_memory();
        let result = |caller: &str, number: i64, bytes: usize| StoredResult {
            id: format!("{caller}{number}"),
            caller: caller.into(),
            text: "x".repeat(bytes),
            until: now() + 60_000 + number,
        };
        state.store_result(result("bob", 0, 10)).await.unwrap();
        let third = MAX_BYTES_OF_CALLER / 3;
        for number in 1..=5 {
            state.store_result(result("amy", number, third)).await.unwrap();
        }
        let is_stored = async |caller: &str, number: i64| {
            state.stored_result(caller, &format!("{caller}{number}")).await.unwrap().is_some()
        };
        for (number, expect) in [(1, false), (2, false), (3, true), (4, true), (5, true)] {
            assert_eq!(is_stored("amy", number).await, expect, "{number}");
        }
        assert!(is_stored("bob", 0).await);
        for caller in ["c", "d", "e", "f"] {
            state.store_result(result(caller, 9, MAX_BYTES_OF_CALLER - 20)).await.unwrap();
        }
        assert!(!is_stored("amy", 5).await && !is_stored("bob", 0).await && is_stored("c", 9).await);
        let refused = state.store_result(result("g", 9, MAX_BYTES_OF_CALLER + 1)).await.unwrap_err();
        assert!(refused.to_string().contains("over 1 MiB"), "{refused}");
    }
}
