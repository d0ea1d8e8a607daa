//! Events in two tables: calls of tools, and all others. Both take their numbers from one counter, which the
//! transaction that writes them increments, so that a reader of events after a number misses none.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, named_params, params};
use serde::de::DeserializeOwned;

use crate::state::{Event, EventKind, EventQuery, SessionSummary};
use crate::tool::Effect;

/// Most events that are kept in memory, where there is no file.
const NEWEST: i64 = 10_000;

/// Writes events, and returns the last number.
pub(super) fn write(db: &Connection, events: &[Event]) -> rusqlite::Result<i64> {
    let count = events.len() as i64;
    let mut counter =
        db.prepare_cached("UPDATE tool_event_counter SET last = last + ?1 WHERE one = 1 RETURNING last")?;
    let last: i64 = counter.query_row([count], |row| row.get(0))?;
    for (id, event) in (last - count + 1..).zip(events) {
        match event.kind {
            EventKind::Call => write_call(db, id, event)?,
            _ => write_other(db, id, event)?,
        }
    }
    Ok(last)
}

fn write_call(db: &Connection, id: i64, event: &Event) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO tool_executions (id, at, trace_id, caller, session, function, op, tool, arguments, outcome, error, \
         validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, registry_version, doc_version) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?;
    insert.execute(params![
        id,
        event.at,
        event.trace_id,
        event.caller,
        event.session,
        event.function,
        event.op,
        event.tool,
        event.input.to_string(),
        event.outcome,
        event.error,
        event.validated,
        event.no_schema_mode,
        event.effect.map(Effect::as_str),
        event.dry_run,
        event.latency_us,
        event.detail.to_string(),
        event.profile,
        event.registry_version,
        event.doc_version,
    ])?;
    Ok(())
}

fn write_other(db: &Connection, id: i64, event: &Event) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO session_events (id, at, trace_id, caller, session, kind, function, op, tool, input, found, outcome, \
         error, latency_us, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    insert.execute(params![
        id,
        event.at,
        event.trace_id,
        event.caller,
        event.session,
        event.kind.as_str(),
        event.function,
        event.op,
        event.tool,
        event.input.to_string(),
        serde_json::to_string(&event.found).unwrap_or_default(),
        event.outcome,
        event.error,
        event.latency_us,
        event.detail.to_string(),
    ])?;
    Ok(())
}

/// Deletes all but the newest.
pub(super) fn keep_newest(db: &Connection, last: i64) -> rusqlite::Result<()> {
    for table in ["tool_executions", "session_events"] {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE id <= ?1"))?.execute([last - NEWEST])?;
    }
    Ok(())
}

/// Reads events, in the wanted order.
pub(super) fn read(db: &Connection, wanted: &EventQuery) -> rusqlite::Result<Vec<Event>> {
    // A separate statement for each filter, so that the index is used.
    let of_session = if wanted.session.is_some() { "session = :session" } else { ":session IS NULL" };
    let order = wanted.order();
    let chosen = format!(
        "id > :after AND {of_session} AND (:caller IS NULL OR caller = :caller) AND (:at IS NULL OR at = :at)"
    );
    let mut select = db.prepare_cached(&format!(
        "SELECT id, at, trace_id, caller, session, 'call' AS kind, function, op, tool, arguments AS input, '[]' AS found, \
         outcome, error, validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, registry_version, \
         doc_version FROM tool_executions WHERE {chosen} \
         UNION ALL \
         SELECT id, at, trace_id, caller, session, kind, function, op, tool, input, found, \
         outcome, error, NULL, NULL, NULL, 0, latency_us, detail, NULL, NULL, NULL FROM session_events WHERE {chosen} \
         ORDER BY id {order} LIMIT :limit"
    ))?;
    let values = named_params! {
        ":after": wanted.after,
        ":session": wanted.session,
        ":caller": wanted.caller,
        ":at": wanted.at,
        ":limit": wanted.rows(),
    };
    select.query_map(values, event)?.collect()
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let kind: String = row.get("kind")?;
    let effect: Option<String> = row.get("effect")?;
    Ok(Event {
        id: row.get("id")?,
        at: row.get("at")?,
        trace_id: row.get("trace_id")?,
        caller: row.get("caller")?,
        session: row.get("session")?,
        kind: kind.parse().unwrap_or_default(),
        function: row.get("function")?,
        op: row.get("op")?,
        tool: row.get("tool")?,
        input: json(row, "input")?,
        found: json(row, "found")?,
        outcome: row.get("outcome")?,
        error: row.get("error")?,
        profile: row.get("profile")?,
        registry_version: row.get("registry_version")?,
        doc_version: row.get("doc_version")?,
        validated: row.get("validated")?,
        no_schema_mode: row.get("no_schema_mode")?,
        effect: effect.as_deref().and_then(Effect::parse),
        dry_run: row.get("dry_run")?,
        latency_us: row.get("latency_us")?,
        detail: json(row, "detail")?,
    })
}

/// JSON in a column of text.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| FromSqlError::other(error).into())
}

/// The sessions with the latest events.
pub(super) fn visits(db: &Connection, limit: usize) -> rusqlite::Result<Vec<SessionSummary>> {
    let mut select = db.prepare_cached(
        "SELECT caller, session, min(at), max(at), count(*), sum(is_call), sum(is_call AND outcome <> 'ok') FROM ( \
         SELECT caller, session, at, 1 AS is_call, outcome FROM tool_executions WHERE session IS NOT NULL \
         UNION ALL \
         SELECT caller, session, at, 0, outcome FROM session_events WHERE session IS NOT NULL) \
         GROUP BY caller, session ORDER BY max(at) DESC, session LIMIT ?1",
    )?;
    let visit = |row: &Row<'_>| {
        Ok(SessionSummary {
            caller: row.get(0)?,
            session: row.get(1)?,
            since: row.get(2)?,
            until: row.get(3)?,
            events: row.get::<_, i64>(4)?.unsigned_abs(),
            calls: row.get::<_, i64>(5)?.unsigned_abs(),
            failed: row.get::<_, i64>(6)?.unsigned_abs(),
        })
    };
    select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], visit)?.collect()
}

/// Most milliseconds by which ages grow between two clean-ups: a clock that is wrong once ages nothing.
const STEP: i64 = 86_400_000;

/// Deletes rows older than this, and rows that do not count any more.
pub(super) fn forget(db: &Connection, age: i64, now: i64) -> rusqlite::Result<()> {
    let clock: i64 = db.query_row(
        "UPDATE tool_state SET clock = clock + min(max(?1 - seen, 0), ?2), seen = ?1 WHERE one = 1 RETURNING clock",
        [now, STEP],
        |row| row.get(0),
    )?;
    let before = clock.saturating_sub(age);
    for table in ["tool_executions", "session_events", "session_docs", "session_contexts"] {
        db.execute(&format!("DELETE FROM {table} WHERE at < ?1"), [before])?;
    }
    db.execute(
        "DELETE FROM tool_idempotency_keys WHERE changed_at < ?1 AND (status <> 'running' OR lease_until < ?2)",
        [before, now],
    )?;
    db.execute("DELETE FROM tool_approvals WHERE asked_at < ?1 AND until < ?2", [before, now])?;
    db.execute("DELETE FROM tool_results WHERE until < ?1", [now])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{claims, open::DatabasePath};
    use super::*;
    use crate::state::Claim;

    #[test]
    fn a_clock_that_jumps_ages_keys_by_a_day_and_one_that_is_behind_makes_no_old_ones() {
        let db = DatabasePath::Memory.open().unwrap();
        let (start, month) = (crate::state::now(), 30 * STEP);
        let claim = |key: &str, now: i64| {
            let (op, fingerprint, owner) = ("op".into(), "f".into(), key.into());
            let claim = Claim { caller: Arc::from(""), key: key.into(), op, fingerprint, owner };
            claims::claim(&db, &claim, 1, now).unwrap()
        };
        let count = || {
            db.query_row("SELECT count(*) FROM tool_idempotency_keys", [], |row| row.get::<_, i64>(0))
                .unwrap()
        };
        claim("before", start);
        // The clock of a machine that starts in 1970.
        claim("behind", 0);
        forget(&db, month, start + 40 * STEP).unwrap();
        forget(&db, month, start).unwrap();
        assert_eq!(count(), 2);
        (1..=28).for_each(|day| forget(&db, month, start + day * STEP).unwrap());
        assert_eq!(count(), 2);
        (29..=31).for_each(|day| forget(&db, month, start + day * STEP).unwrap());
        assert_eq!(count(), 0);
    }
}
