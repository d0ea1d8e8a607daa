//! A file of a database: its name, and whether it is still the one that was opened.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::state::StateError;

/// Length of the header of a database, in bytes.
pub(super) const HEADER: u64 = 100;

/// A file as it was opened.
#[derive(Debug)]
pub(super) struct FileId {
    pub(super) file: PathBuf,
    inode: Option<u64>,
}

impl FileId {
    pub(super) fn at(file: PathBuf) -> Self {
        Self { inode: std::fs::metadata(&file).ok().map(|metadata| inode(&metadata)), file }
    }

    /// The file, if it exists: where memory cannot be shared, SQLite keeps no log.
    pub(super) fn existing(file: PathBuf) -> Option<Self> {
        Some(Self::at(file)).filter(|id| id.inode.is_some())
    }

    /// Metadata of the file, if it is still in its place.
    pub(super) fn check(&self) -> Result<Metadata, StateError> {
        match std::fs::metadata(&self.file) {
            Err(_) => Err(damaged(&self.file, "removed")),
            Ok(metadata) if Some(inode(&metadata)) != self.inode => Err(damaged(&self.file, "replaced")),
            Ok(metadata) => Ok(metadata),
        }
    }
}

/// A file with this suffix after its name.
pub(super) fn beside(file: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(file);
    path.push(end);
    path.into()
}

/// A file without its folder, which other users need not know.
pub(super) fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The error for a file that cannot be used any more.
pub(super) fn damaged(file: &Path, how: &str) -> StateError {
    StateError::Failed(format!("{} was {how} while it was in use; put it back, or start again", name(file)))
}

/// The inode of a file; on systems without one, whether the file exists.
fn inode(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    return u64::from(metadata.is_file());
}
