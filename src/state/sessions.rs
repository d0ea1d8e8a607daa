//! Data of sessions, and stored results.

use serde_json::Value;

use super::database::{Row, Sql, values};
use super::{Session, StateError, StoredResult};

const OF_SESSION: &str = "caller = ?1 AND session = ?2";

pub(super) fn give_page(
    sql: &mut dyn Sql,
    session: &Session,
    op: &str,
    version: &str,
) -> Result<(), StateError> {
    let insert = "INSERT INTO session_docs (caller, session, op, doc_version, at) VALUES (?1, ?2, ?3, ?4, NOW_MS) \
                  ON CONFLICT (caller, session, op) DO UPDATE SET doc_version = excluded.doc_version, at = excluded.at";
    sql.rows(insert, values![*session.caller, *session.id, *op, *version]).map(drop)
}

pub(super) fn given_page(
    sql: &mut dyn Sql,
    session: &Session,
    op: &str,
) -> Result<Option<String>, StateError> {
    let select = format!("SELECT doc_version FROM session_docs WHERE {OF_SESSION} AND op = ?3");
    let row = sql.row(&select, values![*session.caller, *session.id, *op])?;
    Ok(row.and_then(|mut row| row.text()))
}

pub(super) fn context(sql: &mut dyn Sql, session: &Session) -> Result<Option<Value>, StateError> {
    let select = format!("SELECT context FROM session_contexts WHERE {OF_SESSION}");
    sql.row(&select, values![*session.caller, *session.id])?.map(|mut row| row.json()).transpose()
}

pub(super) fn set_context(sql: &mut dyn Sql, session: &Session, context: &Value) -> Result<(), StateError> {
    let insert = "INSERT INTO session_contexts (caller, session, context, at) VALUES (?1, ?2, ?3, NOW_MS) \
                  ON CONFLICT (caller, session) DO UPDATE SET context = excluded.context, at = excluded.at";
    sql.rows(insert, values![*session.caller, *session.id, context.to_string()]).map(drop)
}

pub(super) fn store_result(sql: &mut dyn Sql, result: StoredResult) -> Result<(), StateError> {
    sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[])?;
    let insert = "INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (id) DO UPDATE SET caller = excluded.caller, text = excluded.text, until = excluded.until";
    let StoredResult { id, caller, text, until } = result;
    sql.rows(insert, values![id, caller, text.into_bytes(), until]).map(drop)
}

pub(super) fn stored_result(
    sql: &mut dyn Sql,
    caller: &str,
    id: &str,
) -> Result<Option<StoredResult>, StateError> {
    let select =
        "SELECT id, caller, text, until FROM tool_results WHERE caller = ?1 AND id = ?2 AND until > NOW_MS";
    let result = |mut row: Row| StoredResult {
        id: row.string(),
        caller: row.string(),
        text: row.string(),
        until: row.int(),
    };
    Ok(sql.row(select, values![*caller, *id])?.map(result))
}
