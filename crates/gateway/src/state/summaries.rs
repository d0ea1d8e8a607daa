//! The sessions and the usage by day, read from the sums over events.

use rusqlite::types::Value;

use super::callers::Callers;
use super::database::{Access, Result, Row, values};
use super::event::EventKind;
use super::store::StateStore;
use super::sums::SessionSummary;

/// Events of one day with the same caller, tool and outcome; of all callers in answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The day, since the beginning of Unix time.
    pub day: i64,
    /// Whether they are searches, not calls.
    pub is_search: bool,
    /// The tool; empty for searches, and for calls of no known tool.
    pub tool: String,
    /// `ok`, the code of the error, or `NO_MATCH` for a search that found nothing.
    pub outcome: String,
    /// Their number.
    pub events: i64,
    /// Their duration in microseconds, in total.
    pub latency_us: i64,
}

impl StateStore {
    /// The sessions with the latest events, newest first, at most this many after those to skip.
    pub async fn sessions(
        &self,
        callers: &Callers,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        let _ = self.flush().await;
        let mut values = Vec::new();
        let chosen = callers.condition(&mut values);
        let select = format!(
            "SELECT {SUMS} FROM session_sums WHERE {chosen} ORDER BY last DESC LIMIT {limit} OFFSET {skip}"
        );
        Ok(self.rows(Access::Read, &select, values).await?.into_iter().map(summary).collect())
    }

    /// One session.
    pub async fn session(&self, caller: &str, session: &str) -> Result<Option<SessionSummary>> {
        let _ = self.flush().await;
        let select = format!("SELECT {SUMS} FROM session_sums WHERE caller = ?1 AND session = ?2");
        Ok(self.rows(Access::Read, &select, values![caller, session]).await?.pop().map(summary))
    }
}

impl StateStore {
    /// The usage since a day, by day, tool and outcome.
    pub async fn usage(&self, callers: &Callers, since: i64) -> Result<Vec<Usage>> {
        let _ = self.flush().await;
        let mut values = vec![Value::from(since)];
        let chosen = callers.condition(&mut values);
        let select = format!(
            "SELECT day, kind, tool, outcome, CAST(sum(events) AS bigint), CAST(sum(latency_us) AS bigint) FROM usage_sums \
             WHERE day >= ?1 AND {chosen} GROUP BY day, kind, tool, outcome ORDER BY day DESC, tool, outcome"
        );
        let usage = |mut row: Row| Usage {
            day: row.int(),
            is_search: row.string() == EventKind::Search.as_str(),
            tool: row.string(),
            outcome: row.string(),
            events: row.int(),
            latency_us: row.int(),
        };
        Ok(self.rows(Access::Read, &select, values).await?.into_iter().map(usage).collect())
    }
}

/// The columns of a [`SessionSummary`].
const SUMS: &str = "caller, session, since, until, events, calls, failed";

fn summary(mut row: Row) -> SessionSummary {
    SessionSummary {
        caller: row.string(),
        session: row.string(),
        since: row.int(),
        until: row.int(),
        events: row.int().unsigned_abs(),
        calls: row.int().unsigned_abs(),
        failed: row.int().unsigned_abs(),
    }
}
