//! SQLite: one file, which several processes may share, or memory.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params_from_iter};

use super::database::{Access, Database, Result, Row, SCHEMA, Sql, StateError, Transaction, VERSION};
use toolcrib_definition::guard::locked;
use toolcrib_definition::private_file;

/// Longest wait for another process's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The clock, as SQL.
const NOW_MS: &str = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)";

/// A database of SQLite.
#[derive(Debug)]
pub struct Sqlite {
    /// The file; `None` for memory.
    file: Option<PathBuf>,
    /// Opened at the first use: most runs of the program store nothing.
    connections: OnceLock<Result<Connections>>,
}

#[derive(Debug)]
struct Connections {
    writer: Mutex<Connection>,
    /// Reads wait for no writer; none in memory, which only its own connection sees.
    reader: Option<Mutex<Connection>>,
}

impl Sqlite {
    /// A database in memory.
    pub fn in_memory() -> Self {
        Self { file: None, connections: OnceLock::new() }
    }

    /// Opens a database in a file, which is made if it does not exist.
    pub fn open(file: &Path) -> Result<Self> {
        let database = Self { file: Some(file.into()), connections: OnceLock::new() };
        database.connections()?;
        Ok(database)
    }

    fn connections(&self) -> Result<&Connections> {
        let open = || match &self.file {
            None => {
                Ok(Connections { writer: Mutex::new(migrated(Connection::open_in_memory()?)?), reader: None })
            }
            Some(file) => open(file).map_err(|error| error.at(&file.display().to_string())),
        };
        self.connections.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

impl Database for Sqlite {
    fn run(&self, access: Access, transaction: Transaction<'_>) -> Result<()> {
        let Connections { writer, reader } = self.connections()?;
        if access == Access::Read {
            return transaction(&mut Statements(&locked(reader.as_ref().unwrap_or(writer))));
        }
        let mut db = locked(writer);
        let all = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction(&mut Statements(&all))?;
        all.commit()?;
        if access == Access::Erase && self.file.is_some() {
            // While another process reads, the log stays until the next time.
            let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        self.file.is_none()
    }
}

/// The statements of a transaction.
struct Statements<'c>(&'c Connection);

impl Sql for Statements<'_> {
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare_cached(&sql.replace("NOW_MS", NOW_MS))?;
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        let rows = statement.query_map(params_from_iter(values), row)?;
        Ok(rows.map(|row| row.map(Row::new)).collect::<Result<_, _>>()?)
    }

    /// Only one transaction writes.
    fn lock(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
}

fn open(file: &Path) -> Result<Connections> {
    // Arguments and results are private. An error here is reported when the database is opened.
    let _ = private_file::options().write(true).create_new(true).open(file);
    let writer = patiently(|| migrated(connect(file)?))?;
    Ok(Connections { writer: Mutex::new(writer), reader: Some(Mutex::new(connect(file)?)) })
}

fn connect(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.busy_timeout(LOCK_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(64);
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "FULL")?;
    // Erased content is overwritten.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    Ok(db)
}

/// Two processes that open a new file at the same moment block each other, and SQLite does not make them wait.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(StateError::Busy(_)) if started.elapsed() < LOCK_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
}

/// A database with our schema.
fn migrated(mut db: Connection) -> Result<Connection> {
    let version = |db: &Connection| db.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    if version(&db)? != VERSION {
        let all = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match version(&all)? {
            0 => {
                all.execute_batch(&SCHEMA.replace("NOW_MS", NOW_MS))?;
                all.pragma_update(None, "user_version", VERSION)?;
                all.commit()?;
            }
            VERSION => drop(all),
            other => return Err(StateError::newer(other, VERSION)),
        }
    }
    Ok(db)
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Event, Session, StateStore};

    #[tokio::test]
    async fn a_full_disk_is_told_holds_nobody_up_and_is_over_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let database = Sqlite::open(&folder.path().join("state.db")).unwrap();
        let pages = |db: &Connection| db.pragma_update_and_check(None, "max_page_count", 80, |_| Ok(()));
        pages(&database.connections().unwrap().writer.lock().unwrap()).unwrap();
        let state = StateStore::on(database);
        let started = Instant::now();
        let in_time = || assert!(started.elapsed() < Duration::from_secs(20), "{:?}", state.health());
        let session = Session { caller: "".into(), id: "s".into() };
        let long = serde_json::Value::from("x".repeat(20_000));
        while state.health().problem.is_none() {
            in_time();
            state.record(Event { detail: long.clone(), ..Event::default() });
            let _ = state.flush().await;
        }
        assert_eq!(state.health().lost, 0);
        let refused = state.set_session_context(&session, &vec![long; 3].into()).await.unwrap_err();
        assert!(refused.to_string().contains("full"), "{refused}");
        assert_eq!(state.session_context(&session).await, Ok(None));
        state.delete_older(Duration::ZERO).await.unwrap();
        while state.health().problem.is_some() {
            in_time();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        state.set_session_context(&session, &1.into()).await.unwrap();
    }
}
