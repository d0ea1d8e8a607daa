//! The file with the list of trusted folders: canonical paths and hashes, readable by the user alone.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::exposed;
use crate::private_file::{self, create_folder};

/// The name of the file, in the user's folder of state.
const FILE_NAME: &str = "trusted.json";
/// The name of the lock file, held while the list is read, changed and written.
const LOCK_NAME: &str = "trusted.lock";

/// The trusted folders.
#[derive(Debug, Default)]
pub struct Trusted {
    file: PathBuf,
    /// Hashes of contents, by canonical path.
    folders: BTreeMap<String, String>,
    /// The lock that keeps other programs from changing the file, until this is dropped.
    _lock: Option<fs::File>,
}

impl Trusted {
    /// Reads the list in a folder; empty without a file. A file that other users may write to does not count.
    pub fn open(folder: &Path) -> Result<Trusted, String> {
        let file = folder.join(FILE_NAME);
        let folders = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
            Ok(bytes) => {
                if let Some(problem) = exposed(folder).or_else(|| exposed(&file)) {
                    return Err(format!("no folder is trusted: {problem}"));
                }
                let broken =
                    |error| format!("cannot read {}: {error}; remove it and trust again", file.display());
                serde_json::from_slice(&bytes).map_err(broken)?
            }
        };
        Ok(Trusted { file, folders, _lock: None })
    }

    /// Reads the list in a folder, to change it. Another program that does the same waits until this is dropped.
    pub fn open_to_change(folder: &Path) -> Result<Trusted, String> {
        let failed = |error| format!("cannot write in {}: {error}", folder.display());
        create_folder(folder).map_err(failed)?;
        let lock =
            private_file::options().write(true).create(true).truncate(false).open(folder.join(LOCK_NAME));
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Trusted { _lock: Some(lock), ..Trusted::open(folder)? })
    }

    /// The hash of the content with which a folder was trusted.
    pub fn hash(&self, folder: &str) -> Option<&str> {
        self.folders.get(folder).map(String::as_str)
    }

    /// The folders, in order.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// Trusts a folder with this content.
    pub fn insert(&mut self, folder: String, hash: String) {
        self.folders.insert(folder, hash);
    }

    /// Trusts a folder no longer; whether it was trusted.
    pub fn remove(&mut self, folder: &str) -> bool {
        self.folders.remove(folder).is_some()
    }

    /// Writes the file, whole or not at all.
    pub fn save(&self) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(&self.folders)?;
        text.push('\n');
        private_file::write(&self.file, text.as_bytes())
    }
}
