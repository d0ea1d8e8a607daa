//! Events in two tables: calls of tools, and all others. Both take their numbers from one counter, which the
//! transaction that writes them increments, so that a reader of events after a number misses none.

use rusqlite::types::Value;

use super::database::{Row, Sql, values};
use super::{Event, EventKind, EventQuery, SessionSummary, StateError};
use crate::tool::Effect;

/// Most events that are kept in memory, where there is no file.
const NEWEST: i64 = 10_000;

/// Bytes that must find room before writing counts as possible again: a row or two would fit into a page that is left.
const PROBED: usize = 64 << 10;

/// Most rows of one statement.
const ROWS: usize = 16;

const CALLS: (&str, &str) = (
    "tool_executions",
    "id, at, trace_id, caller, session, function, op, tool, arguments, outcome, error, validated, no_schema_mode, \
     effect, dry_run, latency_us, detail, profile, registry_version, doc_version",
);

const OTHERS: (&str, &str) = (
    "session_events",
    "id, at, trace_id, caller, session, kind, function, op, tool, input, found, outcome, error, latency_us, detail",
);

/// Writes events.
pub(super) fn write(sql: &mut dyn Sql, events: &[Event], is_volatile: bool) -> Result<(), StateError> {
    let count = events.len() as i64;
    let counter = "UPDATE tool_event_counter SET last = last + ?1 WHERE one = 1 RETURNING last";
    let last = sql.row(counter, values![count])?.map_or(0, |mut row| row.int());
    let numbered = (last - count + 1..).zip(events);
    let (calls, others): (Vec<_>, Vec<_>) = numbered.partition(|(_, event)| event.kind == EventKind::Call);
    for (table, events, row) in [
        (CALLS, calls, call as fn(i64, &Event) -> Vec<Value>),
        (OTHERS, others, other as fn(i64, &Event) -> Vec<Value>),
    ] {
        for some in events.chunks(ROWS) {
            insert(sql, table, some.iter().map(|(id, event)| row(*id, event)))?;
        }
    }
    if is_volatile && !events.is_empty() {
        for table in ["tool_executions", "session_events"] {
            sql.rows(&format!("DELETE FROM {table} WHERE id <= ?1"), values![last - NEWEST])?;
        }
    }
    Ok(())
}

/// Tests whether there is room for what a large call writes, and leaves nothing behind.
pub(super) fn probe(sql: &mut dyn Sql) -> Result<(), StateError> {
    let row = values!["probe", "", vec![b' '; PROBED], 0_i64];
    sql.rows("INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4)", row)?;
    sql.rows("DELETE FROM tool_results WHERE id = ?1", values!["probe"]).map(drop)
}

/// Writes several rows at once, so that a database far away is not waited for at each.
fn insert(
    sql: &mut dyn Sql,
    (table, columns): (&str, &str),
    rows: impl Iterator<Item = Vec<Value>>,
) -> Result<(), StateError> {
    let (mut all, mut places) = (Vec::new(), Vec::new());
    for row in rows {
        let own: Vec<String> =
            (all.len() + 1..=all.len() + row.len()).map(|place| format!("?{place}")).collect();
        places.push(format!("({})", own.join(", ")));
        all.extend(row);
    }
    let insert = format!("INSERT INTO {table} ({columns}) VALUES {}", places.join(", "));
    sql.rows(&insert, &all).map(drop)
}

fn call(id: i64, event: &Event) -> Vec<Value> {
    values![
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
        event.effect.map(|effect| effect.as_str().to_string()),
        event.dry_run,
        event.latency_us,
        event.detail.to_string(),
        event.profile,
        event.registry_version,
        event.doc_version,
    ]
    .to_vec()
}

fn other(id: i64, event: &Event) -> Vec<Value> {
    values![
        id,
        event.at,
        event.trace_id,
        event.caller,
        event.session,
        *event.kind.as_str(),
        event.function,
        event.op,
        event.tool,
        event.input.to_string(),
        serde_json::to_string(&event.found).unwrap_or_default(),
        event.outcome,
        event.error,
        event.latency_us,
        event.detail.to_string(),
    ]
    .to_vec()
}

/// Reads events, in the wanted order.
pub(super) fn read(sql: &mut dyn Sql, wanted: &EventQuery) -> Result<Vec<Event>, StateError> {
    let (mut chosen, mut values) = ("id > ?1".to_string(), values![wanted.after].to_vec());
    for (column, text) in [("session", &wanted.session), ("caller", &wanted.caller)] {
        if let Some(text) = text {
            values.push(text.clone().into());
            chosen.push_str(&format!(" AND {column} = ?{}", values.len()));
        }
    }
    let order = if wanted.newest_first { "DESC" } else { "ASC" };
    let most = i64::try_from(wanted.limit).ok().filter(|limit| *limit > 0).unwrap_or(i64::MAX);
    let select = format!(
        "SELECT id, at, trace_id, caller, session, 'call' AS kind, function, op, tool, arguments AS input, '[]' AS found, \
         outcome, error, validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, registry_version, \
         doc_version FROM tool_executions WHERE {chosen} \
         UNION ALL \
         SELECT id, at, trace_id, caller, session, kind, function, op, tool, input, found, \
         outcome, error, CAST(NULL AS boolean), NULL, NULL, FALSE, latency_us, detail, NULL, NULL, NULL \
         FROM session_events WHERE {chosen} ORDER BY id {order} LIMIT {most} OFFSET {}",
        wanted.skip
    );
    sql.rows(&select, &values)?.into_iter().map(event).collect()
}

fn event(mut row: Row) -> Result<Event, StateError> {
    Ok(Event {
        id: row.int(),
        at: row.int(),
        trace_id: row.string(),
        caller: row.string(),
        session: row.text(),
        kind: row.string().parse().unwrap_or_default(),
        function: row.string(),
        op: row.text(),
        tool: row.text(),
        input: row.json()?,
        found: row.json()?,
        outcome: row.string(),
        error: row.text(),
        validated: row.number().map(|is| is != 0),
        no_schema_mode: row.text(),
        effect: row.text().as_deref().and_then(Effect::parse),
        dry_run: row.int() != 0,
        latency_us: row.int(),
        detail: row.json()?,
        profile: row.text(),
        registry_version: row.text(),
        doc_version: row.text(),
    })
}

/// The sessions with the latest events.
pub(super) fn sessions(sql: &mut dyn Sql, limit: usize) -> Result<Vec<SessionSummary>, StateError> {
    let select = "SELECT caller, session, min(at), max(at), count(*), count(*) FILTER (WHERE is_call), \
                  count(*) FILTER (WHERE is_call AND outcome <> 'ok') FROM ( \
                  SELECT caller, session, at, TRUE AS is_call, outcome FROM tool_executions WHERE session IS NOT NULL \
                  UNION ALL \
                  SELECT caller, session, at, FALSE, outcome FROM session_events WHERE session IS NOT NULL) AS events \
                  GROUP BY caller, session ORDER BY max(at) DESC, session LIMIT ?1";
    let session = |mut row: Row| SessionSummary {
        caller: row.string(),
        session: row.string(),
        since: row.int(),
        until: row.int(),
        events: row.int().unsigned_abs(),
        calls: row.int().unsigned_abs(),
        failed: row.int().unsigned_abs(),
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(sql.rows(select, values![limit])?.into_iter().map(session).collect())
}

/// Most milliseconds by which ages grow between two clean-ups: a clock that is wrong once ages nothing.
const STEP: i64 = 86_400_000;

/// Deletes rows older than this many milliseconds, and rows that do not count any more.
pub(super) fn forget(sql: &mut dyn Sql, age: i64) -> Result<(), StateError> {
    let clock = format!(
        "UPDATE tool_state SET clock = clock + CASE WHEN NOW_MS < seen THEN 0 WHEN NOW_MS - seen > {STEP} THEN {STEP} \
         ELSE NOW_MS - seen END, seen = NOW_MS WHERE one = 1 RETURNING clock"
    );
    let clock = sql.row(&clock, &[])?.map_or(0, |mut row| row.int());
    let before = clock.saturating_sub(age);
    for table in ["tool_executions", "session_events", "session_docs", "session_contexts"] {
        sql.rows(&format!("DELETE FROM {table} WHERE at < ?1"), values![before])?;
    }
    let keys = "DELETE FROM tool_idempotency_keys WHERE changed_at < ?1 AND (status <> 'running' OR lease_until < NOW_MS)";
    sql.rows(keys, values![before])?;
    sql.rows("DELETE FROM tool_approvals WHERE asked_at < ?1 AND until < NOW_MS", values![before])?;
    sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::database::{Access, Database};
    use super::super::sqlite::Sqlite;
    use super::super::{Claim, claims};
    use super::*;

    #[test]
    fn a_clock_that_jumps_ages_keys_by_a_day_and_one_that_is_behind_makes_no_old_ones() {
        let database = Sqlite::in_memory();
        let run = |doing: &dyn Fn(&mut dyn Sql) -> Result<i64, StateError>| {
            let mut answer = 0;
            database.run(Access::Write, &mut |sql| doing(sql).map(|value| answer = value)).unwrap();
            answer
        };
        // Days go by in that the database has last been seen that much earlier.
        let later = |days: i64| {
            run(&|sql| {
                sql.rows("UPDATE tool_state SET seen = NOW_MS - ?1", values![days * STEP])?;
                forget(sql, 30 * STEP).map(|()| 0)
            });
        };
        let count = || {
            let select = "SELECT count(*) FROM tool_idempotency_keys";
            run(&|sql| Ok(sql.row(select, &[])?.map_or(0, |mut row| row.int())))
        };
        let (op, fingerprint, owner) = ("op".into(), "f".into(), "o".into());
        let claim = Claim { caller: "".into(), key: "k".into(), op, fingerprint, owner };
        run(&|sql| claims::claim(sql, &claim, 1).map(|_| 0));
        run(&|sql| sql.rows("UPDATE tool_idempotency_keys SET status = 'unknown'", &[]).map(|_| 0));
        later(40);
        later(-40);
        assert_eq!(count(), 1);
        (1..=28).for_each(|_| later(1));
        assert_eq!(count(), 1);
        (29..=31).for_each(|_| later(1));
        assert_eq!(count(), 0);
    }
}
