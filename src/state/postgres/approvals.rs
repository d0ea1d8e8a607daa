//! Calls that wait for a person.

use deadpool_postgres::Client;
use tokio_postgres::Row;

use super::{json, plain, told};
use crate::state::{Approval, ApprovalStatus, StateError};

const READ: &str = "SELECT id, caller, session, op, arguments, fingerprint, status, reason, \
                    (extract(epoch FROM asked_at) * 1000)::bigint AS asked_at, \
                    (extract(epoch FROM until) * 1000)::bigint AS until FROM tool_approvals";

/// Puts a call in the queue, unless it is there.
pub(super) async fn ask(mut client: Client, request: &Approval) -> Result<Approval, StateError> {
    let (caller, op) = (&*plain(&request.caller), &*plain(&request.op));
    let session = request.session.as_deref().map(plain);
    let turn = client.transaction().await.map_err(told)?;
    // Two that ask for the same at the same moment wait for each other.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))";
    turn.execute(lock, &[&caller, &request.fingerprint]).await.map_err(told)?;
    let select = format!(
        "{READ} WHERE caller = $1 AND fingerprint = $2 AND status <> 'used' AND until > clock_timestamp() \
         ORDER BY tool_approvals.asked_at DESC, id LIMIT 1"
    );
    let there = turn.query_opt(&select, &[&caller, &request.fingerprint]).await.map_err(told)?;
    if let Some(there) = there {
        return approval(&there);
    }
    let insert = "INSERT INTO tool_approvals \
                  (id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason) VALUES \
                  ($1, $2, $3, $4, $5, $6, to_timestamp($7::bigint / 1000.0), to_timestamp($8::bigint / 1000.0), $9, $10) \
                  ON CONFLICT DO NOTHING";
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
        ],
    )
    .await
    .map_err(told)?;
    turn.commit().await.map_err(told)?;
    Ok(request.clone())
}

/// Uses an approval up.
pub(super) async fn take(client: Client, id: &str) -> Result<bool, StateError> {
    let update = "UPDATE tool_approvals SET status = 'used' \
                  WHERE id = $1 AND status = 'approved' AND until > clock_timestamp()";
    Ok(client.execute(update, &[&&*plain(id)]).await.map_err(told)? == 1)
}

/// Says yes or no.
pub(super) async fn decide(
    client: Client,
    id: &str,
    yes: bool,
    reason: Option<&str>,
) -> Result<Option<Approval>, StateError> {
    let (id, reason) = (&*plain(id), reason.map(plain));
    let status = if yes { ApprovalStatus::Approved } else { ApprovalStatus::Denied };
    let update = "UPDATE tool_approvals SET status = $2, reason = $3 \
                  WHERE id = $1 AND status = 'waiting' AND until > clock_timestamp()";
    client.execute(update, &[&id, &status.as_str(), &reason.as_deref()]).await.map_err(told)?;
    let now = client.query_opt(&format!("{READ} WHERE id = $1"), &[&id]).await.map_err(told)?;
    now.as_ref().map(approval).transpose()
}

/// Those that wait, or all.
pub(super) async fn list(client: Client, waiting_only: bool) -> Result<Vec<Approval>, StateError> {
    let select = format!(
        "{READ} WHERE NOT $1::boolean OR (status = 'waiting' AND until > clock_timestamp()) \
         ORDER BY tool_approvals.asked_at, id"
    );
    client.query(&select, &[&waiting_only]).await.map_err(told)?.iter().map(approval).collect()
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
        // A word that we do not know is no yes.
        status: ApprovalStatus::parse(row.get("status")).unwrap_or(ApprovalStatus::Denied),
        reason: row.get("reason"),
    })
}
