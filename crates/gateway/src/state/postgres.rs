//! PostgreSQL, for several servers that share it. Leases and ages are measured with its clock, not with the servers'.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use deadpool_postgres::{
    Client, ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod,
    Transaction as Turn,
};
use rusqlite::types::Value;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::database::{Access, Database, Row, SCHEMA, Sql, Transaction, VERSION};
use super::{Result, StateError};

/// Longest wait for a connection, or for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time that other processes may take to make the schema.
const SCHEMA_PATIENCE: Duration = Duration::from_secs(60);

/// Idle time after which a connection is checked for a living peer.
const SILENCE: Duration = Duration::from_secs(10);

/// Advisory lock of a process that makes the schema.
const LOCK: i64 = 0x746f_6f6c_6372_6962;

/// The clock, as SQL.
const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A database of PostgreSQL.
pub(super) struct Postgres {
    pool: Pool,
    has_schema: OnceCell<()>,
    /// Connections need one that goes on while a thread waits for them.
    runtime: Option<Runtime>,
}

impl Postgres {
    /// The database at a URL, over so many connections at most. They are made at their first use.
    pub(super) fn new(url: &str, connections: usize) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| StateError::Failed(format!("PostgreSQL: {error}")))?;
        Ok(Self { pool: pool(url, connections)?, has_schema: OnceCell::new(), runtime: Some(runtime) })
    }

    fn wait<T>(&self, most: Duration, doing: impl Future<Output = Result<T>>) -> Result<T> {
        let late = || StateError::Failed("PostgreSQL did not answer in time".into());
        let runtime = self.runtime.as_ref().ok_or_else(late)?;
        runtime.block_on(async { timeout(most, doing).await.unwrap_or_else(|_| Err(late())) })
    }

    async fn client(&self) -> Result<Client> {
        self.has_schema.get_or_try_init(|| migrate(&self.pool)).await?;
        Ok(self.pool.get().await?)
    }

    fn run_with(&self, client: &mut Client, transaction: Transaction<'_>) -> Result<()> {
        let turn = self.wait(PATIENCE, async { Ok(client.transaction().await?) })?;
        let mut statements = Statements { database: self, turn };
        transaction(&mut statements)?;
        self.wait(PATIENCE, async { Ok(statements.turn.commit().await?) })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("PostgreSQL")
    }
}

impl Database for Postgres {
    /// After a failure, the connection is closed, and so are all idle ones: their server may have gone silent, or have become
    /// read-only while another server took over its address.
    fn run(&self, _: Access, transaction: Transaction<'_>) -> Result<()> {
        let most = if self.has_schema.initialized() { 2 * PATIENCE } else { SCHEMA_PATIENCE };
        let mut client = self.wait(most, self.client())?;
        let done = self.run_with(&mut client, transaction);
        if done.is_err() {
            drop(Client::take(client));
            self.pool.retain(|_, _| false);
        }
        done
    }
}

/// The statements of a transaction.
struct Statements<'c> {
    database: &'c Postgres,
    turn: Turn<'c>,
}

impl Sql for Statements<'_> {
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let sql = sql.replace("NOW_MS", NOW_MS).replace('?', "$");
        let values: Vec<Parameter<'_>> = values.iter().map(Parameter).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.database.wait(PATIENCE, async {
            let statement = self.turn.prepare_cached(&sql).await?;
            self.turn.query(&statement, &values).await?.iter().map(row).collect()
        })
    }

    fn lock(&mut self, name: &str) -> Result<()> {
        self.rows("SELECT pg_advisory_xact_lock(hashtextextended(?1, 0))", &[name.to_string().into()])
            .map(drop)
    }
}

fn row(row: &tokio_postgres::Row) -> Result<Row> {
    let columns = row.columns().iter().enumerate().map(|(index, column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.into(),
            Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map(i64::from).into(),
            Type::BOOL => row.try_get::<_, Option<bool>>(index)?.into(),
            Type::TEXT => row.try_get::<_, Option<String>>(index)?.into(),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.into(),
            _ => Value::Null,
        })
    });
    Ok(Row::new(columns.collect::<Result<_, tokio_postgres::Error>>()?))
}

/// A value of a statement.
#[derive(Debug)]
struct Parameter<'v>(&'v Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, to: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) if *kind == Type::BOOL => (*number != 0).to_sql(kind, to),
            Value::Integer(number) => number.to_sql(kind, to),
            Value::Real(number) => number.to_sql(kind, to),
            // Texts in PostgreSQL have no zero characters.
            Value::Text(text) if text.contains('\0') => text.replace('\0', "").to_sql(kind, to),
            Value::Text(text) => text.to_sql(kind, to),
            Value::Blob(bytes) => bytes.to_sql(kind, to),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Connections to a URL. No error contains the URL, which may hold a password.
fn pool(url: &str, connections: usize) -> Result<Pool> {
    // We always check certificates.
    let url =
        url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    let mut config: Config = url.parse().map_err(|_| {
        StateError::Failed(
            "the PostgreSQL URL cannot be read; it looks like `postgres://user:password@host:5432/database?sslmode=require`, \
             with other signs than letters and digits percent-encoded"
                .into(),
        )
    })?;
    if !url.contains("sslmode=") && config.get_hosts().iter().all(is_local) {
        config.ssl_mode(SslMode::Disable);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(PATIENCE);
    }
    if !url.contains("keepalives") {
        config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 10).keepalives_retries(3);
    }
    if config.get_application_name().is_none() {
        config.application_name("toolcrib");
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, MakeRustlsConnect::new(tls()?), recycling);
    let prepare = Hook::async_fn(|client: &mut ClientWrapper, _| {
        Box::pin(async move {
            // Others wait for the locks of a transaction longer than its process may be silent.
            let limits = "SET statement_timeout = '5s'; SET lock_timeout = '4s'; \
                SET idle_in_transaction_session_timeout = '3s'; SET client_min_messages = warning";
            client.batch_execute(limits).await.map_err(HookError::Backend)
        })
    });
    let pool = Pool::builder(manager)
        .max_size(connections.max(1))
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .recycle_timeout(Some(PATIENCE))
        .post_create(prepare)
        .build();
    pool.map_err(|error| StateError::Failed(format!("PostgreSQL: {error}")))
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn tls() -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.and_then(BuilderVerifierExt::with_platform_verifier);
    config
        .map(|config| config.with_no_client_auth())
        .map_err(|error| StateError::Failed(format!("TLS for PostgreSQL: {error}")))
}

/// Makes our schema where it is missing, while other processes wait. Its connection is closed afterwards.
async fn migrate(pool: &Pool) -> Result<()> {
    let mut client = Client::take(pool.get().await?);
    let all = client.transaction().await?;
    all.batch_execute("SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '60s'").await?;
    all.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    all.batch_execute("CREATE TABLE IF NOT EXISTS toolcrib_schema (version bigint NOT NULL)").await?;
    match all.query_opt("SELECT version FROM toolcrib_schema", &[]).await?.map(|row| row.get::<_, i64>(0)) {
        None => {
            all.batch_execute(&SCHEMA.replace("NOW_MS", NOW_MS).replace(" blob ", " bytea ")).await?;
            all.execute("INSERT INTO toolcrib_schema (version) VALUES ($1)", &[&VERSION]).await?;
            Ok(all.commit().await?)
        }
        Some(VERSION) => Ok(()),
        Some(other) => Err(StateError::newer(other, VERSION)),
    }
}

impl From<PoolError> for StateError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => Self::Failed("PostgreSQL did not answer in time".into()),
            error => Self::Failed(format!("PostgreSQL: {error}")),
        }
    }
}

impl From<tokio_postgres::Error> for StateError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(error) = error.as_db_error() {
            return Self::Failed(format!("PostgreSQL: {} ({})", error.message(), error.code().code()));
        }
        let mut text = format!("PostgreSQL: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self::Failed(text)
    }
}
