//! Folders that the operator has trusted, by their path and by the content that decides which programs run.
//!
//! 1. [`Content`] is that content of a workspace: its hash, and the programs, addresses and variables in it.
//! 2. [`exposed`] reports whether other users may change it.
//! 3. [`Trusted`] stores the hashes in a file of the user.

mod content;
mod store;

use std::path::Path;

pub use content::Content;
pub use store::Trusted;

/// Reason why other users may change the content at a path, if they may.
#[cfg(unix)]
pub fn exposed(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    let owner = metadata.uid();
    let shown = path.display();
    if metadata.mode() & 0o002 != 0 {
        Some(format!("everybody may write to {shown}; take that away with `chmod o-w`"))
    } else if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        Some(format!("{shown} belongs to another user; copy it, so that it is yours"))
    } else {
        None
    }
}

/// Other systems have no such permission bits.
#[cfg(not(unix))]
pub fn exposed(_: &Path) -> Option<String> {
    None
}
