//! People who are signed in to the pages, or are about to be.

use deadpool_postgres::Client;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::plain;
use crate::state::{MAX_SIGN_IN_ATTEMPTS, SignIn, StateError};

/// The columns of a sign-in, with its end in milliseconds of Unix time.
const COLUMNS: &str = "id, is_attempt, data, (extract(epoch FROM until) * 1000)::bigint AS until_ms";

pub(super) async fn store(client: Client, sign_in: &SignIn) -> Result<(), StateError> {
    client.execute("DELETE FROM sign_ins WHERE until <= clock_timestamp()", &[]).await?;
    // Strangers can begin attempts: the ones beyond the limit that end first make room.
    let oldest = "DELETE FROM sign_ins WHERE is_attempt AND until <= \
                  (SELECT until FROM sign_ins WHERE is_attempt ORDER BY until DESC LIMIT 1 OFFSET $1)";
    client.execute(oldest, &[&MAX_SIGN_IN_ATTEMPTS]).await?;
    let insert = "INSERT INTO sign_ins (id, is_attempt, data, until) \
                  VALUES ($1, $2, $3, to_timestamp($4::bigint / 1000.0))";
    let data = &*plain(&sign_in.data);
    let values: [&(dyn ToSql + Sync); 4] = [&sign_in.id, &sign_in.is_attempt, &data, &sign_in.until];
    client.execute(insert, &values).await?;
    Ok(())
}

pub(super) async fn find(client: Client, id: &str) -> Result<Option<SignIn>, StateError> {
    let select = format!("SELECT {COLUMNS} FROM sign_ins WHERE id = $1 AND until > clock_timestamp()");
    let select = client.prepare_cached(&select).await?;
    let row = client.query_opt(&select, &[&&*plain(id)]).await?;
    Ok(row.as_ref().map(sign_in))
}

pub(super) async fn take(client: Client, id: &str) -> Result<Option<SignIn>, StateError> {
    let delete = format!(
        "DELETE FROM sign_ins WHERE id = $1 RETURNING {COLUMNS}, until > clock_timestamp() AS is_valid"
    );
    let row = client.query_opt(&delete, &[&&*plain(id)]).await?;
    Ok(row.filter(|row| row.get("is_valid")).as_ref().map(sign_in))
}

fn sign_in(row: &Row) -> SignIn {
    SignIn {
        id: row.get("id"),
        is_attempt: row.get("is_attempt"),
        data: row.get("data"),
        until: row.get("until_ms"),
    }
}
