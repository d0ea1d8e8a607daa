//! Idempotency keys, claimed durably before anything is run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::bounds::{bounds, over_bounds};
use super::clock::millis;
use super::database::{Access, Result, Sql, StateError, values};
use super::store::StateStore;

/// An idempotency key, with its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The caller; keys of two callers are different.
    pub caller: Arc<str>,
    pub key: String,
    pub op: String,
    /// A hash of op and arguments.
    pub fingerprint: String,
    /// Id of the run that holds the key; random, one for each call.
    pub owner: String,
}

/// Result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimStatus {
    /// The key is ours: run the call.
    Acquired,
    /// The call was run before, with this answer.
    Answered(Value),
    /// Another run of the call is in progress.
    Running,
    /// A run of the call began, and its outcome will never be known.
    Unknown,
    /// The call was run before, and newer answers have replaced its answer.
    AnswerGone,
    /// The key was used for another call, of this op.
    Conflict { op: String },
}

/// Outcome of a call with a key.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// It was run, with this answer.
    Answered(Value),
    /// It was not run; the key is free.
    Released,
    /// The call may have been run; the outcome is unknown.
    Unknown,
}

/// The time of a change: a key is no older than the keys before it, even when the clock is set back.
const CHANGED: &str = "(SELECT CASE WHEN clock > NOW_MS THEN clock ELSE NOW_MS END FROM tool_state)";

const OF_KEY: &str = "WHERE caller = ?1 AND key = ?2";

/// A key and a session, each in one column.
const KEY: &str = "caller || ' ' || key";

impl StateStore {
    /// Claims an idempotency key for one call, durably, before anything is run. The claim holds for `lease`, and is
    /// renewed by claiming again with the same `owner`.
    pub async fn claim(&self, wanted: &Claim, lease: Duration) -> Result<ClaimStatus> {
        let wanted = wanted.clone();
        let lease = millis(lease);
        self.ask(Access::Write, move |sql| claim(sql, &wanted, lease)).await
    }

    /// Status that a claim would find, without taking it; `None` where the key is free. Writes nothing.
    pub async fn recall(&self, claim: &Claim, lease: Duration) -> Result<Option<ClaimStatus>> {
        let claim = claim.clone();
        let lease = millis(lease);
        self.ask(Access::Read, move |sql| status(sql, &claim, lease)).await
    }

    /// Stores the outcome of a claim, durably, even after another process has given the call up: its owner knows better.
    /// Fails where the key is no longer its owner's.
    pub async fn settle(&self, claim: &Claim, outcome: ClaimOutcome) -> Result<()> {
        let claim = claim.clone();
        let is_full = match &outcome {
            ClaimOutcome::Answered(answer) => self.is_due_after(answer.to_string().len()),
            _ => false,
        };
        let settled = self.ask(Access::Write, move |sql| {
            lock(sql, &claim)?;
            let of_owner = values![*claim.caller, claim.key, claim.owner];
            let (status, answer) = match &outcome {
                ClaimOutcome::Released => {
                    let delete = format!(
                        "DELETE FROM tool_idempotency_keys {OF_KEY} AND owner = ?3 AND status <> 'answered'"
                    );
                    return sql.rows(&delete, &of_owner).map(|_| true);
                }
                ClaimOutcome::Answered(answer) => ("answered", Some(answer.to_string())),
                ClaimOutcome::Unknown => ("unknown", None),
            };
            let update = format!(
                "UPDATE tool_idempotency_keys SET status = ?4, answer = ?5, changed_at = {CHANGED} {OF_KEY} \
                 AND owner = ?3 RETURNING 1"
            );
            let values = [&of_owner[..], &values![*status, answer]].concat();
            let is_ours = !sql.rows(&update, &values)?.is_empty();
            if is_full {
                let over = over_bounds(
                    KEY,
                    "tool_idempotency_keys WHERE answer IS NOT NULL",
                    "answer",
                    "changed_at",
                );
                let forget = format!("UPDATE tool_idempotency_keys SET answer = NULL WHERE {over}");
                sql.rows(&forget, &bounds(&format!("{} {}", claim.caller, claim.key)))?;
            }
            Ok(is_ours)
        });
        if settled.await? { Ok(()) } else { Err(StateError::NotOurs) }
    }
}

/// Reads the status of a key for a claim; `None` where the key is free.
fn status(sql: &mut dyn Sql, claim: &Claim, lease: i64) -> Result<Option<ClaimStatus>> {
    let select = format!(
        "SELECT op, fingerprint, owner, status, answer, lease_until, NOW_MS FROM tool_idempotency_keys {OF_KEY}"
    );
    let Some(mut row) = sql.row(&select, &values![*claim.caller, claim.key])? else { return Ok(None) };
    let op = row.string();
    let fingerprint = row.string();
    let owner = row.string();
    let status = row.string();
    let answer = row.text();
    let lease_until = row.int();
    let now = row.int();
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
            answer.map_or(ClaimStatus::AnswerGone, ClaimStatus::Answered)
        }
        _ => ClaimStatus::Unknown,
    }))
}

/// Claims a key, or returns the status that prevents it.
fn claim(sql: &mut dyn Sql, claim: &Claim, lease: i64) -> Result<ClaimStatus> {
    lock(sql, claim)?;
    let Claim { caller, key, op, fingerprint, owner } = claim;
    let Some(claimed) = status(sql, claim, lease)? else {
        let insert = format!(
            "INSERT INTO tool_idempotency_keys (caller, key, op, fingerprint, owner, status, lease_until, changed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', NOW_MS + ?6, {CHANGED})"
        );
        sql.rows(&insert, &values![**caller, key, op, fingerprint, owner, lease])?;
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
    sql.rows(&update, &values![**caller, key])?;
    Ok(claimed)
}

fn lock(sql: &mut dyn Sql, claim: &Claim) -> Result<()> {
    sql.lock(&format!("{} {}", claim.caller, claim.key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::MAX_BYTES_OF_CALLER;

    #[tokio::test]
    async fn the_oldest_answers_of_keys_go_and_their_calls_are_not_run_again() {
        let state = StateStore::in_memory();
        let claim = |number: usize| Claim {
            caller: "amy".into(),
            key: format!("k{number}"),
            op: "op".into(),
            fingerprint: "f".into(),
            owner: "o".into(),
        };
        let lease = Duration::from_secs(60);
        for number in 0..12 {
            assert_eq!(state.claim(&claim(number), lease).await.unwrap(), ClaimStatus::Acquired);
            let answer = Value::from("x".repeat(MAX_BYTES_OF_CALLER / 4));
            state.settle(&claim(number), ClaimOutcome::Answered(answer)).await.unwrap();
        }
        assert_eq!(state.claim(&claim(0), lease).await.unwrap(), ClaimStatus::AnswerGone);
        assert!(matches!(state.claim(&claim(11), lease).await.unwrap(), ClaimStatus::Answered(_)));
    }
}
