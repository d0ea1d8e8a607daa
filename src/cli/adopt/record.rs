//! The record of an adoption, from which it is undone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml_edit::DocumentMut;

use super::moved::SECRETS;
use crate::cli::source_table::live_names;
use crate::private_file;

/// The name of the record.
const FILE: &str = ".adopted";
/// The name of the configuration.
pub(super) const CONFIGURATION: &str = "toolcrib.toml";

/// An adoption.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The client's file.
    pub(super) file: PathBuf,
    /// Pointer to the servers in it.
    pub(super) map: String,
    /// The servers that have moved, in their order.
    pub(super) moved: Vec<String>,
    /// Hash of the client's file as the adoption left it.
    pub(super) written: String,
    /// Hash of the configuration as the adoption left it.
    pub(super) configured: String,
}

/// The folder of a client's adoption, below the user's configuration folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// The name of the client's file.
    name: String,
}

impl Folder {
    pub(super) fn new(path: PathBuf, file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { path, name }
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.path.join(CONFIGURATION)
    }

    pub(super) fn secrets(&self) -> PathBuf {
        self.path.join(SECRETS)
    }

    /// The client's file as it was. Its name is none of a definition.
    pub(super) fn backup(&self) -> PathBuf {
        self.path.join(format!("{}.before-toolcrib", self.name))
    }

    /// The record, where there is one.
    pub(super) fn record(&self) -> Option<Record> {
        let text = fs::read_to_string(self.path.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn keep(&self, record: &Record) -> io::Result<()> {
        private_file::write(&self.path.join(FILE), serde_json::to_string_pretty(record)?.as_bytes())
    }

    /// Removes what the adoption has written. The configuration and the secrets stay where somebody has edited it, or where it
    /// has servers besides those that were put back. Whether they stay.
    pub(super) fn clear(&self, record: &Record) -> io::Result<bool> {
        let configuration = fs::read_to_string(self.configuration()).unwrap_or_default();
        let has_only_moved = configuration
            .parse::<DocumentMut>()
            .is_ok_and(|document| live_names(&document).iter().all(|name| record.moved.contains(name)));
        let is_kept =
            !configuration.is_empty() && (hash(&configuration) != record.configured || !has_only_moved);
        let own = [self.backup(), self.path.join(FILE)];
        let whole = [self.configuration(), self.secrets()];
        let leaving = own.iter().chain(whole.iter().filter(|_| !is_kept));
        for file in leaving.filter(|file| file.exists()) {
            fs::remove_file(file)?;
        }
        let _ = fs::remove_dir(&self.path);
        Ok(is_kept)
    }
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
