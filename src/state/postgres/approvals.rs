//! Calls that wait for a person.

use deadpool_postgres::Client;
use tokio_postgres::Row;

use super::{json, plain};
use crate::state::{Approval, ApprovalResponse, ApprovalStatus, StateError, random_id};

const READ: &str = "SELECT id, caller, session, op, arguments, fingerprint, status, reason, hidden, bound, \
                    (extract(epoch FROM asked_at) * 1000)::bigint AS asked_at, \
                    (extract(epoch FROM until) * 1000)::bigint AS until FROM tool_approvals";

/// Sets the columns of arguments that nobody needs to see any more.
const ERASED: &str = "arguments = 'null', hidden = '[]'";

/// Queues a call for a decision, unless it is queued. Approvals that are bound to another definition become void.
pub(super) async fn ask(mut client: Client, request: &Approval) -> Result<ApprovalResponse, StateError> {
    erase_expired(&client).await?;
    let (caller, op) = (&*plain(&request.caller), &*plain(&request.op));
    let session = request.session.as_deref().map(plain);
    let turn = client.transaction().await?;
    // Simultaneous requests for the same call wait for each other.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))";
    turn.execute(lock, &[&caller, &request.fingerprint]).await?;
    let change = format!(
        "UPDATE tool_approvals SET status = 'void', {ERASED} WHERE caller = $1 AND fingerprint = $2 AND bound <> $3 \
         AND status IN ('waiting', 'approved', 'denied') AND until > clock_timestamp() RETURNING id"
    );
    let void = turn.query(&change, &[&caller, &request.fingerprint, &request.bound]).await?;
    let void = void.last().map(|row| row.get("id"));
    let select = format!(
        "{READ} WHERE caller = $1 AND fingerprint = $2 AND bound = $3 \
         AND status IN ('waiting', 'approved', 'denied') AND until > clock_timestamp() \
         ORDER BY status = 'denied' DESC, status = 'approved' DESC, tool_approvals.asked_at DESC, id LIMIT 1"
    );
    let there = turn.query_opt(&select, &[&caller, &request.fingerprint, &request.bound]).await?;
    if let Some(there) = there {
        turn.commit().await?;
        return Ok(ApprovalResponse { approval: approval(&there)?, void });
    }
    let insert = "INSERT INTO tool_approvals \
                  (id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason, hidden, bound) VALUES \
                  ($1, $2, $3, $4, $5, $6, to_timestamp($7::bigint / 1000.0), to_timestamp($8::bigint / 1000.0), $9, $10, \
                  $11, $12) ON CONFLICT DO NOTHING";
    turn.execute(
        insert,
        &[
            &request.id,
            &caller,
            &session.as_deref(),
            &op,
            &request.arguments.to_string(),
            &request.fingerprint,
            &request.asked_at,
            &request.until,
            &request.status.as_str(),
            &request.reason.as_deref().map(plain).as_deref(),
            &written(request),
            &request.bound,
        ],
    )
    .await?;
    turn.commit().await?;
    Ok(ApprovalResponse { approval: request.clone(), void })
}

fn written(approval: &Approval) -> String {
    serde_json::to_string(&approval.hidden).unwrap_or_else(|_| "[]".into())
}

/// Uses an approval up.
pub(super) async fn take(client: Client, id: &str) -> Result<bool, StateError> {
    erase_expired(&client).await?;
    let update = format!(
        "UPDATE tool_approvals SET status = 'used', {ERASED} \
         WHERE id = $1 AND status = 'approved' AND bound <> '' AND until > clock_timestamp()"
    );
    Ok(client.execute(&update, &[&&*plain(id)]).await? == 1)
}

/// Makes a used approval valid again.
pub(super) async fn give_back(client: Client, approval: &Approval) -> Result<(), StateError> {
    let update = "UPDATE tool_approvals SET status = 'approved', arguments = $2, hidden = $3 \
                  WHERE id = $1 AND status = 'used'";
    let shown = (approval.arguments.to_string(), written(approval));
    client.execute(update, &[&approval.id, &shown.0, &shown.1]).await?;
    Ok(())
}

/// Erases the arguments of expired approvals.
pub(super) async fn erase_expired(client: &Client) -> Result<(), StateError> {
    let update = format!(
        "UPDATE tool_approvals SET {ERASED} WHERE until <= clock_timestamp() AND arguments <> 'null'"
    );
    client.execute(&update, &[]).await?;
    Ok(())
}

/// The key of hashes, made at its first use.
pub(super) async fn hash_key(client: Client) -> Result<String, StateError> {
    let insert = "INSERT INTO tool_hash_key (one, key) VALUES (1, $1) ON CONFLICT DO NOTHING";
    let fresh = [random_id("a"), random_id("b"), random_id("c")].concat();
    client.execute(insert, &[&fresh]).await?;
    Ok(client.query_one("SELECT key FROM tool_hash_key", &[]).await?.get(0))
}

/// Approves or denies.
pub(super) async fn decide(
    client: Client,
    id: &str,
    yes: bool,
    reason: Option<&str>,
) -> Result<Option<Approval>, StateError> {
    let (id, reason) = (&*plain(id), reason.map(plain));
    erase_expired(&client).await?;
    let (status, erased) = match yes {
        true => (ApprovalStatus::Approved, String::new()),
        false => (ApprovalStatus::Denied, format!(", {ERASED}")),
    };
    let update = format!(
        "UPDATE tool_approvals SET status = $2, reason = $3{erased} \
         WHERE id = $1 AND status = 'waiting' AND bound <> '' AND until > clock_timestamp()"
    );
    client.execute(&update, &[&id, &status.as_str(), &reason.as_deref()]).await?;
    let now = client.query_opt(&format!("{READ} WHERE id = $1"), &[&id]).await?;
    now.as_ref().map(approval).transpose()
}

/// The waiting approvals, or all.
pub(super) async fn list(client: Client, waiting_only: bool) -> Result<Vec<Approval>, StateError> {
    let select = format!(
        "{READ} WHERE NOT $1::boolean OR (status = 'waiting' AND until > clock_timestamp()) \
         ORDER BY tool_approvals.asked_at, id"
    );
    client.query(&select, &[&waiting_only]).await?.iter().map(approval).collect()
}

fn approval(row: &Row) -> Result<Approval, StateError> {
    Ok(Approval {
        id: row.get("id"),
        caller: row.get("caller"),
        session: row.get("session"),
        op: row.get("op"),
        arguments: json(row.get("arguments"))?,
        fingerprint: row.get("fingerprint"),
        asked_at: row.get("asked_at"),
        until: row.get("until"),
        // An unknown word is not an approval.
        status: row.get::<_, &str>("status").parse().unwrap_or(ApprovalStatus::Denied),
        reason: row.get("reason"),
        hidden: json(row.get("hidden"))?,
        bound: row.get("bound"),
    })
}
