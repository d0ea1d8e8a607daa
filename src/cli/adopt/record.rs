//! The record of an adoption, from which it is undone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item};

use toolcrib_definition::private_file;
use toolcrib_render::folder::UNFINISHED;

/// The file of secrets.
const SECRETS: &str = "secrets.env";

/// The name of the record.
const FILE: &str = ".adopted";
/// The name of its state.
const STATE: &str = "state.db";
/// The name of the configuration.
const CONFIGURATION: &str = "toolcrib.toml";
/// The folder in a project for what is one person's alone. Its own file keeps it out of git.
const OF_ONE_PERSON: &str = ".toolcrib";
const IGNORE: &str = ".gitignore";
const IGNORED: &str = "*\n!.gitignore\n";

/// An adoption.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// What works otherwise for each server than in its client, one line each.
    #[serde(default)]
    pub(super) differences: BTreeMap<String, Vec<String>>,
}

/// The folder of a client's adoption, below the user's configuration folder or in a project.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// The folder of a project's file, in which the configuration lies for the whole team.
    shared: Option<PathBuf>,
    /// The name of the client's file.
    name: String,
}

impl Folder {
    pub(super) fn new(path: PathBuf, file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { path, shared: None, name }
    }

    /// The folder for the file of a project: the configuration is beside it, and the rest is one person's alone.
    pub(super) fn of_project(file: &Path) -> Self {
        let around = file.parent().unwrap_or(file);
        Self { shared: Some(around.to_path_buf()), ..Self::new(around.join(OF_ONE_PERSON), file) }
    }

    /// The record of the adoption with this catalog.
    pub(super) fn record_of(catalog: &Path) -> Option<Record> {
        let folders = [catalog.to_path_buf(), catalog.join(OF_ONE_PERSON)];
        folders.into_iter().find_map(|path| Self::new(path, Path::new("")).record())
    }

    /// The folder with the configuration.
    pub(super) fn catalog(&self) -> &Path {
        self.shared.as_deref().unwrap_or(&self.path)
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.catalog().join(CONFIGURATION)
    }

    /// The file of secrets and the state, as the configuration names them.
    pub(super) fn names_of_private(&self) -> [String; 2] {
        let below = self.shared.as_ref().map(|_| format!("{OF_ONE_PERSON}/")).unwrap_or_default();
        [SECRETS, STATE].map(|name| format!("{below}{name}"))
    }

    /// Keeps the files of one person out of git.
    pub(super) fn hide_from_git(&self) -> io::Result<()> {
        match self.shared {
            Some(_) => private_file::write(&self.path.join(IGNORE), IGNORED.as_bytes()),
            None => Ok(()),
        }
    }

    pub(super) fn secrets(&self) -> PathBuf {
        self.path.join(SECRETS)
    }

    /// The state, with what was called and approved; it stays when the adoption is undone.
    pub(super) fn state(&self) -> PathBuf {
        self.path.join(STATE)
    }

    /// A copy of the client's file. Its extension keeps it from being read as definitions.
    pub(super) fn backup(&self) -> PathBuf {
        self.path.join(format!("{}.before-toolcrib", self.name))
    }

    /// The files of an adoption, with their content.
    pub(super) fn content(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let files = [self.configuration(), self.secrets(), self.backup(), self.path.join(FILE)];
        files.into_iter().map(|file| (file.clone(), fs::read(file).ok())).collect()
    }

    /// Removes files that a killed run has left unfinished, here and beside the client's file; they can hold secrets.
    pub(super) fn clean(&self, client_file: &Path) {
        let remove = |folder: &Path, is_unfinished: fn(&str) -> bool| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let left = entries.filter(|entry| is_unfinished(&entry.file_name().to_string_lossy()));
            left.for_each(|entry| drop(fs::remove_file(entry.path())));
        };
        remove(&self.path, |name| name.starts_with('.') && name.ends_with(".new"));
        if let Some(folder) = client_file.parent() {
            remove(folder, |name| name.starts_with(UNFINISHED));
        }
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
        // The record goes last, so that a killed run can be repeated.
        let own = [self.backup(), self.path.join(FILE)];
        let whole = if is_kept { Vec::new() } else { vec![self.configuration(), self.secrets()] };
        let leaving = whole.iter().chain(&own);
        for file in leaving.filter(|file| file.exists()) {
            fs::remove_file(file)?;
        }
        if self.shared.is_some() && fs::read_dir(&self.path)?.count() == 1 {
            let _ = fs::remove_file(self.path.join(IGNORE));
        }
        let _ = fs::remove_dir(&self.path);
        Ok(is_kept)
    }
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Names of the sources that are live servers.
pub(super) fn live_names(document: &DocumentMut) -> Vec<String> {
    let sources = document.get("source").and_then(Item::as_array_of_tables);
    let live = sources.into_iter().flatten().filter(|source| source.contains_key("mcp"));
    live.filter_map(|source| Some(source.get("server")?.as_str()?.to_string())).collect()
}
