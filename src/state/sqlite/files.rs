//! The files of a database: whether they are those that were opened, and whole. SQLite goes on writing to a file that
//! nobody else can find any more, and what is written there ends with the process.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::time::SystemTime;

use rusqlite::Connection;

use super::file_id::{FileId, HEADER, beside, damaged, name};
use super::open::DatabasePath;
use super::seal::Seal;
use crate::state::StateError;

/// How long the header of a log is, and that of each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Bytes that the disk must take before it is written to again after a failure: a call with a key takes a few pages.
const ROOM_BYTES: usize = 64 << 10;

/// What a log begins with; the last bit says in which order its bytes are.
const LOG_MAGIC: u32 = 0x377f_0682;

/// All files of a database.
#[derive(Debug)]
pub(super) struct Files {
    database: FileId,
    log: Option<FileId>,
    index: Option<FileId>,
    seal: Option<Seal>,
    /// To be closed after the connection: closing it ends the locks that this process has on the database.
    opened: File,
    header: Header,
    largest: u64,
    changed: Option<SystemTime>,
}

impl Files {
    /// The files of a place, once they are there; memory has none.
    pub(super) fn of(place: &DatabasePath) -> Result<Option<Self>, StateError> {
        let DatabasePath::File(file) = place else { return Ok(None) };
        let opened =
            File::open(file).and_then(|opened| Ok((Header::of(&opened)?, opened.metadata()?, opened)));
        let (header, told, opened) =
            opened.map_err(|error| StateError(format!("{}: {error}", name(file))))?;
        Ok(Some(Self {
            database: FileId::at(file.clone()),
            log: FileId::existing(beside(file, "-wal")),
            index: FileId::existing(beside(file, "-shm")),
            seal: None,
            opened,
            header,
            largest: told.len(),
            changed: told.modified().ok(),
        }))
    }

    /// Whether what is written is found by others, and after a restart.
    pub(super) fn check(&mut self, db: &Connection) -> Result<(), StateError> {
        let told = self.database.check()?;
        self.is_whole(&told)?;
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
        written.map_err(|error| StateError(format!("{}: {error}", name(&self.database.file))))
    }

    /// Whether a durable transaction may have this number.
    pub(super) fn may_become(&self, number: i64) -> Result<(), StateError> {
        self.seal.as_ref().map_or(Ok(()), |seal| seal.precedes(number))
    }

    /// Takes note of a durable transaction.
    pub(super) fn became(&mut self, number: i64) {
        if let Some(seal) = &mut self.seal {
            seal.set(number);
        }
    }

    /// The header is looked at after each change of the file, which only a checkpoint makes.
    fn is_whole(&mut self, told: &Metadata) -> Result<(), StateError> {
        let (length, changed) = (told.len(), told.modified().ok());
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

    /// Whether the log has what SQLite has written there.
    fn has_log(&self, db: &Connection) -> Result<(), StateError> {
        let Some(log) = &self.log else { return Ok(()) };
        let told = match log.check() {
            Ok(told) => told,
            Err(error) => {
                if !log.file.exists() {
                    // SQLite still has it open: what it holds is brought to the database.
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
        if told.len() < LOG_HEADER + frames * (FRAME_HEADER + self.header.page()) {
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

/// What a database begins with.
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

    /// How long a page is.
    fn page(&self) -> u64 {
        match self.number(16) >> 16 {
            1 => 65_536,
            bytes => bytes,
        }
    }

    /// How long the file is to be.
    fn bytes(&self) -> u64 {
        self.number(28).saturating_mul(self.page()).max(HEADER)
    }

    /// Whether it is of the same format, and its changes are counted on.
    fn follows(&self, before: &Self) -> bool {
        self.0[..20] == before.0[..20] && self.number(24) >= before.number(24)
    }
}
