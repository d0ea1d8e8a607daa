//! Checks the files of a database: whether they are still the opened ones, and complete. SQLite goes on writing to a
//! file that was removed or replaced, and such writes are lost when the process ends.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::time::SystemTime;

use rusqlite::Connection;

use super::file_id::{FileId, HEADER, beside, damaged, name};
use super::open::DatabasePath;
use super::seal::Seal;
use crate::state::StateError;

/// Length of the header of a log, and of the header of each page in it, in bytes.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Bytes that the disk must take before it is written to again after a failure: a call with a key takes a few pages.
const ROOM_BYTES: usize = 64 << 10;

/// First bytes of a log; the last bit gives its byte order.
const LOG_MAGIC: u32 = 0x377f_0682;

/// All files of a database.
#[derive(Debug)]
pub(super) struct Files {
    database: FileId,
    log: Option<FileId>,
    index: Option<FileId>,
    seal: Option<Seal>,
    /// Closed after the connection: closing it ends the locks of this process on the database.
    opened: File,
    header: Header,
    largest: u64,
    changed: Option<SystemTime>,
}

impl Files {
    /// The files of a place, once they exist; memory has none.
    pub(super) fn of(place: &DatabasePath) -> Result<Option<Self>, StateError> {
        let DatabasePath::File(file) = place else { return Ok(None) };
        let opened =
            File::open(file).and_then(|opened| Ok((Header::of(&opened)?, opened.metadata()?, opened)));
        let (header, metadata, opened) =
            opened.map_err(|error| StateError::Failed(format!("{}: {error}", name(file))))?;
        Ok(Some(Self {
            database: FileId::at(file.clone()),
            log: FileId::existing(beside(file, "-wal")),
            index: FileId::existing(beside(file, "-shm")),
            seal: None,
            opened,
            header,
            largest: metadata.len(),
            changed: metadata.modified().ok(),
        }))
    }

    /// Whether other processes, and this one after a restart, will find the writes.
    pub(super) fn check(&mut self, db: &Connection) -> Result<(), StateError> {
        let metadata = self.database.check()?;
        self.is_whole(&metadata)?;
        self.has_log(db)?;
        if let Some(index) = &self.index {
            index.check()?;
        }
        match &mut self.seal {
            Some(seal) => seal.check(),
            None => {
                self.seal = Some(Seal::open(&self.database.file, db)?);
                Ok(())
            }
        }
    }

    /// Finds out whether the disk takes what a call with a key may write. SQLite writes over its log, so that a small write
    /// succeeds on a full disk, and the next one fails.
    pub(super) fn has_room(&self) -> Result<(), StateError> {
        let file = beside(&self.database.file, "-room");
        let _ = std::fs::remove_file(&file);
        let written = File::create_new(&file)
            .and_then(|mut opened| opened.write_all(&[0; ROOM_BYTES]).and_then(|()| opened.sync_all()));
        let _ = std::fs::remove_file(&file);
        written.map_err(|error| StateError::Failed(format!("{}: {error}", name(&self.database.file))))
    }

    /// Whether a durable transaction may have this number.
    pub(super) fn may_become(&self, number: i64) -> Result<(), StateError> {
        self.seal.as_ref().map_or(Ok(()), |seal| seal.precedes(number))
    }

    /// Records a durable transaction.
    pub(super) fn became(&mut self, number: i64) {
        if let Some(seal) = &mut self.seal {
            seal.set(number);
        }
    }

    /// The header is checked after each change of the file, which only a checkpoint makes.
    fn is_whole(&mut self, metadata: &Metadata) -> Result<(), StateError> {
        let (length, changed) = (metadata.len(), metadata.modified().ok());
        if length == self.largest && changed == self.changed {
            return Ok(());
        }
        let cut = || damaged(&self.database.file, "cut off");
        let header = Header::of(&self.opened).map_err(|_| cut())?;
        if length < self.largest && length < header.bytes() {
            return Err(cut());
        }
        if !header.follows(&self.header) {
            return Err(damaged(&self.database.file, "overwritten"));
        }
        (self.header, self.largest, self.changed) = (header, length, changed);
        Ok(())
    }

    /// Whether the log has the content that SQLite wrote.
    fn has_log(&self, db: &Connection) -> Result<(), StateError> {
        let Some(log) = &self.log else { return Ok(()) };
        let metadata = match log.check() {
            Ok(metadata) => metadata,
            Err(error) => {
                if !log.file.exists() {
                    // SQLite still has it open: its content is moved to the database.
                    let _ = db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                }
                return Err(error);
            }
        };
        let mut asked = db.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
        let frames: i64 = asked.query_row([], |row| row.get(1))?;
        let frames = u64::try_from(frames).unwrap_or(0);
        if frames == 0 {
            return Ok(());
        }
        if metadata.len() < LOG_HEADER + frames * (FRAME_HEADER + self.header.page()) {
            return Err(damaged(&log.file, "cut off"));
        }
        let mut magic = [0; 4];
        let read = File::open(&log.file).and_then(|mut log| log.read_exact(&mut magic));
        match read.is_ok() && u32::from_be_bytes(magic) & !1 == LOG_MAGIC {
            true => Ok(()),
            false => Err(damaged(&log.file, "overwritten")),
        }
    }
}

/// First bytes of a database.
#[derive(Debug)]
struct Header([u8; 32]);

impl Header {
    fn of(mut file: &File) -> io::Result<Self> {
        let mut bytes = [0; 32];
        file.rewind()?;
        file.read_exact(&mut bytes)?;
        Ok(Self(bytes))
    }

    fn number(&self, at: usize) -> u64 {
        self.0[at..].iter().take(4).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Length of a page, in bytes.
    fn page(&self) -> u64 {
        match self.number(16) >> 16 {
            1 => 65_536,
            bytes => bytes,
        }
    }

    /// Length that the file must have, in bytes.
    fn bytes(&self) -> u64 {
        self.number(28).saturating_mul(self.page()).max(HEADER)
    }

    /// Whether it has the same format, and a change counter that is not behind.
    fn follows(&self, before: &Self) -> bool {
        self.0[..20] == before.0[..20] && self.number(24) >= before.number(24)
    }
}
