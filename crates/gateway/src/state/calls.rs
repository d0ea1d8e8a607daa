//! Data that calls leave for later calls: idempotency keys, long results, and the page and the context of a session.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::Value;

use super::database::{Access, Sql, values};
use super::{MAX_BYTES_IN_ALL, MAX_BYTES_OF_CALLER, StateError, StateStore, millis};

/// An idempotency key, with its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The caller; keys of two callers are different.
    pub caller: Arc<str>,
    /// The key.
    pub key: String,
    /// The op.
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
    Conflict {
        /// The op.
        op: String,
    },
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

/// A result that was too long to be returned whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Id of the result.
    pub id: String,
    /// The caller who may read it.
    pub caller: String,
    /// All of it.
    pub text: String,
    /// Time at which it expires, in milliseconds of Unix time.
    pub until: i64,
}

/// A session of one caller. Sessions of two callers are different, whatever their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// The caller; empty where everybody may come in.
    pub caller: Arc<str>,
    /// Name, chosen by the caller.
    pub id: Arc<str>,
}

/// Longest name of a session.
const MAX_SESSION_NAME: usize = 128;

impl Session {
    /// A valid name of a session.
    pub fn named(id: &str) -> Result<Arc<str>, InvalidSessionName> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        if (1..=MAX_SESSION_NAME).contains(&id.len()) && id.bytes().all(is_sign) {
            Ok(Arc::from(id))
        } else {
            Err(InvalidSessionName)
        }
    }
}

/// Error of an invalid session name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is called by 1 to 128 letters, digits and signs of `._:-`")]
pub struct InvalidSessionName;

/// The time of a change: a key is no older than the keys before it, even when the clock is set back.
const CHANGED: &str = "(SELECT CASE WHEN clock > NOW_MS THEN clock ELSE NOW_MS END FROM tool_state)";

const OF_KEY: &str = "WHERE caller = ?1 AND key = ?2";

const OF_SESSION: &str = "WHERE caller = ?1 AND session = ?2";

/// A key and a session, each in one column.
const KEY: &str = "caller || ' ' || key";
const SESSION: &str = "caller || ' ' || session";

/// Most bytes of the context of a session, which goes with each of its answers.
const MAX_CONTEXT: usize = 64 << 10;

impl StateStore {
    /// Claims an idempotency key for one call, durably, before anything is run. The claim holds for `lease`, and is
    /// renewed by claiming again with the same `owner`.
    pub async fn claim(&self, wanted: &Claim, lease: Duration) -> Result<ClaimStatus, StateError> {
        let wanted = wanted.clone();
        let lease = millis(lease);
        self.ask(Access::Write, move |sql| claim(sql, &wanted, lease)).await
    }

    /// Status that a claim would find, without taking it; `None` where the key is free. Writes nothing.
    pub async fn recall(&self, claim: &Claim, lease: Duration) -> Result<Option<ClaimStatus>, StateError> {
        let claim = claim.clone();
        let lease = millis(lease);
        self.ask(Access::Read, move |sql| status(sql, &claim, lease)).await
    }

    /// Stores the outcome of a claim, durably, even after another process has given the call up: its owner knows better.
    /// Fails where the key is no longer its owner's.
    pub async fn settle(&self, claim: &Claim, outcome: ClaimOutcome) -> Result<(), StateError> {
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
        if settled.await? {
            Ok(())
        } else {
            Err(StateError::Failed("the idempotency key is no longer ours".into()))
        }
    }
}

impl StateStore {
    /// Records that a session was given the page of an op.
    pub async fn record_doc_read(
        &self,
        session: &Session,
        op: &str,
        doc_version: &str,
    ) -> Result<(), StateError> {
        let insert = "INSERT INTO session_docs (caller, session, op, doc_version, at) VALUES (?1, ?2, ?3, ?4, NOW_MS) \
                      ON CONFLICT (caller, session, op) DO UPDATE SET doc_version = excluded.doc_version, at = excluded.at";
        let values = values![*session.caller, *session.id, *op, *doc_version];
        self.rows(Access::Write, insert, values).await.map(drop)
    }

    /// The version of the page that the session was given last.
    pub async fn doc_read_version(&self, session: &Session, op: &str) -> Result<Option<String>, StateError> {
        let select = format!("SELECT doc_version FROM session_docs {OF_SESSION} AND op = ?3");
        let rows = self.rows(Access::Read, &select, values![*session.caller, *session.id, *op]).await?;
        Ok(rows.into_iter().next().and_then(|mut row| row.text()))
    }

    /// The context of a session, once a result has set it.
    pub async fn session_context(&self, session: &Session) -> Result<Option<Value>, StateError> {
        let select = format!("SELECT context FROM session_contexts {OF_SESSION}");
        let rows = self.rows(Access::Read, &select, values![*session.caller, *session.id]).await?;
        rows.into_iter().next().map(|mut row| row.json()).transpose()
    }

    /// Sets the context of a session. The oldest contexts go if those of the caller, or of all callers, have too many
    /// bytes.
    pub async fn set_session_context(&self, session: &Session, context: &Value) -> Result<(), StateError> {
        let context = context.to_string();
        if context.len() > MAX_CONTEXT {
            return Err(StateError::Failed(format!("it is over {} KiB", MAX_CONTEXT >> 10)));
        }
        let is_full = self.is_due_after(context.len());
        let bounds = bounds(&format!("{} {}", session.caller, session.id));
        let insert = "INSERT INTO session_contexts (caller, session, context, at) VALUES (?1, ?2, ?3, NOW_MS) \
                      ON CONFLICT (caller, session) DO UPDATE SET context = excluded.context, at = excluded.at";
        let values = values![*session.caller, *session.id, context];
        self.ask(Access::Write, move |sql| {
            sql.rows(insert, &values)?;
            if is_full {
                let over = over_bounds(SESSION, "session_contexts", "context", "at");
                sql.rows(&format!("DELETE FROM session_contexts WHERE {over}"), &bounds)?;
            }
            Ok(())
        })
        .await
    }
}

impl StateStore {
    /// Counts stored bytes, and returns whether it is time to delete what is over the bounds: to sum up all rows at each
    /// write would take too long.
    fn is_due_after(&self, bytes: usize) -> bool {
        let is_due = self.stored.fetch_add(bytes, Relaxed) + bytes > MAX_BYTES_OF_CALLER / 8;
        if is_due {
            self.stored.store(0, Relaxed);
        }
        is_due
    }
}

impl StateStore {
    /// Stores a result for its caller, to be read on. The oldest results go if those of the caller, or of all callers, have too
    /// many bytes.
    pub async fn store_result(&self, result: StoredResult) -> Result<(), StateError> {
        let StoredResult { id, caller, text, until } = result;
        if text.len() > MAX_BYTES_OF_CALLER {
            return Err(StateError::Failed(format!("it is over {} MiB", MAX_BYTES_OF_CALLER >> 20)));
        }
        let bounds = bounds(&id);
        let values = [id.into(), caller.into(), text.into_bytes().into(), until.into()];
        self.ask(Access::Write, move |sql| {
            sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[])?;
            let insert = "INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4) \
                          ON CONFLICT (id) DO UPDATE SET caller = excluded.caller, text = excluded.text, \
                          until = excluded.until";
            sql.rows(insert, &values)?;
            let over = over_bounds("id", "tool_results", "text", "until");
            sql.rows(&format!("DELETE FROM tool_results WHERE {over}"), &bounds).map(drop)
        })
        .await
    }

    /// A stored result of this caller.
    pub async fn stored_result(&self, caller: &str, id: &str) -> Result<Option<StoredResult>, StateError> {
        let select = "SELECT id, caller, text, until FROM tool_results WHERE caller = ?1 AND id = ?2 AND until > NOW_MS";
        let rows = self.rows(Access::Read, select, values![*caller, *id]).await?;
        Ok(rows.into_iter().next().map(|mut row| StoredResult {
            id: row.string(),
            caller: row.string(),
            text: row.string(),
            until: row.int(),
        }))
    }
}

/// The condition for rows of a table that are over the [`bounds`], the oldest first. `id` names a row, and `time` is its age.
pub(super) fn over_bounds(id: &str, rows: &str, text: &str, time: &str) -> String {
    let newest = format!("ORDER BY (id = ?1) DESC, {time} DESC, id");
    format!(
        "{id} IN (WITH sized AS MATERIALIZED (SELECT {id} AS id, caller, {time}, OCTET_LENGTH({text}) AS bytes FROM {rows}) \
         SELECT id FROM (SELECT id, SUM(bytes) OVER (PARTITION BY caller {newest}) AS own, \
         SUM(bytes) OVER ({newest}) AS total FROM sized) AS summed WHERE id <> ?1 AND (own > ?2 OR total > ?3))"
    )
}

/// The values of [`over_bounds`]: the row that stays, and the most bytes of one caller and of all callers.
pub(super) fn bounds(stays: &str) -> [rusqlite::types::Value; 3] {
    values![*stays, MAX_BYTES_OF_CALLER as i64, MAX_BYTES_IN_ALL as i64]
}

/// Reads the status of a key for a claim; `None` where the key is free.
fn status(sql: &mut dyn Sql, claim: &Claim, lease: i64) -> Result<Option<ClaimStatus>, StateError> {
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
fn claim(sql: &mut dyn Sql, claim: &Claim, lease: i64) -> Result<ClaimStatus, StateError> {
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

fn lock(sql: &mut dyn Sql, claim: &Claim) -> Result<(), StateError> {
    sql.lock(&format!("{} {}", claim.caller, claim.key))
}

#[cfg(test)]
mod tests {
    use super::super::now;
    use super::*;

    #[tokio::test]
    async fn the_oldest_results_of_a_caller_go_and_those_of_others_stay() {
        let state = StateStore::in_memory();
        let result = |caller: &str, number: i64, bytes: usize| StoredResult {
            id: format!("{caller}{number}"),
            caller: caller.into(),
            text: "x".repeat(bytes),
            until: now() + 60_000 + number,
        };
        state.store_result(result("bob", 0, 10)).await.unwrap();
        let third = MAX_BYTES_OF_CALLER / 3;
        for number in 1..=5 {
            state.store_result(result("amy", number, third)).await.unwrap();
        }
        let is_stored = async |caller: &str, number: i64| {
            state.stored_result(caller, &format!("{caller}{number}")).await.unwrap().is_some()
        };
        for (number, expect) in [(1, false), (2, false), (3, true), (4, true), (5, true)] {
            assert_eq!(is_stored("amy", number).await, expect, "{number}");
        }
        assert!(is_stored("bob", 0).await);
        for caller in ["c", "d", "e", "f"] {
            state.store_result(result(caller, 9, MAX_BYTES_OF_CALLER - 20)).await.unwrap();
        }
        assert!(!is_stored("amy", 5).await && !is_stored("bob", 0).await && is_stored("c", 9).await);
        let refused = state.store_result(result("g", 9, MAX_BYTES_OF_CALLER + 1)).await.unwrap_err();
        assert!(refused.to_string().contains("over 1 MiB"), "{refused}");
    }

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

    #[tokio::test]
    async fn the_oldest_contexts_of_sessions_go_and_a_large_one_is_refused() {
        let state = StateStore::in_memory();
        let session = |number: usize| Session { caller: "amy".into(), id: format!("s{number}").into() };
        let context = Value::from("x".repeat(MAX_CONTEXT - 2));
        for number in 0..3 * MAX_BYTES_OF_CALLER / MAX_CONTEXT {
            state.set_session_context(&session(number), &context).await.unwrap();
        }
        assert_eq!(state.session_context(&session(0)).await.unwrap(), None);
        let newest = session(3 * MAX_BYTES_OF_CALLER / MAX_CONTEXT - 1);
        assert!(state.session_context(&newest).await.unwrap().is_some());
        let large = Value::from("x".repeat(MAX_CONTEXT));
        let refused = state.set_session_context(&newest, &large).await.unwrap_err();
        assert!(refused.to_string().contains("over 64 KiB"), "{refused}");
    }
}
