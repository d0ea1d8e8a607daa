//! Idempotency keys.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::state::{Claim, ClaimOutcome, ClaimStatus, StateError};

/// The row of a key.
struct Known {
    op: String,
    fingerprint: String,
    owner: String,
    status: String,
    answer: Option<String>,
    lease_until: i64,
}

/// Status that a claim finds; `None` where the key is free.
pub(super) fn status(
    db: &Connection,
    claim: &Claim,
    lease: i64,
    now: i64,
) -> rusqlite::Result<Option<ClaimStatus>> {
    Ok(known(db, claim)?.map(|known| known.means(claim, lease, now)))
}

/// Claims a key, or returns the status that prevents it.
pub(super) fn claim(db: &Connection, claim: &Claim, lease: i64, now: i64) -> rusqlite::Result<ClaimStatus> {
    let Some(known) = known(db, claim)? else {
        db.prepare_cached(
            "INSERT INTO tool_idempotency_keys (caller, key, op, fingerprint, owner, status, lease_until, changed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, max(?7, (SELECT clock FROM tool_state)))",
        )?
        .execute(params![claim.caller, claim.key, claim.op, claim.fingerprint, claim.owner, now + lease, now])?;
        return Ok(ClaimStatus::Acquired);
    };
    let claimed = known.means(claim, lease, now);
    match claimed {
        ClaimStatus::Acquired => {
            db.prepare_cached(
                "UPDATE tool_idempotency_keys SET lease_until = ?3, changed_at = max(?4, (SELECT clock FROM tool_state)) \
                 WHERE caller = ?1 AND key = ?2",
            )?
            .execute(params![claim.caller, claim.key, now + lease, now])?;
        }
        ClaimStatus::Unknown if known.status == "running" => {
            db.prepare_cached(
                "UPDATE tool_idempotency_keys SET status = 'unknown', \
                 changed_at = max(?3, (SELECT clock FROM tool_state)) WHERE caller = ?1 AND key = ?2",
            )?
            .execute(params![claim.caller, claim.key, now])?;
        }
        _ => {}
    }
    Ok(claimed)
}

fn known(db: &Connection, claim: &Claim) -> rusqlite::Result<Option<Known>> {
    let mut select = db.prepare_cached(
        "SELECT op, fingerprint, owner, status, answer, lease_until FROM tool_idempotency_keys WHERE caller = ?1 AND key = ?2",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Known {
            op: row.get(0)?,
            fingerprint: row.get(1)?,
            owner: row.get(2)?,
            status: row.get(3)?,
            answer: row.get(4)?,
            lease_until: row.get(5)?,
        })
    };
    select.query_row(params![claim.caller, claim.key], read).optional()
}

impl Known {
    fn means(&self, claim: &Claim, lease: i64, now: i64) -> ClaimStatus {
        if self.fingerprint != claim.fingerprint || self.op != claim.op {
            return ClaimStatus::Conflict { op: self.op.clone() };
        }
        // A lease that ends later than possible was given before the clock was set back.
        let is_live = (now + 1..=now + 2 * lease).contains(&self.lease_until);
        match self.status.as_str() {
            "running" if self.owner == claim.owner => ClaimStatus::Acquired,
            "running" if is_live => ClaimStatus::Running,
            "answered" => {
                let answer = self.answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
                answer.map_or(ClaimStatus::Unknown, ClaimStatus::Answered)
            }
            _ => ClaimStatus::Unknown,
        }
    }
}

/// Stores the outcome of a call, even after another process has given the call up: its owner knows better.
pub(super) fn settle(
    db: &Connection,
    claim: &Claim,
    outcome: &ClaimOutcome,
    now: i64,
) -> rusqlite::Result<Result<(), StateError>> {
    if *outcome == ClaimOutcome::Released {
        db.prepare_cached(
            "DELETE FROM tool_idempotency_keys WHERE caller = ?1 AND key = ?2 AND owner = ?3 AND status <> 'answered'",
        )?
        .execute(params![claim.caller, claim.key, claim.owner])?;
        return Ok(Ok(()));
    }
    let (status, answer) = match outcome {
        ClaimOutcome::Answered(answer) => ("answered", Some(Value::to_string(answer))),
        _ => ("unknown", None),
    };
    let changed = db
        .prepare_cached(
            "UPDATE tool_idempotency_keys SET status = ?4, answer = ?5, changed_at = max(?6, (SELECT clock FROM tool_state)) \
             WHERE caller = ?1 AND key = ?2 AND owner = ?3",
        )?
        .execute(params![claim.caller, claim.key, claim.owner, status, answer, now])?;
    Ok(if changed == 1 {
        Ok(())
    } else {
        Err(StateError::Failed("the idempotency key is no longer ours".into()))
    })
}
