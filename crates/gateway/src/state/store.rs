//! The store of state. Its operations are in a file for each kind of state.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rusqlite::types::Value;
use tokio::task::spawn_blocking;

use super::database::{Access, Database, Result, Row, Sql, StateError};
use super::recorder::{Health, Recorder};
use super::sqlite::Sqlite;
use super::wait_budget::waited;

#[derive(Debug)]
pub struct StateStore {
    database: Arc<dyn Database>,
    pub(super) recorder: Recorder,
    /// Bytes of answers and contexts since those over the bounds were deleted.
    pub(super) stored: AtomicUsize,
}

impl StateStore {
    /// State in memory, until the process ends.
    pub fn in_memory() -> Self {
        Self::on(Sqlite::in_memory())
    }

    /// State in this file, which is made if it does not exist.
    pub fn open(file: &Path) -> Result<Self> {
        Ok(Self::on(Sqlite::open(file)?))
    }

    /// State at this URL of PostgreSQL. The connection is made at the first use.
    #[cfg(feature = "postgres")]
    pub fn postgres(url: &str, connections: usize) -> Result<Self> {
        Ok(Self::on(super::postgres::Postgres::new(url, connections)?))
    }

    /// State in this database.
    pub fn on(database: impl Database + 'static) -> Self {
        let database: Arc<dyn Database> = Arc::new(database);
        Self { recorder: Recorder::new(Arc::clone(&database)), database, stored: AtomicUsize::new(0) }
    }

    /// Runs a transaction on a thread that may block, within the time that the call may wait for state.
    pub async fn ask<T: Send + 'static>(
        &self,
        access: Access,
        mut run: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let database = Arc::clone(&self.database);
        let asking = spawn_blocking(move || {
            let mut answer = None;
            database.run(access, &mut |sql| run(sql).map(|value| answer = Some(value)))?;
            answer.ok_or_else(|| StateError::Failed("the database is closed".into()))
        });
        let answer = waited(async {
            match asking.await {
                Ok(answer) => answer,
                Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                Err(error) => Err(StateError::Failed(error.to_string())),
            }
        });
        let answer = answer.await;
        if let Err(error) = &answer {
            self.recorder.failed(error);
        }
        answer
    }

    /// Runs a transaction of one statement.
    pub(super) async fn rows(
        &self,
        access: Access,
        sql: &str,
        values: impl Into<Vec<Value>>,
    ) -> Result<Vec<Row>> {
        let statement = sql.to_string();
        let values = values.into();
        self.ask(access, move |sql| sql.rows(&statement, &values)).await
    }

    /// Whether it can be written to, as far as is known.
    pub fn health(&self) -> Health {
        self.recorder.health()
    }
}
