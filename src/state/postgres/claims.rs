//! Idempotency keys.

use deadpool_postgres::Client;
use tokio_postgres::Row;

use super::{json, plain};
use crate::state::{Claim, ClaimOutcome, ClaimStatus, StateError};

/// The row of a key. A lease that ends later than possible was given before the clock was set back.
const KNOWN: &str = "SELECT op, fingerprint, owner, status, answer, lease_until > clock_timestamp() \
                     AND lease_until <= clock_timestamp() + 2 * $3::double precision * interval '1 millisecond' AS is_live \
                     FROM tool_idempotency_keys WHERE caller = $1 AND key = $2";

/// Status that a claim finds; `None` where the key is free.
pub(super) async fn recall(
    client: Client,
    claim: &Claim,
    lease: i64,
) -> Result<Option<ClaimStatus>, StateError> {
    let (caller, key) = (&*plain(&claim.caller), &*plain(&claim.key));
    let known = client.query_opt(KNOWN, &[&caller, &key, &(lease as f64)]).await?;
    known.map(|known| status_of_row(&known, &plain(&claim.op), claim)).transpose()
}

/// Claims a key, or returns the status that prevents it.
pub(super) async fn claim(mut client: Client, claim: &Claim, lease: i64) -> Result<ClaimStatus, StateError> {
    let (caller, key) = (&*plain(&claim.caller), &*plain(&claim.key));
    let (op, fingerprint, owner) = (&*plain(&claim.op), &claim.fingerprint, &claim.owner);
    // The key may be released between two statements; then it is free.
    for _ in 0..5 {
        let turn = client.transaction().await?;
        let insert = turn
            .prepare_cached(
                "INSERT INTO tool_idempotency_keys (caller, key, op, fingerprint, owner, status, lease_until, changed_at) \
                 VALUES ($1, $2, $3, $4, $5, 'running', clock_timestamp() + $6 * interval '1 millisecond', \
                 greatest(clock_timestamp(), (SELECT clock FROM tool_state))) ON CONFLICT DO NOTHING",
            )
            .await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
            [&caller, &key, &op, fingerprint, owner, &(lease as f64)];
        if turn.execute(&insert, &values).await? == 1 {
            turn.commit().await?;
            return Ok(ClaimStatus::Acquired);
        }
        let select = turn.prepare_cached(&format!("{KNOWN} FOR UPDATE")).await?;
        let known = turn.query_opt(&select, &[&caller, &key, &(lease as f64)]).await?;
        let Some(known) = known else { continue };
        let claimed = status_of_row(&known, op, claim)?;
        let is_running = known.get::<_, &str>("status") == "running";
        match claimed {
            ClaimStatus::Acquired => {
                let renew = "UPDATE tool_idempotency_keys SET \
                             changed_at = greatest(clock_timestamp(), (SELECT clock FROM tool_state)), \
                             lease_until = clock_timestamp() + $3 * interval '1 millisecond' \
                             WHERE caller = $1 AND key = $2";
                turn.execute(renew, &[&caller, &key, &(lease as f64)]).await?;
            }
            ClaimStatus::Unknown if is_running => {
                let give_up = "UPDATE tool_idempotency_keys SET status = 'unknown', \
                               changed_at = greatest(clock_timestamp(), (SELECT clock FROM tool_state)) \
                               WHERE caller = $1 AND key = $2";
                turn.execute(give_up, &[&caller, &key]).await?;
            }
            _ => {}
        }
        turn.commit().await?;
        return Ok(claimed);
    }
    Err(StateError::Failed("the idempotency key is taken and released again and again".into()))
}

/// Status that an existing key has for a claim.
fn status_of_row(known: &Row, op: &str, claim: &Claim) -> Result<ClaimStatus, StateError> {
    let text = |column: &str| known.get::<_, &str>(column);
    if text("fingerprint") != claim.fingerprint || text("op") != op {
        return Ok(ClaimStatus::Conflict { op: text("op").into() });
    }
    Ok(match text("status") {
        "running" if text("owner") == claim.owner => ClaimStatus::Acquired,
        "running" if known.get("is_live") => ClaimStatus::Running,
        "answered" => match known.get::<_, Option<&str>>("answer") {
            Some(answer) => ClaimStatus::Answered(json(answer)?),
            None => ClaimStatus::Unknown,
        },
        _ => ClaimStatus::Unknown,
    })
}

/// Stores the outcome of a call; false when the key is no longer its owner's.
pub(super) async fn settle(client: Client, claim: &Claim, outcome: ClaimOutcome) -> Result<bool, StateError> {
    let (caller, key) = (&*plain(&claim.caller), &*plain(&claim.key));
    let (status, answer) = match outcome {
        ClaimOutcome::Released => {
            let delete = "DELETE FROM tool_idempotency_keys \
                          WHERE caller = $1 AND key = $2 AND owner = $3 AND status <> 'answered'";
            client.execute(delete, &[&caller, &key, &claim.owner]).await?;
            return Ok(true);
        }
        ClaimOutcome::Answered(answer) => ("answered", Some(answer.to_string())),
        ClaimOutcome::Unknown => ("unknown", None),
    };
    let update = client
        .prepare_cached(
            "UPDATE tool_idempotency_keys SET status = $4, answer = $5, \
             changed_at = greatest(clock_timestamp(), (SELECT clock FROM tool_state)) \
             WHERE caller = $1 AND key = $2 AND owner = $3",
        )
        .await?;
    let changed = client.execute(&update, &[&caller, &key, &claim.owner, &status, &answer]).await;
    Ok(changed? == 1)
}
