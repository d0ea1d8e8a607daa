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

/// Longest time in which a process that makes a file gives it content.
const BEING_MADE: Duration = Duration::from_secs(10);

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
    /// `None` where nobody may write.
    writer: Option<Mutex<Connection>>,
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
                let memory = migrated(Connection::open_in_memory()?)?;
                Ok(Connections { writer: Some(Mutex::new(memory)), reader: None })
            }
            Some(file) => open(file).map_err(|error| error.at(&file.display().to_string())),
        };
        self.connections.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

impl Database for Sqlite {
    fn run(&self, access: Access, transaction: Transaction<'_>) -> Result<()> {
        let Connections { writer, reader } = self.connections()?;
        let read_only =
            || StateError::Failed("nobody may write to it: its file or folder is read-only".into());
        if access == Access::Read {
            let db = reader.as_ref().or(writer.as_ref()).ok_or_else(read_only)?;
            return transaction(&mut Statements(&locked(db)));
        }
        let mut db = locked(writer.as_ref().ok_or_else(read_only)?);
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
    if private_file::options().write(true).create_new(true).open(file).is_err() && is_emptied(file) {
        return Err(StateError::Other(
            "it is empty, so what was stored there is lost; remove the file to begin anew".into(),
        ));
    }
    let writer = match patiently(|| migrated(connect(file)?)) {
        Err(StateError::ReadOnly(_)) => {
            return Ok(Connections { writer: None, reader: Some(Mutex::new(connect_to_read(file)?)) });
        }
        writer => Some(Mutex::new(writer?)),
    };
    Ok(Connections { writer, reader: Some(Mutex::new(connect(file)?)) })
}

/// Whether a file has no content, and is not one that another process has just made.
fn is_emptied(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    let age = about.modified().ok().and_then(|time| time.elapsed().ok());
    about.is_file() && about.len() == 0 && age.is_none_or(|age| age > BEING_MADE)
}

/// A connection to a file that nobody may write to. What another process has not moved into the file yet is read only if its log can be.
fn connect_to_read(file: &Path) -> Result<Connection> {
    let path = file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |mode: &str| -> Result<Connection> {
        let db = Connection::open_with_flags(format!("file:{path}?{mode}"), flags)?;
        version(&db).map(|_| db)
    };
    match open("mode=ro") {
        Err(StateError::ReadOnly(_) | StateError::Failed(_)) => open("immutable=1"),
        opened => opened,
    }
}

fn connect(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.busy_timeout(LOCK_TIMEOUT)?;
    version(&db)?;
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

/// The version of a database, which is empty or has our tables. Nothing is changed.
fn version(db: &Connection) -> Result<i64> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let is_ours = number("SELECT count(*) FROM sqlite_master")? == 0
        || number("SELECT count(*) FROM sqlite_master WHERE name = 'tool_executions'")? == 1;
    match number("PRAGMA user_version")? {
        _ if !is_ours => Err(StateError::foreign()),
        known @ (0 | VERSION) => Ok(known),
        other => Err(StateError::newer(other, VERSION)),
    }
}

/// A database with our schema.
fn migrated(mut db: Connection) -> Result<Connection> {
    if version(&db)? != VERSION {
        let all = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match version(&all)? {
            0 => {
                all.execute_batch(&SCHEMA.replace("NOW_MS", NOW_MS))?;
                all.pragma_update(None, "user_version", VERSION)?;
                all.commit()?;
            }
            _ => drop(all),
        }
    }
    Ok(db)
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error.to_string()),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Event, Session, StateStore};

    #[test]
    fn a_file_that_is_not_ours_or_was_emptied_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, sql: &str| {
            let file = folder.path().join(name);
            Connection::open(&file).unwrap().execute_batch(sql).unwrap();
            let before = std::fs::read(&file).unwrap();
            let refused = Sqlite::open(&file).unwrap_err().to_string();
            assert!(std::fs::read(&file).unwrap() == before, "{refused}");
            refused
        };
        for (name, sql) in [
            ("a", "CREATE TABLE moz_places (id)"),
            ("b", "CREATE TABLE x (id); PRAGMA user_version = 2"),
            ("c", "CREATE TABLE x (id); PRAGMA user_version = 77"),
        ] {
            assert!(of(name, sql).contains("a database of another program"));
        }
        let newer = format!("{}; PRAGMA user_version = 77", SCHEMA.replace("NOW_MS", NOW_MS));
        assert!(of("d", &newer).contains("a newer toolcrib"));
        let emptied = folder.path().join("emptied");
        let file = std::fs::File::create(&emptied).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(Sqlite::open(&emptied).unwrap_err().to_string().contains("it is empty"));
        std::fs::File::create(folder.path().join("new")).unwrap();
        Sqlite::open(&folder.path().join("new")).unwrap();
    }

    #[tokio::test]
    async fn what_nobody_may_write_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state ?#%.db");
        let session = Session { caller: "".into(), id: "s".into() };
        let state = StateStore::on(Sqlite::open(&file).unwrap());
        state.set_session_context(&session, &7.into()).await.unwrap();
        drop(state);
        let reader = Some(Mutex::new(connect_to_read(&file).unwrap()));
        let connections = OnceLock::from(Ok(Connections { writer: None, reader }));
        let state = StateStore::on(Sqlite { file: Some(file), connections });
        assert_eq!(state.session_context(&session).await, Ok(Some(7.into())));
        let refused = state.set_session_context(&session, &8.into()).await.unwrap_err();
        assert!(refused.to_string().contains("read-only"), "{refused}");
    }

    #[tokio::test]
    async fn a_full_disk_is_told_holds_nobody_up_and_is_over_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let database = Sqlite::open(&folder.path().join("state.db")).unwrap();
        let pages = |db: &Connection| db.pragma_update_and_check(None, "max_page_count", 80, |_| Ok(()));
        pages(&database.connections().unwrap().writer.as_ref().unwrap().lock().unwrap()).unwrap();
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
