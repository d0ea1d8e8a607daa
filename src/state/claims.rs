//! Idempotency keys.

use super::database::{Sql, values};
use super::{Claim, ClaimOutcome, ClaimStatus, StateError};

/// The time of a change: a key is no older than the keys before it, even when the clock is set back.
const CHANGED: &str = "(SELECT CASE WHEN clock > NOW_MS THEN clock ELSE NOW_MS END FROM tool_state)";

const OF_KEY: &str = "WHERE caller = ?1 AND key = ?2";

/// Reads the status of a key for a claim; `None` where the key is free.
pub(super) fn status(
    sql: &mut dyn Sql,
    claim: &Claim,
    lease: i64,
) -> Result<Option<ClaimStatus>, StateError> {
    let select = format!(
        "SELECT op, fingerprint, owner, status, answer, lease_until, NOW_MS FROM tool_idempotency_keys {OF_KEY}"
    );
    let Some(mut row) = sql.row(&select, values![*claim.caller, claim.key])? else { return Ok(None) };
    let (op, fingerprint, owner, status) = (row.string(), row.string(), row.string(), row.string());
    let (answer, lease_until, now) = (row.text(), row.int(), row.int());
    if fingerprint != claim.fingerprint || op != claim.op {
        return Ok(Some(ClaimStatus::Conflict { op }));
    }
    // A lease that ends later than possible was given before the clock was set back.
    let is_live = (now + 1..=now + 2 * lease).contains(&lease_until);
    Ok(Some(match status.as_str() {
        "running" if owner == claim.owner => ClaimStatus::Acquired,
        "running" if is_live => ClaimStatus::Running,
        "answered" => {
            let answer = answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
            answer.map_or(ClaimStatus::Unknown, ClaimStatus::Answered)
        }
        _ => ClaimStatus::Unknown,
    }))
}

/// Claims a key, or returns the status that prevents it.
pub(super) fn claim(sql: &mut dyn Sql, claim: &Claim, lease: i64) -> Result<ClaimStatus, StateError> {
    lock(sql, claim)?;
    let Some(claimed) = status(sql, claim, lease)? else {
        let insert = format!(
            "INSERT INTO tool_idempotency_keys (caller, key, op, fingerprint, owner, status, lease_until, changed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', NOW_MS + ?6, {CHANGED})"
        );
        let Claim { caller, key, op, fingerprint, owner } = claim;
        sql.rows(&insert, values![**caller, key, op, fingerprint, owner, lease])?;
        return Ok(ClaimStatus::Acquired);
    };
    let change = match claimed {
        ClaimStatus::Acquired => format!("lease_until = NOW_MS + {lease}"),
        // The run that held the key has ended: it is given up for good.
        ClaimStatus::Unknown => "status = 'unknown'".into(),
        _ => return Ok(claimed),
    };
    let update = format!(
        "UPDATE tool_idempotency_keys SET {change}, changed_at = {CHANGED} {OF_KEY} AND status = 'running'"
    );
    sql.rows(&update, values![*claim.caller, claim.key])?;
    Ok(claimed)
}

/// Stores the outcome of a call, even after another process has given the call up: its owner knows better. False where
/// the key is no longer its owner's.
pub(super) fn settle(sql: &mut dyn Sql, claim: &Claim, outcome: &ClaimOutcome) -> Result<bool, StateError> {
    lock(sql, claim)?;
    let (status, answer) = match outcome {
        ClaimOutcome::Released => {
            let delete =
                format!("DELETE FROM tool_idempotency_keys {OF_KEY} AND owner = ?3 AND status <> 'answered'");
            sql.rows(&delete, values![*claim.caller, claim.key, claim.owner])?;
            return Ok(true);
        }
        ClaimOutcome::Answered(answer) => ("answered", Some(answer.to_string())),
        ClaimOutcome::Unknown => ("unknown", None),
    };
    let update = format!(
        "UPDATE tool_idempotency_keys SET status = ?4, answer = ?5, changed_at = {CHANGED} {OF_KEY} AND owner = ?3 \
         RETURNING 1"
    );
    let values = values![*claim.caller, claim.key, claim.owner, *status, answer];
    Ok(!sql.rows(&update, values)?.is_empty())
}

fn lock(sql: &mut dyn Sql, claim: &Claim) -> Result<(), StateError> {
    sql.lock(&format!("{} {}", claim.caller, claim.key))
}
