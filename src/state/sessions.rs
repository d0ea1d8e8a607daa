//! Data of sessions, stored results, and people who are signed in.

use serde_json::Value;

use super::database::{Row, Sql, values};
use super::{FAILURE_WINDOW_MS, Session, SignIn, StateError, StoredResult};

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

pub(super) fn fail(sql: &mut dyn Sql, session: &Session, fingerprint: &str) -> Result<u32, StateError> {
    let count = format!(
        "INSERT INTO session_failures (caller, session, fingerprint, failures, at) VALUES (?1, ?2, ?3, 1, NOW_MS) \
         ON CONFLICT (caller, session, fingerprint) DO UPDATE SET failures = CASE \
         WHEN session_failures.at < NOW_MS - {FAILURE_WINDOW_MS} THEN 1 ELSE session_failures.failures + 1 END, \
         at = excluded.at RETURNING failures"
    );
    failure_number(sql.row(&count, values![*session.caller, *session.id, *fingerprint])?)
}

pub(super) fn failures(sql: &mut dyn Sql, session: &Session, fingerprint: &str) -> Result<u32, StateError> {
    let select = format!(
        "SELECT failures FROM session_failures WHERE {OF_SESSION} AND fingerprint = ?3 \
         AND at >= NOW_MS - {FAILURE_WINDOW_MS}"
    );
    failure_number(sql.row(&select, values![*session.caller, *session.id, *fingerprint])?)
}

fn failure_number(row: Option<Row>) -> Result<u32, StateError> {
    Ok(row.map_or(0, |mut row| u32::try_from(row.int()).unwrap_or(u32::MAX)))
}

pub(super) fn clear_failures(
    sql: &mut dyn Sql,
    session: &Session,
    beginning: &str,
) -> Result<(), StateError> {
    let delete = format!(
        "DELETE FROM session_failures WHERE {OF_SESSION} AND substr(fingerprint, 1, length(?3)) = ?3"
    );
    sql.rows(&delete, values![*session.caller, *session.id, *beginning]).map(drop)
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

pub(super) fn store_sign_in(sql: &mut dyn Sql, sign_in: &SignIn) -> Result<(), StateError> {
    sql.rows("DELETE FROM sign_ins WHERE until <= NOW_MS", &[])?;
    let insert = "INSERT INTO sign_ins (id, data, until) VALUES (?1, ?2, ?3)";
    sql.rows(insert, values![sign_in.id, sign_in.data, sign_in.until]).map(drop)
}

pub(super) fn sign_in(sql: &mut dyn Sql, id: &str) -> Result<Option<SignIn>, StateError> {
    let select = "SELECT id, data, until FROM sign_ins WHERE id = ?1 AND until > NOW_MS";
    Ok(sql.row(select, values![*id])?.map(signed_in))
}

pub(super) fn take_sign_in(sql: &mut dyn Sql, id: &str) -> Result<Option<SignIn>, StateError> {
    let delete = "DELETE FROM sign_ins WHERE id = ?1 AND until > NOW_MS RETURNING id, data, until";
    Ok(sql.row(delete, values![*id])?.map(signed_in))
}

fn signed_in(mut row: Row) -> SignIn {
    SignIn { id: row.string(), data: row.string(), until: row.int() }
}
