//! Where the servers of clients are, for commands that read them: in what was adopted, in a client's file, or in that of a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::client::{OF_PROJECT, files};
use super::record::Folder;
use super::target::with_servers;
use crate::cli::io::Io;
use toolcrib_catalog::config::Client;
use toolcrib_providers::report::CostReader;

/// An adoption.
pub(in crate::cli) struct Adopted {
    /// The folder of its configuration.
    pub(in crate::cli) folder: PathBuf,
    since: Option<SystemTime>,
}

/// The adoptions, the latest first.
pub(in crate::cli) fn adopted(io: &Io) -> Vec<Adopted> {
    let own = io.user_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("toolcrib"));
    let entries = own.and_then(|own| own.read_dir().ok()).into_iter().flatten().flatten();
    let adoption = |entry: std::fs::DirEntry| {
        let folder = Folder::new(entry.path(), Path::new(""));
        let since = folder.configuration().metadata().and_then(|file| file.modified()).ok();
        folder.record().map(|_| Adopted { folder: folder.path, since })
    };
    let mut all: Vec<Adopted> = entries.filter_map(adoption).collect();
    all.sort_by_key(|adopted| std::cmp::Reverse(adopted.since));
    all
}

/// The client's file whose servers were adopted in this folder.
pub(in crate::cli) fn adopted_file(folder: &Path) -> Option<PathBuf> {
    Some(Folder::record_of(folder)?.file)
}

/// The reader of what the tools in a client's file cost.
pub(in crate::cli) fn reader_of(file: &Path) -> CostReader {
    let client = Client::of_file(&file.file_name().unwrap_or_default().to_string_lossy());
    match client.filter(|client| client.defers) {
        Some(client) => CostReader::DeferringClient(client.title),
        None => CostReader::Client,
    }
}

/// What works otherwise for the servers of this adopted folder than in their client, by name.
pub(in crate::cli) fn differences_at(folder: &Path) -> BTreeMap<String, Vec<String>> {
    Folder::record_of(folder).unwrap_or_default().differences
}

/// The place of the servers of a client with this name: what was adopted of it, else its own file.
pub(in crate::cli) fn of_client(io: &Io, name: &str) -> Option<PathBuf> {
    let client = Client::named(name)?;
    let folder = adopted(io).into_iter().map(|adopted| adopted.folder);
    let mut of_client =
        folder.filter(|folder| folder.file_name().is_some_and(|folder| folder == client.name));
    of_client.next().or_else(|| files(io, client).into_iter().find(|file| with_servers(file)))
}

/// The nearest file of a project with servers, from this folder upward to the user's home.
pub(in crate::cli) fn of_project(io: &Io, here: &Path) -> Option<PathBuf> {
    let home = io.home();
    let folders = here.ancestors().take_while(|folder| home.as_deref() != Some(*folder));
    let mut files = folders.flat_map(|folder| OF_PROJECT.map(|file| folder.join(file)));
    files.find(|file| file.is_file())
}
