//! Calls that wait for a person.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::events::json;
use crate::state::{Approval, ApprovalStatus};

const COLUMNS: &str = "id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason";

/// Puts a call in the queue, unless it is there.
pub(super) fn ask(db: &Connection, request: &Approval, now: i64) -> rusqlite::Result<Approval> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM tool_approvals WHERE caller = ?1 AND fingerprint = ?2 AND status <> 'used' AND until > ?3 \
         ORDER BY asked_at DESC, id LIMIT 1"
    ))?;
    if let Some(there) =
        select.query_row(params![request.caller, request.fingerprint, now], approval).optional()?
    {
        return Ok(there);
    }
    let mut insert = db.prepare_cached(&format!(
        "INSERT INTO tool_approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING"
    ))?;
    insert.execute(params![
        request.id,
        request.caller,
        request.session,
        request.op,
        request.arguments.to_string(),
        request.fingerprint,
        request.asked_at,
        request.until,
        request.status.as_str(),
        request.reason,
    ])?;
    Ok(request.clone())
}

/// Uses an approval up.
pub(super) fn take(db: &Connection, id: &str, now: i64) -> rusqlite::Result<bool> {
    let mut update = db.prepare_cached(
        "UPDATE tool_approvals SET status = 'used' WHERE id = ?1 AND status = 'approved' AND until > ?2",
    )?;
    Ok(update.execute(params![id, now])? == 1)
}

/// Says yes or no.
pub(super) fn decide(
    db: &Connection,
    id: &str,
    yes: bool,
    reason: Option<&str>,
    now: i64,
) -> rusqlite::Result<Option<Approval>> {
    let status = if yes { ApprovalStatus::Approved } else { ApprovalStatus::Denied };
    db.prepare_cached(
        "UPDATE tool_approvals SET status = ?2, reason = ?3 WHERE id = ?1 AND status = 'waiting' AND until > ?4",
    )?
    .execute(params![id, status.as_str(), reason, now])?;
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM tool_approvals WHERE id = ?1"))?;
    select.query_row([id], approval).optional()
}

/// Those that wait, or all.
pub(super) fn list(db: &Connection, waiting_only: bool, now: i64) -> rusqlite::Result<Vec<Approval>> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM tool_approvals WHERE NOT ?1 OR (status = 'waiting' AND until > ?2) ORDER BY asked_at, id"
    ))?;
    select.query_map(params![waiting_only, now], approval)?.collect()
}

fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let status: String = row.get("status")?;
    Ok(Approval {
        id: row.get("id")?,
        caller: row.get("caller")?,
        session: row.get("session")?,
        op: row.get("op")?,
        arguments: json(row, "arguments")?,
        fingerprint: row.get("fingerprint")?,
        asked_at: row.get("asked_at")?,
        until: row.get("until")?,
        // A word that we do not know is no yes.
        status: ApprovalStatus::parse(&status).unwrap_or(ApprovalStatus::Denied),
        reason: row.get("reason")?,
    })
}
