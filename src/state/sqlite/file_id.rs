//! One file of a database: its name, and whether it is still the one that was opened.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::state::StateError;

/// How long the header of a database is.
pub(super) const HEADER: u64 = 100;

/// A file that was opened.
#[derive(Debug)]
pub(super) struct FileId {
    pub(super) file: PathBuf,
    inode: Option<u64>,
}

impl FileId {
    pub(super) fn at(file: PathBuf) -> Self {
        Self { inode: std::fs::metadata(&file).ok().map(|told| inode(&told)), file }
    }

    /// One that there is: where memory cannot be shared, SQLite keeps no log.
    pub(super) fn existing(file: PathBuf) -> Option<Self> {
        Some(Self::at(file)).filter(|id| id.inode.is_some())
    }

    /// What is known of it, if it is still where it was.
    pub(super) fn check(&self) -> Result<Metadata, StateError> {
        match std::fs::metadata(&self.file) {
            Err(_) => Err(damaged(&self.file, "removed")),
            Ok(told) if Some(inode(&told)) != self.inode => Err(damaged(&self.file, "replaced")),
            Ok(told) => Ok(told),
        }
    }
}

/// A file whose name goes on like this.
pub(super) fn beside(file: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(file);
    path.push(end);
    path.into()
}

/// A file without its folder, which is nobody else's business.
pub(super) fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Why a file cannot be used any more.
pub(super) fn damaged(file: &Path, how: &str) -> StateError {
    StateError(format!("{} was {how} while it was in use; put it back, or start again", name(file)))
}

/// The number of a file; where files have none, whether it is one.
fn inode(told: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(told);
    #[cfg(not(unix))]
    return u64::from(told.is_file());
}
