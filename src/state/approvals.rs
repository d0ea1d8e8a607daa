//! Calls that wait for a person.

use super::database::{Row, Sql, values};
use super::{Approval, ApprovalResponse, ApprovalStatus, StateError, random_id};

const COLUMNS: &str =
    "id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason, hidden, bound";

/// Sets the columns of arguments that nobody needs to see any more.
const ERASED: &str = "arguments = 'null', hidden = '[]'";

/// An approval that holds for its call.
const HOLDS: &str = "status IN ('waiting', 'approved', 'denied') AND until > NOW_MS";

/// Queues a call for a decision, unless it is queued. Approvals that are bound to another definition become void.
pub(super) fn ask(sql: &mut dyn Sql, request: Approval) -> Result<ApprovalResponse, StateError> {
    erase_expired(sql)?;
    // Requests for the same call wait for each other.
    sql.lock(&format!("{} {}", request.caller, request.fingerprint))?;
    let same = values![request.caller, request.fingerprint, request.bound];
    let change = format!(
        "UPDATE tool_approvals SET status = 'void', {ERASED} \
         WHERE caller = ?1 AND fingerprint = ?2 AND bound <> ?3 AND {HOLDS} RETURNING id"
    );
    let void = sql.rows(&change, same)?.pop().and_then(|mut row| row.text());
    let select = format!(
        "SELECT {COLUMNS} FROM tool_approvals WHERE caller = ?1 AND fingerprint = ?2 AND bound = ?3 AND {HOLDS} \
         ORDER BY status = 'denied' DESC, status = 'approved' DESC, asked_at DESC, id LIMIT 1"
    );
    if let Some(row) = sql.row(&select, same)? {
        return Ok(ApprovalResponse { approval: approval(row)?, void });
    }
    let insert = format!(
        "INSERT INTO tool_approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT DO NOTHING"
    );
    let Approval { id, caller, session, op, fingerprint, bound, asked_at, until, reason, .. } = &request;
    let (arguments, hidden) = (request.arguments.to_string(), hidden(&request));
    let status = request.status.as_str();
    sql.rows(
        &insert,
        values![
            id, caller, session, op, arguments, fingerprint, asked_at, until, *status, reason, hidden, bound
        ],
    )?;
    Ok(ApprovalResponse { approval: request, void })
}

fn hidden(approval: &Approval) -> String {
    serde_json::to_string(&approval.hidden).unwrap_or_else(|_| "[]".into())
}

/// Uses an approval up; false where it cannot be used.
pub(super) fn take(sql: &mut dyn Sql, id: &str) -> Result<bool, StateError> {
    erase_expired(sql)?;
    let update = format!(
        "UPDATE tool_approvals SET status = 'used', {ERASED} \
         WHERE id = ?1 AND status = 'approved' AND until > NOW_MS RETURNING 1"
    );
    Ok(!sql.rows(&update, values![*id])?.is_empty())
}

/// Makes a used approval valid again.
pub(super) fn give_back(sql: &mut dyn Sql, approval: &Approval) -> Result<(), StateError> {
    let update = "UPDATE tool_approvals SET status = 'approved', arguments = ?2, hidden = ?3 \
                  WHERE id = ?1 AND status = 'used'";
    sql.rows(update, values![approval.id, approval.arguments.to_string(), hidden(approval)]).map(drop)
}

/// Erases the arguments of expired approvals.
pub(super) fn erase_expired(sql: &mut dyn Sql) -> Result<(), StateError> {
    let update = format!("UPDATE tool_approvals SET {ERASED} WHERE until <= NOW_MS AND arguments <> 'null'");
    sql.rows(&update, &[]).map(drop)
}

/// The key of hashes, made at its first use.
pub(super) fn hash_key(sql: &mut dyn Sql) -> Result<String, StateError> {
    let fresh = [random_id("a"), random_id("b"), random_id("c")].concat();
    sql.rows("INSERT INTO tool_hash_key (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING", values![fresh])?;
    Ok(sql.row("SELECT key FROM tool_hash_key", &[])?.map(|mut row| row.string()).unwrap_or_default())
}

/// Approves or denies a waiting call.
pub(super) fn decide(
    sql: &mut dyn Sql,
    id: &str,
    yes: bool,
    reason: Option<&str>,
) -> Result<Option<Approval>, StateError> {
    erase_expired(sql)?;
    let (status, erased) = match yes {
        true => (ApprovalStatus::Approved, String::new()),
        false => (ApprovalStatus::Denied, format!(", {ERASED}")),
    };
    let update = format!(
        "UPDATE tool_approvals SET status = ?2, reason = ?3{erased} \
         WHERE id = ?1 AND status = 'waiting' AND until > NOW_MS"
    );
    sql.rows(&update, values![*id, *status.as_str(), reason.map(String::from)])?;
    let select = format!("SELECT {COLUMNS} FROM tool_approvals WHERE id = ?1");
    sql.row(&select, values![*id])?.map(approval).transpose()
}

/// The waiting approvals, or all.
pub(super) fn list(sql: &mut dyn Sql, waiting_only: bool) -> Result<Vec<Approval>, StateError> {
    let wanted = if waiting_only { "status = 'waiting' AND until > NOW_MS" } else { "TRUE" };
    let select = format!("SELECT {COLUMNS} FROM tool_approvals WHERE {wanted} ORDER BY asked_at, id");
    sql.rows(&select, &[])?.into_iter().map(approval).collect()
}

fn approval(mut row: Row) -> Result<Approval, StateError> {
    Ok(Approval {
        id: row.string(),
        caller: row.string(),
        session: row.text(),
        op: row.string(),
        arguments: row.json()?,
        fingerprint: row.string(),
        asked_at: row.int(),
        until: row.int(),
        // An unknown word is not an approval.
        status: row.string().parse().unwrap_or(ApprovalStatus::Denied),
        reason: row.text(),
        hidden: row.json()?,
        bound: row.string(),
    })
}
