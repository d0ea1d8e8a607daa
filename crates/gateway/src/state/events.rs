//! The events of a trace: recorded in the background, read, and deleted when they are old.

use std::time::Duration;

use super::approvals::erase_expired;
use super::clock::millis;
use super::database::{Access, Result, Sql, values};
use super::event::Event;
use super::event_rows::{OF_CALLS, SHARED, event};
use super::sessions::Session;
use super::store::StateStore;
use super::sums::forget_sums;
use super::wait_budget::waited;

/// Filter of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Session; any when absent.
    pub session: Option<String>,
    /// Caller; any when absent.
    pub caller: Option<String>,
    /// Least number, exclusive.
    pub after: i64,
    /// The number of events to skip at the beginning.
    pub skip: i64,
    /// Most events; all when zero.
    pub limit: usize,
}

impl EventQuery {
    /// The events of a session.
    pub fn of(session: &Session) -> Self {
        let caller = Some(session.caller.to_string());
        let session = Some(session.id.to_string());
        Self { session, caller, ..Self::default() }
    }
}

/// Most milliseconds by which ages grow between two clean-ups, so that a clock that is wrong once makes nothing too
/// old.
const STEP: i64 = 86_400_000;

impl StateStore {
    /// Records an event in the background. Nobody waits for it; `Health` counts lost events.
    pub fn record(&self, event: Event) {
        self.recorder.record(event.stamped());
    }

    /// Waits until all recorded events are written.
    pub async fn flush(&self) -> Result<()> {
        waited(self.recorder.flush()).await
    }

    /// Returns events, oldest first. Events that this process has just recorded are
    /// written first, if possible, and included.
    pub async fn events(&self, wanted: &EventQuery) -> Result<Vec<Event>> {
        let _ = self.flush().await;
        let mut chosen = "id > ?1".to_string();
        let mut values = values![wanted.after].to_vec();
        for (column, text) in [("session", &wanted.session), ("caller", &wanted.caller)] {
            if let Some(text) = text {
                values.push(text.clone().into());
                chosen.push_str(&format!(" AND {column} = ?{}", values.len()));
            }
        }
        let most = i64::try_from(wanted.limit).ok().filter(|limit| *limit > 0).unwrap_or(i64::MAX);
        // Each half has its own limit, so that a database reads no more of a long session.
        let half = format!("WHERE {chosen} ORDER BY id LIMIT {}", most.saturating_add(wanted.skip));
        let select = format!(
            "SELECT * FROM (SELECT {SHARED}, {OF_CALLS}, 'call' AS kind, '[]' AS found FROM tool_executions {half}) AS calls \
             UNION ALL SELECT * FROM (SELECT {SHARED}, input, CAST(NULL AS boolean), NULL, NULL, FALSE, NULL, NULL, NULL, \
             kind, found FROM session_events {half}) AS others ORDER BY id LIMIT {most} OFFSET {}",
            wanted.skip
        );
        self.rows(Access::Read, &select, values).await?.into_iter().map(event).collect()
    }

    /// Deletes events and state older than this, and the arguments of expired approvals, after all recorded events
    /// are written.
    pub async fn delete_older(&self, older_than: Duration) -> Result<()> {
        let _ = self.recorder.flush().await;
        let age = millis(older_than);
        self.ask(Access::Erase, move |sql| forget(sql, age)).await
    }
}

/// Events per read, which limits the size of a database's answer.
const PAGE: usize = 1_000;

/// All events of a query, whatever its limit.
pub async fn every_event(state: &StateStore, mut wanted: EventQuery) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    wanted.limit = PAGE;
    loop {
        let page = state.events(&wanted).await?;
        let is_last = page.len() < PAGE;
        wanted.after = page.last().map_or(wanted.after, |event| event.id);
        events.extend(page);
        if is_last {
            return Ok(events);
        }
    }
}

/// Deletes rows older than this many milliseconds, and rows that have expired.
fn forget(sql: &mut dyn Sql, age: i64) -> Result<()> {
    erase_expired(sql)?;
    let clock = format!(
        "UPDATE tool_state SET clock = clock + CASE WHEN NOW_MS < seen THEN 0 WHEN NOW_MS - seen > {STEP} THEN {STEP} \
         ELSE NOW_MS - seen END, seen = NOW_MS WHERE one = 1 RETURNING clock"
    );
    let clock = sql.row(&clock, &[])?.map_or(0, |mut row| row.int());
    forget_sums(sql, clock.saturating_sub(age))?;
    let before = values![clock.saturating_sub(age)];
    for table in ["tool_executions", "session_events", "session_docs", "session_contexts"] {
        sql.rows(&format!("DELETE FROM {table} WHERE at < ?1"), &before)?;
    }
    let keys = "DELETE FROM tool_idempotency_keys WHERE changed_at < ?1 AND (status <> 'running' OR lease_until < NOW_MS)";
    sql.rows(keys, &before)?;
    sql.rows("DELETE FROM tool_approvals WHERE asked_at < ?1 AND until < NOW_MS", &before)?;
    let unused = "DELETE FROM approval_definitions WHERE bound NOT IN (SELECT bound FROM tool_approvals)";
    sql.rows(unused, &[])?;
    sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Claim;
    use rusqlite::types::Value;

    #[tokio::test]
    async fn a_clock_that_jumps_ages_keys_by_a_day_and_one_that_is_behind_makes_no_old_ones() {
        let state = StateStore::in_memory();
        let rows =
            async |sql: &str, values: Vec<Value>| state.rows(Access::Write, sql, values).await.unwrap();
        // To let days go by, the test moves the time at which the database was last seen.
        let later = async |days: i64| {
            rows("UPDATE tool_state SET seen = NOW_MS - ?1", values![days * STEP].to_vec()).await;
            state.delete_older(Duration::from_millis(30 * STEP.unsigned_abs())).await.unwrap();
        };
        let count = async || rows("SELECT count(*) FROM tool_idempotency_keys", Vec::new()).await[0].int();
        let op = "op".into();
        let fingerprint = "f".into();
        let owner = "o".into();
        let claim = Claim { caller: "".into(), key: "k".into(), op, fingerprint, owner };
        state.claim(&claim, Duration::from_millis(1)).await.unwrap();
        rows("UPDATE tool_idempotency_keys SET status = 'unknown'", Vec::new()).await;
        later(40).await;
        later(-40).await;
        assert_eq!(count().await, 1);
        for _ in 1..=28 {
            later(1).await;
        }
        assert_eq!(count().await, 1);
        for _ in 29..=31 {
            later(1).await;
        }
        assert_eq!(count().await, 0);
    }
}
