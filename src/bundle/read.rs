//! Reads a bundle: its table at once, each part when it is asked for.

use std::fs::File;
use std::io;

use super::{CHECKSUM, ENTRY, FORMAT, HEAD, MAGIC, VERSION, checksum};

/// A bundle that is open. The file is never mapped, so that a file that is cut short is an error and no crash.
#[derive(Debug)]
pub struct Bundle {
    bytes: Bytes,
    table: Vec<Entry>,
    version: blake3::Hash,
}

/// The bytes of a bundle, in a file or in memory.
#[derive(Debug)]
enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

/// Place and checksum of a part.
#[derive(Debug)]
struct Entry {
    offset: u64,
    length: u64,
    checksum: [u8; CHECKSUM],
}

/// Reason why a bundle, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file is something else.
    #[error("the file is no bundle of toolcrib")]
    Foreign,
    /// Another version of toolcrib wrote it.
    #[error("the bundle has format {0}, and this toolcrib reads format {FORMAT}; build it again")]
    OtherFormat(u32),
    /// Bytes are missing or were changed.
    #[error("the bundle is torn: its table does not fit its content")]
    Torn,
    /// A part was changed.
    #[error("part {0} of the bundle was changed: its checksum does not fit")]
    Changed(usize),
    /// There is no such part.
    #[error("the bundle has no part {0}")]
    NoPart(usize),
    /// A part has the right checksum and not the right content.
    #[error("the bundle cannot be read: {0}")]
    Invalid(String),
}

impl Bundle {
    /// Most bytes of a bundle.
    pub const MAX_BYTES: u64 = 4 << 30;

    /// A bundle in an open file, with its table checked.
    pub fn of_file(file: File) -> Result<Self, BundleError> {
        let length = file.metadata()?.len();
        Self::of(Bytes::File(file), length)
    }

    /// A bundle in memory, with its table checked.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, BundleError> {
        let length = bytes.len() as u64;
        Self::of(Bytes::Memory(bytes), length)
    }

    fn of(bytes: Bytes, length: u64) -> Result<Self, BundleError> {
        if length < (HEAD + VERSION) as u64 || length > Self::MAX_BYTES {
            return Err(BundleError::Foreign);
        }
        let mut head = [0; HEAD];
        bytes.read(0, &mut head)?;
        if &head[..8] != MAGIC {
            return Err(BundleError::Foreign);
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if number(8) != FORMAT {
            return Err(BundleError::OtherFormat(number(8)));
        }
        let table_end = HEAD as u64 + u64::from(number(12)) * ENTRY as u64;
        if table_end + VERSION as u64 > length {
            return Err(BundleError::Torn);
        }
        let mut top = vec![0; table_end as usize + VERSION];
        bytes.read(0, &mut top)?;
        let (covered, written) = top.split_at(table_end as usize);
        let version = blake3::hash(covered);
        if version.as_bytes() != written {
            return Err(BundleError::Torn);
        }
        let table: Vec<Entry> = covered[HEAD..].chunks_exact(ENTRY).map(Entry::read).collect();
        let end = table.iter().try_fold(table_end + VERSION as u64, |at, entry| {
            (entry.offset == at).then(|| at.checked_add(entry.length)).flatten()
        });
        if end == Some(length) { Ok(Self { bytes, table, version }) } else { Err(BundleError::Torn) }
    }

    /// The hash of its content, in hexadecimal digits.
    pub fn version(&self) -> String {
        self.version.to_hex().to_string()
    }

    /// Number of its parts.
    pub fn parts(&self) -> usize {
        self.table.len()
    }

    /// Bytes of a part; none for a number without a part.
    pub fn length(&self, number: usize) -> u64 {
        self.table.get(number).map_or(0, |entry| entry.length)
    }

    /// The bytes of a part, with their checksum checked.
    pub fn part(&self, number: usize) -> Result<Vec<u8>, BundleError> {
        let entry = self.table.get(number).ok_or(BundleError::NoPart(number))?;
        let mut part = vec![0; entry.length as usize];
        self.bytes.read(entry.offset, &mut part)?;
        if checksum(&part) == entry.checksum { Ok(part) } else { Err(BundleError::Changed(number)) }
    }

    /// Checks every part.
    pub fn verify(&self) -> Result<(), BundleError> {
        (0..self.parts()).try_for_each(|number| self.part(number).map(drop))
    }
}

impl Entry {
    fn read(bytes: &[u8]) -> Self {
        let number =
            |at: usize| bytes[at..at + 8].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let mut checksum = [0; CHECKSUM];
        checksum.copy_from_slice(&bytes[16..]);
        Self { offset: number(0), length: number(8), checksum }
    }
}

impl Bytes {
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(into.len());
                into.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_exact_at(file, into, offset),
            #[cfg(not(unix))]
            Self::File(file) => {
                use std::io::{Read, Seek, SeekFrom};
                // A handle of its own, since the position of one is shared by all its readers.
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(into)
            }
        }
    }
}
