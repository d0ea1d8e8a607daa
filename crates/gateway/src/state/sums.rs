//! Sums over events: the sessions, and the usage by day. They are written in the transaction of the events, so that pages that
//! read them answer at once however many events there are.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use super::callers::Callers;
use super::database::{Access, Result, Row, Sql, insert, values};
use super::event::{Event, EventKind};
use super::store::StateStore;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A session with events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The caller; empty where everybody may come in.
    pub caller: String,
    /// Name of the session, chosen by the caller.
    pub session: String,
    /// Time of its first event, in milliseconds of Unix time.
    pub since: i64,
    /// Time of its last event.
    pub until: i64,
    /// Number of events.
    pub events: u64,
    /// Number of calls of tools.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
}

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

/// Outcome of a search that found nothing.
const NO_MATCH: &str = "NO_MATCH";

/// Day, caller, kind, tool and outcome.
type UsageKey<'e> = (i64, &'e str, &'e str, &'e str, &'e str);

/// Adds events to the sums. The number of the first event is `first`.
pub(super) fn add_up(sql: &mut dyn Sql, first: i64, events: &[Event]) -> Result<()> {
    // In order, so that two writers never wait for each other.
    let mut sessions: BTreeMap<(&str, &str), (SessionSummary, i64)> = BTreeMap::new();
    let mut usage: BTreeMap<UsageKey<'_>, (i64, i64)> = BTreeMap::new();
    for (id, event) in (first..).zip(events) {
        let is_call = event.kind == EventKind::Call;
        if let Some(session) = &event.session {
            let (sum, last) = sessions.entry((&event.caller, session)).or_insert_with(|| {
                (SessionSummary { since: event.at, until: event.at, ..SessionSummary::default() }, id)
            });
            (sum.since, sum.until, *last) = (sum.since.min(event.at), sum.until.max(event.at), id);
            sum.events += 1;
            sum.calls += u64::from(is_call);
            sum.failed += u64::from(is_call && event.outcome != "ok");
        }
        let outcome = match event.kind {
            EventKind::Search if event.outcome == "ok" && event.found.is_empty() => NO_MATCH,
            EventKind::Search | EventKind::Call => &event.outcome,
            _ => continue,
        };
        let tool = event.tool.as_deref().unwrap_or_default();
        let key = (event.at.div_euclid(DAY), &*event.caller, event.kind.as_str(), tool, outcome);
        let sum = usage.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(event.latency_us));
    }
    let sessions = sessions.into_iter().map(|((caller, session), (sum, last))| {
        let counts = [sum.events, sum.calls, sum.failed].map(|count| Value::from(count as i64));
        [&values![caller, session, sum.since, sum.until, last], &counts[..]].concat()
    });
    let on_session = " ON CONFLICT (caller, session) DO UPDATE SET events = session_sums.events + excluded.events, \
         calls = session_sums.calls + excluded.calls, failed = session_sums.failed + excluded.failed, \
         last = excluded.last, \
         until = CASE WHEN excluded.until > session_sums.until THEN excluded.until ELSE session_sums.until END";
    let columns = "session_sums (caller, session, since, until, last, events, calls, failed)";
    insert(sql, columns, sessions.collect(), on_session)?;
    let usage = usage.into_iter().map(|((day, caller, kind, tool, outcome), (events, us))| {
        values![day, *caller, *kind, *tool, *outcome, events, us].to_vec()
    });
    let on_usage = " ON CONFLICT (day, caller, kind, tool, outcome) DO UPDATE SET events = usage_sums.events + excluded.events, \
         latency_us = usage_sums.latency_us + excluded.latency_us";
    let columns = "usage_sums (day, caller, kind, tool, outcome, events, latency_us)";
    insert(sql, columns, usage.collect(), on_usage)
}

/// Deletes the sums of events before a time.
pub(super) fn forget_sums(sql: &mut dyn Sql, before: i64) -> Result<()> {
    sql.rows("DELETE FROM session_sums WHERE until < ?1", &values![before])?;
    sql.rows("DELETE FROM usage_sums WHERE day < ?1", &values![before.div_euclid(DAY)]).map(drop)
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
