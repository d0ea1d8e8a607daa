//! Looks at files on disk without ever following a symbolic link inside the folder; and one writer at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::manifest::FolderError;

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
        // With the size known, a file takes three system calls; they are most of the time of a run that changes nothing.
        let reserved = content.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
        let read = reserved.map_err(io::Error::from).and_then(|()| File::open(path));
        read.and_then(|file| file.take(size).read_to_end(content)).map_err(FolderError::io("read", path))?;
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

/// Waits until no other run writes to the folder, and makes others wait until the file is dropped or the process ends.
/// The folder is created if it does not exist.
pub fn lock(root: &Path) -> Result<File, FolderError> {
    if !has_root(root)? {
        fs::create_dir_all(root).map_err(FolderError::io("create", root))?;
    }
    // Unix can lock the folder itself on local file systems; a lock leaves nothing in it.
    let lock = |file: File| file.lock().map(|()| file);
    File::open(root).and_then(lock).or_else(|_| lock_beside(root)).map_err(FolderError::io("lock", root))
}

/// Waits until no run writes to the folder, where that is possible without writing anything.
pub(super) fn lock_shared(root: &Path) -> Result<Option<File>, FolderError> {
    let lock = |file: File| file.lock_shared().map(|()| file);
    Ok(if has_root(root)? { File::open(root).and_then(lock).ok() } else { None })
}

/// On other systems: locks a file that stands for the folder, in the system's folder for temporary files.
fn lock_beside(root: &Path) -> io::Result<File> {
    let id = blake3::hash(root.canonicalize()?.as_os_str().as_encoded_bytes()).to_hex();
    let path = std::env::temp_dir().join(format!("toolcrib-{}.lock", &id[..32]));
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Makes sure that the root is a folder (or a link to one). Returns whether it exists.
fn has_root(root: &Path) -> Result<bool, FolderError> {
    match fs::metadata(root) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Err(error) if look(root)? == Entry::Missing => match error.kind() {
            io::ErrorKind::NotFound => Ok(false),
            _ => Err(FolderError::io("read", root)(error)),
        },
        // A folder cannot be created through a broken link.
        _ => Err(FolderError::NotAFolder { path: root.into() }),
    }
}
