//! The seal: a file beside the database with the number of its durable transactions. SQLite takes a database without
//! its `-wal` as complete; a database whose number is behind its seal has lost data. The seal is written after each
//! durable transaction and never synced, so that after a power failure it may be behind the database, and never
//! ahead.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::file_id::{FileId, HEADER, beside, name};
use crate::private_file;
use crate::state::StateError;

/// An open seal.
#[derive(Debug)]
pub(super) struct Seal {
    id: FileId,
    file: File,
    database: String,
    number: i64,
    /// Whether the last transaction is not written here yet.
    is_behind: bool,
}

impl Seal {
    /// Opens the seal of a database, unless the database is behind it. A missing seal is made.
    pub(super) fn open(database: &Path, db: &Connection) -> Result<Self, StateError> {
        let path = path(database);
        let (own, number) = db.query_row("SELECT id, changes FROM tool_state WHERE one = 1", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })?;
        let opened = open_file(&path).and_then(|file| Ok((read(&file)?, file)));
        let (sealed, file) = opened.map_err(|error| unwritable(&path, &error))?;
        if let Some((id, sealed)) = sealed {
            let missing = sealed.saturating_sub(number);
            if id != own {
                return Err(lost(&path, "is not the database that was used here last"));
            }
            if missing > 0 {
                let what = format!(
                    "lacks its last {missing} changes: its -wal was lost, or an older copy was put here"
                );
                return Err(lost(&path, &what));
            }
        }
        let mut seal = Self { id: FileId::at(path), file, database: own, number, is_behind: true };
        seal.check()?;
        Ok(seal)
    }

    /// Whether the seal counts more transactions than so short a database file can hold.
    pub(super) fn refutes(database: &Path) -> Result<(), StateError> {
        let length = std::fs::metadata(database).map_or(0, |metadata| metadata.len());
        let path = path(database);
        match length < HEADER && path.exists() {
            true if length == 0 && !database.exists() => Err(lost(&path, "was removed")),
            true => Err(lost(&path, "was cut off")),
            false => Ok(()),
        }
    }

    /// Whether a transaction with this number comes after all known ones.
    pub(super) fn precedes(&self, number: i64) -> Result<(), StateError> {
        match number > self.number {
            true => Ok(()),
            false => Err(lost(&self.id.file, "was replaced by an older copy while it was in use")),
        }
    }

    /// Records a durable transaction.
    pub(super) fn set(&mut self, number: i64) {
        self.number = number;
        // If this cannot be written, the next check reports it.
        self.is_behind = self.write().is_err();
    }

    /// Checks that the seal exists and has the right content.
    pub(super) fn check(&mut self) -> Result<(), StateError> {
        self.id.check()?;
        if self.is_behind {
            self.write()?;
            self.is_behind = false;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), StateError> {
        let written = self.file.lock().and_then(|()| {
            // Another process may be ahead.
            let known = read(&self.file)?.filter(|(id, _)| *id == self.database);
            match known.is_some_and(|(_, number)| number >= self.number) {
                true => Ok(()),
                false => write(&self.file, &format!("{} {:020}\n", self.database, self.number)),
            }
        });
        let unlocked = self.file.unlock();
        written.and(unlocked).map_err(|error| unwritable(&self.id.file, &error))
    }
}

fn path(database: &Path) -> PathBuf {
    beside(database, "-seal")
}

fn open_file(path: &Path) -> io::Result<File> {
    private_file::options().read(true).write(true).create(true).truncate(false).open(path)
}

/// The database id and the number of a seal; `None` for a new one.
fn read(mut file: &File) -> io::Result<Option<(String, i64)>> {
    let mut text = String::new();
    file.rewind()?;
    file.take(256).read_to_string(&mut text)?;
    if text.is_empty() {
        return Ok(None);
    }
    let parts =
        text.trim_end().split_once(' ').and_then(|(id, number)| Some((id.to_string(), number.parse().ok()?)));
    parts.map(Some).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is no seal"))
}

fn write(mut file: &File, text: &str) -> io::Result<()> {
    file.rewind()?;
    file.write_all(text.as_bytes())
}

fn unwritable(path: &Path, error: &io::Error) -> StateError {
    StateError::Failed(format!("{} cannot be read and written: {error}", name(path)))
}

/// The error of a database that does not match its seal, with a way to continue.
fn lost(seal: &Path, what: &str) -> StateError {
    let seal = name(seal);
    let database = seal.strip_suffix("-seal").unwrap_or(&seal);
    StateError::Failed(format!(
        "{database} {what}; put back what was there, or remove {seal} to go on with what is left (calls whose keys are lost \
         can run again)"
    ))
}
