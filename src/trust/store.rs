//! The file that remembers which folders are trusted: canonical paths and hashes, readable by the user alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::exposed;

/// The name of the file, in the user's folder of state.
const FILE_NAME: &str = "trusted.json";
/// The name of the file that is locked while the other is read, changed and written.
const LOCK_NAME: &str = "trusted.lock";

/// The folders that are trusted.
#[derive(Debug, Default)]
pub struct Trusted {
    file: PathBuf,
    /// Hashes of contents, by canonical path.
    folders: BTreeMap<String, String>,
    /// The lock that keeps other programs from changing the file, until this is dropped.
    _lock: Option<fs::File>,
}

impl Trusted {
    /// Reads what is remembered in a folder; nothing is, where there is no file. A file that others may write to does
    /// not count.
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

    /// Reads what is remembered in a folder, to change it. Another program that does the same waits for the end of this.
    pub fn open_to_change(folder: &Path) -> Result<Trusted, String> {
        let failed = |error| format!("cannot write in {}: {error}", folder.display());
        create_folder(folder).map_err(failed)?;
        let lock = create(&folder.join(LOCK_NAME), true).map_err(failed)?;
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
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut text = serde_json::to_string_pretty(&self.folders)?;
        text.push('\n');
        let staged = folder.join(format!("{FILE_NAME}.{}", std::process::id()));
        let written =
            create(&staged, false).and_then(|mut file| file.write_all(text.as_bytes()).and(file.sync_all()));
        let moved = written.and_then(|()| fs::rename(&staged, &self.file));
        if moved.is_err() {
            let _ = fs::remove_file(&staged);
        }
        moved
    }
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Opens a file that the user alone may read; one that is there is an error unless it `may_exist`.
fn create(file: &Path, may_exist: bool) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).create_new(!may_exist);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}
