//! Data of sessions, and stored results.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::events::json;
use crate::state::{Session, StoredResult};

pub(super) fn give(
    db: &Connection,
    session: &Session,
    op: &str,
    version: &str,
    now: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO session_docs (caller, session, op, doc_version, at) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT DO UPDATE SET doc_version = excluded.doc_version, at = excluded.at",
    )?
    .execute(params![session.caller, session.id, op, version, now])?;
    Ok(())
}

pub(super) fn given(db: &Connection, session: &Session, op: &str) -> rusqlite::Result<Option<String>> {
    let mut select = db.prepare_cached(
        "SELECT doc_version FROM session_docs WHERE caller = ?1 AND session = ?2 AND op = ?3",
    )?;
    select.query_row(params![session.caller, session.id, op], |row| row.get(0)).optional()
}

pub(super) fn context(db: &Connection, session: &Session) -> rusqlite::Result<Option<Value>> {
    let mut select =
        db.prepare_cached("SELECT context FROM session_contexts WHERE caller = ?1 AND session = ?2")?;
    select.query_row(params![session.caller, session.id], |row| json(row, "context")).optional()
}

pub(super) fn change_context(
    db: &Connection,
    session: &Session,
    context: &Value,
    now: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO session_contexts (caller, session, context, at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO UPDATE SET context = excluded.context, at = excluded.at",
    )?
    .execute(params![session.caller, session.id, context.to_string(), now])?;
    Ok(())
}

pub(super) fn keep(db: &Connection, result: &StoredResult, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM tool_results WHERE until < ?1")?.execute([now])?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![result.id, result.caller, result.text, result.until])?;
    Ok(())
}

pub(super) fn kept(
    db: &Connection,
    caller: &str,
    id: &str,
    now: i64,
) -> rusqlite::Result<Option<StoredResult>> {
    let mut select = db.prepare_cached(
        "SELECT id, caller, text, until FROM tool_results WHERE caller = ?1 AND id = ?2 AND until > ?3",
    )?;
    let kept = |row: &rusqlite::Row<'_>| {
        Ok(StoredResult { id: row.get(0)?, caller: row.get(1)?, text: row.get(2)?, until: row.get(3)? })
    };
    select.query_row(params![caller, id, now], kept).optional()
}
