//! One writer at a time: a lock that ends with the process and leaves nothing in the folder.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::error::FolderError;

/// Waits until no other run writes to the folder. The lock ends when the file is dropped.
pub(super) fn exclusive(root: &Path) -> Result<File, FolderError> {
    folder(root, File::lock).or_else(|_| beside(root)).map_err(FolderError::io("lock", root))
}

/// Waits until no run writes to the folder, where that is possible without writing anything.
pub(super) fn shared(root: &Path) -> Option<File> {
    folder(root, File::lock_shared).ok()
}

/// Locks the folder itself, which Unix can do on local file systems.
fn folder(root: &Path, lock: fn(&File) -> io::Result<()>) -> io::Result<File> {
    loop {
        let file = File::open(root)?;
        lock(&file)?;
        if is_still(&file, root)? {
            return Ok(file);
        }
    }
}

/// Whether the root was not replaced while we waited.
#[cfg(unix)]
fn is_still(file: &File, root: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, now) = (file.metadata()?, std::fs::metadata(root)?);
    Ok((ours.dev(), ours.ino()) == (now.dev(), now.ino()))
}

#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// On other systems: locks a file that stands for the folder, in the system's folder for temporary files.
fn beside(root: &Path) -> io::Result<File> {
    let id = blake3::hash(root.canonicalize()?.as_os_str().as_encoded_bytes()).to_hex();
    let path = std::env::temp_dir().join(format!("toolcrib-{}.lock", &id[..32]));
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}
