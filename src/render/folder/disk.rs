//! Looks at files on disk without ever following a symbolic link inside the folder.

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
    /// A folder.
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
        read_sized(path, size, content).map_err(FolderError::io("read", path))?;
    }
    Ok(entry)
}

/// Writes one file of the user's folder, whole or not at all: it is written beside its place and moved there. The new
/// file has the permissions of the one it replaces.
pub fn write_whole(target: &Path, content: &[u8]) -> io::Result<()> {
    let staged = target.with_file_name(format!(".toolcrib-tmp-{}", std::process::id()));
    // Only this process has this number, so an existing file was left by a process that was killed.
    let _ = fs::remove_file(&staged);
    let write = || {
        let mut file = File::create_new(&staged)?;
        keep_mode(&file, target)?;
        file.write_all(content)
    };
    let written = write().and_then(|()| fs::rename(&staged, target));
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

/// With the size known, a file takes three system calls; they are most of the time of a run that changes nothing.
fn read_sized(path: &Path, size: u64, content: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    let size = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    content.try_reserve_exact(size)?;
    content.resize(size, 0);
    let mut filled = 0;
    while filled < size {
        match file.read(&mut content[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(filled);
    Ok(())
}

/// Makes sure that the root is a folder (or a link to one). Returns whether it exists.
pub(super) fn has_root(root: &Path) -> Result<bool, FolderError> {
    match fs::metadata(root) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(FolderError::NotAFolder { path: root.into() }),
        Err(error) => match look(root)? {
            // Another run has made it meanwhile.
            Entry::Folder => Ok(true),
            Entry::Missing if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Entry::Missing => Err(FolderError::io("read", root)(error)),
            // A folder cannot be created through a broken link.
            _ => Err(FolderError::NotAFolder { path: root.into() }),
        },
    }
}

/// Whether two names are one file: on a file system that ignores case, `list.md` finds the old `List.md`.
#[cfg(unix)]
pub(super) fn is_one_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(one), Ok(other)) = (fs::symlink_metadata(one), fs::symlink_metadata(other)) else { return false };
    // With several links, they could be two names that the user gave the file.
    one.is_file() && one.nlink() == 1 && (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub(super) fn is_one_file(one: &Path, other: &Path) -> bool {
    !other.is_symlink()
        && matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
