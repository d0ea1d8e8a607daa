//! Sums over events, written in the same transaction, so that pages answer at once however many events there are: the
//! sessions, and the usage by day.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use super::database::{Result, Sql, insert, values};
use super::event::{Event, EventKind, is_failure};

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
            sum.failed += u64::from(is_call && is_failure(&event.outcome));
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
