//! Events as rows. There are two tables: one for tool calls, and one for all other events. Both take their numbers from the same
//! counter. The transaction that writes the events increments the counter, so that a reader who asks for the events after a
//! number misses no event.

use rusqlite::types::Value;

use super::database::{Result, Row, Sql, insert, values};
use super::event::{Event, EventKind};
use super::sums::add_up;
use toolcrib_definition::Effect;

/// Most events that are kept if the state is in memory only.
const NEWEST: i64 = 10_000;

/// Columns of both tables of events.
pub(super) const SHARED: &str =
    "id, at, trace_id, caller, session, function, op, tool, outcome, error, latency_us, tokens, detail";

/// The other columns of `tool_executions`.
pub(super) const OF_CALLS: &str =
    "arguments, validated, no_schema_mode, effect, dry_run, profile, registry_version, doc_version";

/// The other columns of `session_events`.
const OF_OTHERS: &str = "input, kind, found";

/// Writes events.
pub(super) fn write(sql: &mut dyn Sql, events: &[Event], is_volatile: bool) -> Result<()> {
    let count = events.len() as i64;
    let counter = "UPDATE tool_event_counter SET last = last + ?1 WHERE one = 1 RETURNING last";
    let last = sql.row(counter, &values![count])?.map_or(0, |mut row| row.int());
    for (table, own, is_calls) in [("tool_executions", OF_CALLS, true), ("session_events", OF_OTHERS, false)]
    {
        let numbered = (last - count + 1..).zip(events);
        let numbered = numbered.filter(|(_, event)| (event.kind == EventKind::Call) == is_calls);
        let rows: Vec<Vec<Value>> = numbered.map(|(id, event)| row(id, event)).collect();
        insert(sql, &format!("{table} ({SHARED}, {own})"), rows, "")?;
        if is_volatile && !events.is_empty() {
            sql.rows(&format!("DELETE FROM {table} WHERE id <= ?1"), &values![last - NEWEST])?;
        }
    }
    if is_volatile {
        sql.rows("DELETE FROM session_sums WHERE last <= ?1", &values![last - NEWEST])?;
    }
    add_up(sql, last - count + 1, events)
}

/// The columns of an event, in the order of its table.
pub(super) fn row(id: i64, event: &Event) -> Vec<Value> {
    let mut row = values![
        id,
        event.at,
        event.trace_id,
        event.caller,
        event.session,
        event.function,
        event.op,
        event.tool,
        event.outcome,
        event.error,
        event.latency_us,
        event.tokens,
        event.detail.to_string(),
        event.input.to_string(),
    ]
    .to_vec();
    row.extend(match event.kind {
        EventKind::Call => values![
            event.validated,
            event.no_schema_mode,
            event.effect.map(|effect| effect.as_str().to_string()),
            event.dry_run,
            event.profile,
            event.registry_version,
            event.doc_version,
        ]
        .to_vec(),
        kind => values![*kind.as_str(), serde_json::to_string(&event.found).unwrap_or_default()].to_vec(),
    });
    row
}

pub(super) fn event(mut row: Row) -> Result<Event> {
    Ok(Event {
        id: row.int(),
        at: row.int(),
        trace_id: row.string(),
        caller: row.string(),
        session: row.text(),
        function: row.string(),
        op: row.text(),
        tool: row.text(),
        outcome: row.string(),
        error: row.text(),
        latency_us: row.int(),
        tokens: row.int(),
        detail: row.json()?,
        input: row.json()?,
        validated: row.number().map(|is| is != 0),
        no_schema_mode: row.text(),
        effect: row.text().as_deref().and_then(Effect::parse),
        dry_run: row.int() != 0,
        profile: row.text(),
        registry_version: row.text(),
        doc_version: row.text(),
        kind: row.string().parse().unwrap_or_default(),
        found: row.json()?,
    })
}
