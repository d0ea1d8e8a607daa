//! People who are signed in to the pages.

use deadpool_postgres::Client;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::plain;
use crate::state::{SignIn, StateError};

/// The columns of a sign-in, with its end in milliseconds of Unix time.
const COLUMNS: &str = "id, data, (extract(epoch FROM until) * 1000)::bigint AS until_ms";

pub(super) async fn store(client: Client, sign_in: &SignIn) -> Result<(), StateError> {
    client.execute("DELETE FROM sign_ins WHERE until <= clock_timestamp()", &[]).await?;
    let insert = "INSERT INTO sign_ins (id, data, until) VALUES ($1, $2, to_timestamp($3::bigint / 1000.0))";
    let data = &*plain(&sign_in.data);
    let values: [&(dyn ToSql + Sync); 3] = [&sign_in.id, &data, &sign_in.until];
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
    SignIn { id: row.get("id"), data: row.get("data"), until: row.get("until_ms") }
}
