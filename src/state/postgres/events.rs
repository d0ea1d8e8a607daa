//! Events in two tables: calls of tools, and all others. Both take their numbers from one counter, whose row is
//! locked until the events are written, so that a reader of events after a number misses none.

use deadpool_postgres::{Client, Transaction};
use futures_util::future::try_join_all;
use tokio_postgres::{Row, Statement};

use super::{json, plain};
use crate::state::{Event, EventKind, EventQuery, SessionSummary, StateError};
use crate::tool::Effect;

/// Writes events, and returns the last number.
pub(super) async fn write(mut client: Client, events: &[Event], durably: bool) -> Result<i64, StateError> {
    let all = client.transaction().await?;
    let (calls, others) = statements(&all).await?;
    if !durably {
        // The last lines of a trace may be lost in a power failure.
        all.batch_execute("SET LOCAL synchronous_commit = off").await?;
    }
    let count = events.len() as i64;
    let counter = "UPDATE tool_event_counter SET last = last + $1 WHERE one = 1 RETURNING last";
    let last: i64 = all.query_one(counter, &[&count]).await?.get(0);
    // Sent one after the other, without waiting in between.
    let writing = (last - count + 1..).zip(events).map(|(id, event)| {
        let (all, calls, others) = (&all, &calls, &others);
        async move {
            match event.kind {
                EventKind::Call => write_call(all, calls, id, event).await,
                _ => write_other(all, others, id, event).await,
            }
        }
    });
    try_join_all(writing).await?;
    all.commit().await?;
    Ok(last)
}

async fn statements(all: &Transaction<'_>) -> Result<(Statement, Statement), tokio_postgres::Error> {
    let calls = all
        .prepare_cached(
            "INSERT INTO tool_executions (id, at, trace_id, caller, session, function, op, tool, arguments, outcome, \
             error, validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, registry_version, \
             doc_version) VALUES ($1, to_timestamp($2::bigint / 1000.0), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
             $14, $15, $16, $17, $18, $19, $20)",
        )
        .await?;
    let others = all
        .prepare_cached(
            "INSERT INTO session_events (id, at, trace_id, caller, session, kind, function, op, tool, input, found, \
             outcome, error, latency_us, detail) VALUES \
             ($1, to_timestamp($2::bigint / 1000.0), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        )
        .await?;
    Ok((calls, others))
}

fn optional(text: &Option<String>) -> Option<String> {
    text.as_deref().map(|text| plain(text).into_owned())
}

async fn write_call(
    all: &Transaction<'_>,
    insert: &Statement,
    id: i64,
    event: &Event,
) -> Result<u64, tokio_postgres::Error> {
    all.execute(
        insert,
        &[
            &id,
            &event.at,
            &&*plain(&event.trace_id),
            &&*plain(&event.caller),
            &optional(&event.session),
            &&*plain(&event.function),
            &optional(&event.op),
            &optional(&event.tool),
            &event.input.to_string(),
            &&*plain(&event.outcome),
            &optional(&event.error),
            &event.validated,
            &optional(&event.no_schema_mode),
            &event.effect.map(Effect::as_str),
            &event.dry_run,
            &event.latency_us,
            &event.detail.to_string(),
            &optional(&event.profile),
            &event.registry_version,
            &event.doc_version,
        ],
    )
    .await
}

async fn write_other(
    all: &Transaction<'_>,
    insert: &Statement,
    id: i64,
    event: &Event,
) -> Result<u64, tokio_postgres::Error> {
    all.execute(
        insert,
        &[
            &id,
            &event.at,
            &&*plain(&event.trace_id),
            &&*plain(&event.caller),
            &optional(&event.session),
            &event.kind.as_str(),
            &&*plain(&event.function),
            &optional(&event.op),
            &optional(&event.tool),
            &event.input.to_string(),
            &serde_json::to_string(&event.found).unwrap_or_default(),
            &&*plain(&event.outcome),
            &optional(&event.error),
            &event.latency_us,
            &event.detail.to_string(),
        ],
    )
    .await
}

/// Reads events, in the wanted order.
pub(super) async fn read(client: Client, wanted: &EventQuery) -> Result<Vec<Event>, StateError> {
    // A separate statement for each filter, so that the index is used.
    let of_session = if wanted.session.is_some() { "session = $2" } else { "$2::text IS NULL" };
    let order = wanted.order();
    let at = "($5::bigint IS NULL OR at = to_timestamp($5::bigint / 1000.0))";
    let chosen = format!("id > $1 AND {of_session} AND ($3::text IS NULL OR caller = $3) AND {at}");
    let select = client
        .prepare_cached(&format!(
            "SELECT id, (extract(epoch FROM at) * 1000)::bigint AS at, trace_id, caller, session, kind, function, op, tool, \
             input, found, outcome, error, validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, \
             registry_version, doc_version FROM ( \
             (SELECT id, at, trace_id, caller, session, 'call' AS kind, function, op, tool, arguments AS input, \
             '[]' AS found, outcome, error, validated, no_schema_mode, effect, dry_run, latency_us, detail, profile, \
             registry_version, doc_version FROM tool_executions WHERE {chosen} ORDER BY id {order} LIMIT $4) \
             UNION ALL \
             (SELECT id, at, trace_id, caller, session, kind, function, op, tool, input, found, \
             outcome, error, NULL::boolean, NULL, NULL, false, latency_us, detail, NULL, NULL, NULL \
             FROM session_events WHERE {chosen} ORDER BY id {order} LIMIT $4)) AS events ORDER BY id {order} LIMIT $4"
        ))
        .await?;
    let (session, caller) = (wanted.session.as_deref().map(plain), wanted.caller.as_deref().map(plain));
    let rows = client
        .query(&select, &[&wanted.after, &session.as_deref(), &caller.as_deref(), &wanted.rows(), &wanted.at])
        .await?;
    rows.iter().map(event).collect()
}

fn event(row: &Row) -> Result<Event, StateError> {
    let effect: Option<&str> = row.get("effect");
    Ok(Event {
        id: row.get("id"),
        at: row.get("at"),
        trace_id: row.get("trace_id"),
        caller: row.get("caller"),
        session: row.get("session"),
        kind: row.get::<_, &str>("kind").parse().unwrap_or_default(),
        function: row.get("function"),
        op: row.get("op"),
        tool: row.get("tool"),
        input: json(row.get("input"))?,
        found: json(row.get("found"))?,
        outcome: row.get("outcome"),
        error: row.get("error"),
        profile: row.get("profile"),
        registry_version: row.get("registry_version"),
        doc_version: row.get("doc_version"),
        validated: row.get("validated"),
        no_schema_mode: row.get("no_schema_mode"),
        effect: effect.and_then(Effect::parse),
        dry_run: row.get("dry_run"),
        latency_us: row.get("latency_us"),
        detail: json(row.get("detail"))?,
    })
}

/// The sessions with the latest events.
pub(super) async fn visits(client: Client, limit: usize) -> Result<Vec<SessionSummary>, StateError> {
    let select = "SELECT caller, session, (extract(epoch FROM min(at)) * 1000)::bigint AS since, \
                  (extract(epoch FROM max(at)) * 1000)::bigint AS until, count(*) AS events, \
                  count(*) FILTER (WHERE is_call) AS calls, \
                  count(*) FILTER (WHERE is_call AND outcome <> 'ok') AS failed FROM ( \
                  SELECT caller, session, at, true AS is_call, outcome FROM tool_executions WHERE session IS NOT NULL \
                  UNION ALL \
                  SELECT caller, session, at, false, outcome FROM session_events WHERE session IS NOT NULL) AS events \
                  GROUP BY caller, session ORDER BY max(at) DESC, session LIMIT $1";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = client.query(select, &[&limit]).await?;
    let visit = |row: &Row| SessionSummary {
        caller: row.get("caller"),
        session: row.get("session"),
        since: row.get("since"),
        until: row.get("until"),
        events: row.get::<_, i64>("events").unsigned_abs(),
        calls: row.get::<_, i64>("calls").unsigned_abs(),
        failed: row.get::<_, i64>("failed").unsigned_abs(),
    };
    Ok(rows.iter().map(visit).collect())
}

/// Deletes rows older than this many milliseconds, and rows that do not count any more.
pub(super) async fn forget(mut client: Client, age: i64) -> Result<(), StateError> {
    let all = client.transaction().await?;
    // A clock that is wrong once ages nothing.
    let clock = "UPDATE tool_state SET seen = clock_timestamp(), \
                 clock = clock + least(greatest(clock_timestamp() - seen, interval '0'), interval '1 day') WHERE one = 1";
    all.execute(clock, &[]).await?;
    let before = "(SELECT clock FROM tool_state) - $1::double precision * interval '1 millisecond'";
    let age = age as f64;
    for table in ["tool_executions", "session_events", "session_docs", "session_contexts"] {
        all.execute(&format!("DELETE FROM {table} WHERE at < {before}"), &[&age]).await?;
    }
    let keys = format!(
        "DELETE FROM tool_idempotency_keys WHERE changed_at < {before} \
         AND (status <> 'running' OR lease_until < clock_timestamp())"
    );
    all.execute(&keys, &[&age]).await?;
    let approvals =
        format!("DELETE FROM tool_approvals WHERE asked_at < {before} AND until < clock_timestamp()");
    all.execute(&approvals, &[&age]).await?;
    all.execute("DELETE FROM tool_results WHERE until < clock_timestamp()", &[]).await?;
    Ok(all.commit().await?)
}
