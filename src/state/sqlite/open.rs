//! Opens a database, and updates it to our schema.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::seal::Seal;
use crate::private_file;
use crate::state::StateError;

/// Longest wait of a write for another process's.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Every step of the schema, in order.
const MIGRATIONS: [&str; 4] = [
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
];

/// Place of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DatabasePath {
    /// In memory.
    Memory,
    /// In a file.
    File(PathBuf),
}

impl DatabasePath {
    /// Opens it.
    pub(super) fn open(&self) -> Result<Connection, StateError> {
        match self {
            DatabasePath::Memory => {
                let db = Connection::open_in_memory().and_then(|mut db| migrate(&mut db).map(|_| db));
                db.map_err(|error| StateError::Failed(format!("no database in memory: {error}")))
            }
            DatabasePath::File(file) => {
                let says = |problem: String| StateError::Failed(format!("{}: {problem}", file.display()));
                // SQLite would take the remaining file for a new database, and remove its log.
                Seal::refutes(file)?;
                let mut db = patiently(|| open_file(file)).map_err(|error| says(error.to_string()))?;
                match patiently(|| migrate(&mut db)).map_err(|error| says(error.to_string()))? {
                    Schema::Known => Ok(db),
                    Schema::Newer(version) => {
                        let ours = MIGRATIONS.len();
                        Err(StateError::Newer(format!(
                            "{}: it was written by a newer toolcrib (schema {version}, this one knows {ours}); update \
                             toolcrib, or use another file",
                            file.display()
                        )))
                    }
                }
            }
        }
    }
}

/// Two processes that open a new file at the same moment block each other, and SQLite does not make them wait.
fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && started.elapsed() < LOCK_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn open_file(file: &Path) -> rusqlite::Result<Connection> {
    create_for_us_alone(file);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_CREATE)?;
    db.busy_timeout(LOCK_TIMEOUT)?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // Erased content is overwritten.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    Ok(db)
}

/// Makes the file readable by this user alone, since arguments and results are private. An error here is reported
/// when the database is opened.
fn create_for_us_alone(file: &Path) {
    let _ = private_file::options().write(true).create_new(true).open(file);
}

enum Schema {
    Known,
    Newer(usize),
}

fn migrate(db: &mut Connection) -> rusqlite::Result<Schema> {
    let version = |db: &Connection| db.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    if version(db)? == MIGRATIONS.len() as i64 {
        return Ok(Schema::Known);
    }
    let steps = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&steps)?).unwrap_or(usize::MAX);
    if done > MIGRATIONS.len() {
        return Ok(Schema::Newer(done));
    }
    for migration in &MIGRATIONS[done..] {
        steps.execute_batch(migration)?;
    }
    steps.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    steps.commit()?;
    Ok(Schema::Known)
}
