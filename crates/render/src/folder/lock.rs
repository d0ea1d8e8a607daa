//! The lock of a folder, for one writer at a time.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::disk::{Entry, look};
use super::error::FolderError;

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
