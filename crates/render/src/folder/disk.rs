//! Files and folders on disk: looked at without ever following a symbolic link, and written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use super::error::FolderError;

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nothing.
    Missing,
    /// A regular file and its size.
    File(u64),
    Folder,
    /// A symbolic link to anything or nothing.
    Link,
    /// A device, a pipe or the like; reading it could wait forever.
    Other,
}

/// The kind of a path; a symbolic link is not followed.
pub(super) fn look(path: &Path) -> Result<Entry, FolderError> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(Entry::Missing),
        Err(error) => return Err(FolderError::io("read", path)(error)),
    };
    let kind = meta.file_type();
    Ok(if kind.is_file() {
        Entry::File(meta.len())
    } else if kind.is_dir() {
        Entry::Folder
    } else if kind.is_symlink() {
        Entry::Link
    } else {
        Entry::Other
    })
}

/// Reads a regular file into `content`, which stays empty for anything else.
pub(super) fn read(path: &Path, content: &mut Vec<u8>) -> Result<Entry, FolderError> {
    content.clear();
    let entry = look(path)?;
    if let Entry::File(size) = entry {
        // With the size known, a file takes three system calls; they are most of the time of a run that changes nothing.
        let reserved = content.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
        let read = reserved.map_err(io::Error::from).and_then(|()| File::open(path));
        read.and_then(|file| file.take(size).read_to_end(content)).map_err(FolderError::io("read", path))?;
    }
    Ok(entry)
}

/// The beginning of the name of a file that is being written.
pub const UNFINISHED: &str = ".toolcrib-tmp-";

/// Writes one file of the user's folder, whole or not at all: it is written beside its place and moved there. The new
/// file has the permissions of the one it replaces.
pub fn write_whole(target: &Path, content: &[u8]) -> io::Result<()> {
    replace_whole(target, content, || Ok(()))
}

/// The same for a file that others write too: `check` runs right before the new file takes its place, and may refuse it.
pub fn replace_whole(
    target: &Path,
    content: &[u8],
    check: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let staged = target.with_file_name(format!("{UNFINISHED}{}", std::process::id()));
    // Only this process has this number, so an existing file was left by a process that was killed.
    let _ = fs::remove_file(&staged);
    let write = || {
        let mut file = File::create_new(&staged)?;
        keep_mode(&file, target)?;
        file.write_all(content)
    };
    let written = write().and_then(|()| check()).and_then(|()| fs::rename(&staged, target));
    if written.is_err() {
        let _ = fs::remove_file(&staged);
    }
    written
}

/// Gives a new, still empty file the permissions of the file that it is to replace.
#[cfg(unix)]
pub(super) fn keep_mode(file: &File, replaced: &Path) -> io::Result<()> {
    match fs::symlink_metadata(replaced) {
        Ok(meta) if meta.is_file() => file.set_permissions(meta.permissions()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn keep_mode(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}
