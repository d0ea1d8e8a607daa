//! Data of sessions, and stored results.

use deadpool_postgres::Client;
use serde_json::Value;

use super::{json, plain};
use crate::state::{Session, StateError, StoredResult};

pub(super) async fn give(
    client: Client,
    session: &Session,
    op: &str,
    version: &str,
) -> Result<(), StateError> {
    let insert = client
        .prepare_cached(
            "INSERT INTO session_docs (caller, session, op, doc_version, at) VALUES ($1, $2, $3, $4, clock_timestamp()) \
             ON CONFLICT (caller, session, op) DO UPDATE SET doc_version = excluded.doc_version, at = excluded.at",
        )
        .await?;
    let (caller, id) = (&*plain(&session.caller), &*plain(&session.id));
    client.execute(&insert, &[&caller, &id, &&*plain(op), &&*plain(version)]).await?;
    Ok(())
}

pub(super) async fn given(client: Client, session: &Session, op: &str) -> Result<Option<String>, StateError> {
    let select = client
        .prepare_cached("SELECT doc_version FROM session_docs WHERE caller = $1 AND session = $2 AND op = $3")
        .await?;
    let (caller, id) = (&*plain(&session.caller), &*plain(&session.id));
    let row = client.query_opt(&select, &[&caller, &id, &&*plain(op)]).await?;
    Ok(row.map(|row| row.get(0)))
}

pub(super) async fn context(client: Client, session: &Session) -> Result<Option<Value>, StateError> {
    let select = client
        .prepare_cached("SELECT context FROM session_contexts WHERE caller = $1 AND session = $2")
        .await?;
    let (caller, id) = (&*plain(&session.caller), &*plain(&session.id));
    let row = client.query_opt(&select, &[&caller, &id]).await?;
    row.map(|row| json(row.get(0))).transpose()
}

pub(super) async fn change_context(
    client: Client,
    session: &Session,
    context: &Value,
) -> Result<(), StateError> {
    let insert = "INSERT INTO session_contexts (caller, session, context, at) VALUES ($1, $2, $3, clock_timestamp()) \
                  ON CONFLICT (caller, session) DO UPDATE SET context = excluded.context, at = excluded.at";
    let (caller, id) = (&*plain(&session.caller), &*plain(&session.id));
    client.execute(insert, &[&caller, &id, &context.to_string()]).await?;
    Ok(())
}

pub(super) async fn keep(client: Client, result: &StoredResult) -> Result<(), StateError> {
    client.execute("DELETE FROM tool_results WHERE until < clock_timestamp()", &[]).await?;
    let insert = "INSERT INTO tool_results (id, caller, text, until) \
                  VALUES ($1, $2, $3, to_timestamp($4::bigint / 1000.0)) ON CONFLICT (id) DO UPDATE \
                  SET caller = excluded.caller, text = excluded.text, until = excluded.until";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
        [&result.id, &&*plain(&result.caller), &result.text.as_bytes(), &result.until];
    client.execute(insert, &values).await?;
    Ok(())
}

pub(super) async fn kept(client: Client, caller: &str, id: &str) -> Result<Option<StoredResult>, StateError> {
    let select = "SELECT id, caller, text, (extract(epoch FROM until) * 1000)::bigint AS until_ms FROM tool_results \
                  WHERE caller = $1 AND id = $2 AND until > clock_timestamp()";
    let row = client.query_opt(select, &[&&*plain(caller), &&*plain(id)]).await?;
    Ok(row.map(|row| StoredResult {
        id: row.get("id"),
        caller: row.get("caller"),
        text: String::from_utf8_lossy(row.get("text")).into_owned(),
        until: row.get("until_ms"),
    }))
}
