//! Files that seeding neither reads nor writes: what is no regular file, and what lies behind a link.

use std::path::{Path, PathBuf};

/// Reading a pipe or a device could block forever.
pub(super) fn refuse_others(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Err(std::io::Error::other("it is not a regular file; move it away"))
        }
        _ => Ok(()),
    }
}

/// Nothing is written through a symbolic link, whoever made it.
pub(super) fn refuse_links(workspace: &Path, name: &str) -> std::io::Result<()> {
    let mut path = PathBuf::from(workspace);
    for part in name.split('/') {
        path.push(part);
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(std::io::Error::other(
                "it is, or lies behind, a symbolic link; replace the link by a file or folder",
            ));
        }
    }
    Ok(())
}
