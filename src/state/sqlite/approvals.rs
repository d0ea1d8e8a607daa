//! Calls that wait for a person.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::events::json;
use crate::state::{Approval, ApprovalResponse, ApprovalStatus, random_id};

const COLUMNS: &str =
    "id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason, hidden, bound";

/// Sets the columns of arguments that nobody needs to see any more.
const ERASED: &str = "arguments = 'null', hidden = '[]'";

/// Queues a call for a decision, unless it is queued. Approvals that are bound to another definition become void.
pub(super) fn ask(db: &Connection, request: Approval, now: i64) -> rusqlite::Result<ApprovalResponse> {
    erase_expired(db, now)?;
    let mut change = db.prepare_cached(&format!(
        "UPDATE tool_approvals SET status = 'void', {ERASED} WHERE caller = ?1 AND fingerprint = ?2 AND bound <> ?3 \
         AND status IN ('waiting', 'approved', 'denied') AND until > ?4 RETURNING id"
    ))?;
    let same = params![request.caller, request.fingerprint, request.bound, now];
    let void: Vec<String> = change.query_map(same, |row| row.get(0))?.collect::<Result<_, _>>()?;
    let void = void.into_iter().next_back();
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM tool_approvals WHERE caller = ?1 AND fingerprint = ?2 AND bound = ?3 \
         AND status IN ('waiting', 'approved', 'denied') AND until > ?4 \
         ORDER BY status = 'denied' DESC, status = 'approved' DESC, asked_at DESC, id LIMIT 1"
    ))?;
    if let Some(approval) = select.query_row(same, approval).optional()? {
        return Ok(ApprovalResponse { approval, void });
    }
    let mut insert = db.prepare_cached(&format!(
        "INSERT INTO tool_approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT DO NOTHING"
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
        written(&request),
        request.bound,
    ])?;
    Ok(ApprovalResponse { approval: request, void })
}

fn written(approval: &Approval) -> String {
    serde_json::to_string(&approval.hidden).unwrap_or_else(|_| "[]".into())
}

/// Uses an approval up.
pub(super) fn take(db: &Connection, id: &str, now: i64) -> rusqlite::Result<bool> {
    erase_expired(db, now)?;
    let mut update = db.prepare_cached(&format!(
        "UPDATE tool_approvals SET status = 'used', {ERASED} WHERE id = ?1 AND status = 'approved' AND bound <> '' \
         AND until > ?2"
    ))?;
    Ok(update.execute(params![id, now])? == 1)
}

/// Makes a used approval valid again.
pub(super) fn give_back(db: &Connection, approval: &Approval) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached(
        "UPDATE tool_approvals SET status = 'approved', arguments = ?2, hidden = ?3 WHERE id = ?1 AND status = 'used'",
    )?;
    update.execute(params![approval.id, approval.arguments.to_string(), written(approval)]).map(drop)
}

/// Erases the arguments of expired approvals.
pub(super) fn erase_expired(db: &Connection, now: i64) -> rusqlite::Result<()> {
    let update = format!("UPDATE tool_approvals SET {ERASED} WHERE until <= ?1 AND arguments <> 'null'");
    db.prepare_cached(&update)?.execute([now]).map(drop)
}

/// The key of hashes, made at its first use.
pub(super) fn hash_key(db: &Connection) -> rusqlite::Result<String> {
    let mut insert =
        db.prepare_cached("INSERT INTO tool_hash_key (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING")?;
    insert.execute([[random_id("a"), random_id("b"), random_id("c")].concat()])?;
    db.prepare_cached("SELECT key FROM tool_hash_key")?.query_row([], |row| row.get(0))
}

/// Approves or denies.
pub(super) fn decide(
    db: &Connection,
    id: &str,
    yes: bool,
    reason: Option<&str>,
    now: i64,
) -> rusqlite::Result<Option<Approval>> {
    erase_expired(db, now)?;
    let (status, erased) = match yes {
        true => (ApprovalStatus::Approved, String::new()),
        false => (ApprovalStatus::Denied, format!(", {ERASED}")),
    };
    db.prepare_cached(&format!(
        "UPDATE tool_approvals SET status = ?2, reason = ?3{erased} \
         WHERE id = ?1 AND status = 'waiting' AND bound <> '' AND until > ?4"
    ))?
    .execute(params![id, status.as_str(), reason, now])?;
    let mut select = db.prepare_cached(&format!("SELECT {COLUMNS} FROM tool_approvals WHERE id = ?1"))?;
    select.query_row([id], approval).optional()
}

/// The waiting approvals, or all.
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
        // An unknown word is not an approval.
        status: status.parse().unwrap_or(ApprovalStatus::Denied),
        reason: row.get("reason")?,
        hidden: json(row, "hidden")?,
        bound: row.get("bound")?,
    })
}
