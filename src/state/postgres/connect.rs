//! Connections: the configured URL, TLS, timeouts, and the schema.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, IsolationLevel};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::state::StateError;

/// Longest wait for a connection, or for an answer.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Most connections of one process.
const CONNECTIONS: usize = 8;

/// Every step of the schema, in order.
const MIGRATIONS: [&str; 4] = [
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
];

/// Advisory lock of a process that changes the schema.
const LOCK: i64 = 0x746f_6f6c_6372_6962;

/// Connections to a URL. No connection is made yet, and no error contains the URL, which may hold a password.
pub(super) fn pool(url: &str) -> Result<Pool, StateError> {
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
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("toolcrib");
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, MakeRustlsConnect::new(tls()?), recycling);
    let prepare = Hook::async_fn(|client: &mut ClientWrapper, _| {
        Box::pin(async move {
            let limits =
                "SET statement_timeout = '5s'; SET lock_timeout = '4s'; SET client_min_messages = warning";
            client.batch_execute(limits).await.map_err(HookError::Backend)
        })
    });
    let pool = Pool::builder(manager)
        .max_size(CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .recycle_timeout(Some(CONNECT_TIMEOUT))
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

fn tls() -> Result<ClientConfig, StateError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.and_then(BuilderVerifierExt::with_platform_verifier);
    config
        .map(|config| config.with_no_client_auth())
        .map_err(|error| StateError::Failed(format!("TLS for PostgreSQL: {error}")))
}

/// Updates the database to our schema, while other processes wait.
pub(super) async fn migrate(pool: &Pool) -> Result<(), StateError> {
    let mut client = pool.get().await?;
    let steps = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let steps = steps.start().await?;
    let begin = "SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '60s'";
    steps.batch_execute(begin).await?;
    steps.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let table = "CREATE TABLE IF NOT EXISTS toolcrib_schema (version int NOT NULL)";
    steps.batch_execute(table).await?;
    let version = steps.query_opt("SELECT max(version) FROM toolcrib_schema", &[]).await?;
    let version = version.and_then(|row| row.get::<_, Option<i32>>(0)).unwrap_or(0);
    let done = usize::try_from(version).unwrap_or(0);
    if done > MIGRATIONS.len() {
        let ours = MIGRATIONS.len();
        return Err(StateError::Newer(format!(
            "the PostgreSQL database was written by a newer toolcrib (schema {done}, this one knows {ours}); update \
             toolcrib, or use another database"
        )));
    }
    if done == MIGRATIONS.len() {
        return Ok(());
    }
    for migration in &MIGRATIONS[done..] {
        steps.batch_execute(migration).await?;
    }
    let now = MIGRATIONS.len() as i32;
    steps.execute("DELETE FROM toolcrib_schema", &[]).await?;
    steps.execute("INSERT INTO toolcrib_schema (version) VALUES ($1)", &[&now]).await?;
    Ok(steps.commit().await?)
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
