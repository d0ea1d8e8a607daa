//! Idempotency keys.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::state::{Claim, Claimed, Settled, StateError};

/// What is known of a key.
struct Known {
    op: String,
    fingerprint: String,
    owner: String,
    status: String,
    answer: Option<String>,
    lease_until: i64,
}

/// Takes a key, or says who has it.
pub(super) fn claim(db: &Connection, claim: &Claim, lease: i64, now: i64) -> rusqlite::Result<Claimed> {
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
    let Some(known) = select.query_row(params![claim.caller, claim.key], read).optional()? else {
        db.prepare_cached(
            "INSERT INTO tool_idempotency_keys (caller, key, op, fingerprint, owner, status, lease_until, changed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7)",
        )?
        .execute(params![claim.caller, claim.key, claim.op, claim.fingerprint, claim.owner, now + lease, now])?;
        return Ok(Claimed::Ours);
    };
    if known.fingerprint != claim.fingerprint || known.op != claim.op {
        return Ok(Claimed::Conflict { op: known.op });
    }
    match known.status.as_str() {
        "running" if known.owner == claim.owner => {
            db.prepare_cached(
                "UPDATE tool_idempotency_keys SET lease_until = ?3, changed_at = ?4 WHERE caller = ?1 AND key = ?2",
            )?
            .execute(params![claim.caller, claim.key, now + lease, now])?;
            Ok(Claimed::Ours)
        }
        "running" if known.lease_until > now => Ok(Claimed::Running),
        "running" => {
            db.prepare_cached(
                "UPDATE tool_idempotency_keys SET status = 'unknown', changed_at = ?3 WHERE caller = ?1 AND key = ?2",
            )?
            .execute(params![claim.caller, claim.key, now])?;
            Ok(Claimed::Unknown)
        }
        "answered" => {
            let answer = known.answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
            Ok(answer.map_or(Claimed::Unknown, Claimed::Answered))
        }
        _ => Ok(Claimed::Unknown),
    }
}

/// Writes down what became of a call. Its owner knows better than who has given it up.
pub(super) fn settle(
    db: &Connection,
    claim: &Claim,
    outcome: &Settled,
    now: i64,
) -> rusqlite::Result<Result<(), StateError>> {
    if *outcome == Settled::Released {
        db.prepare_cached(
            "DELETE FROM tool_idempotency_keys WHERE caller = ?1 AND key = ?2 AND owner = ?3 AND status <> 'answered'",
        )?
        .execute(params![claim.caller, claim.key, claim.owner])?;
        return Ok(Ok(()));
    }
    let (status, answer) = match outcome {
        Settled::Answered(answer) => ("answered", Some(Value::to_string(answer))),
        _ => ("unknown", None),
    };
    let changed = db
        .prepare_cached(
            "UPDATE tool_idempotency_keys SET status = ?4, answer = ?5, changed_at = ?6 \
             WHERE caller = ?1 AND key = ?2 AND owner = ?3",
        )?
        .execute(params![claim.caller, claim.key, claim.owner, status, answer, now])?;
    Ok(if changed == 1 { Ok(()) } else { Err(StateError("the idempotency key is no longer ours".into())) })
}
