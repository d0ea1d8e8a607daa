//! Files that only their owner can read.

use std::path::Path;
use std::{fs, io};

use crate::render::folder::write_whole;

/// Writes a file that only its owner can read.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        // An existing file gives its permissions to the one that replaces it.
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true).mode(0o600).open(file)?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
    }
    write_whole(file, text.as_bytes())
}
