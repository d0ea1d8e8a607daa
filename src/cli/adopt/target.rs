//! A client's file, with the folder to which its servers move.

use std::path::{Path, PathBuf};

use super::client::{OF_PROJECT, client_of_file, files};
use super::client_text::{map_of, syntax_mistake};
use super::record::{Folder, Record, hash};
use crate::cli::error::{CommandError, failed};
use crate::cli::io::Io;
use toolcrib_catalog::config::{self, CLIENTS, Client};

/// A client's file, with the folder to which its servers move.
pub(super) struct Target {
    /// Its name, for commands and folders.
    pub(super) called: String,
    /// The client, for people.
    pub(super) title: String,
    /// Whether the file belongs to one project, in which its servers run.
    pub(super) is_of_project: bool,
    /// The project whose team shares the file.
    pub(super) project: Option<PathBuf>,
    pub(super) file: PathBuf,
    pub(super) folder: Folder,
}

impl Target {
    /// The file within its project.
    pub(super) fn name_in_project(&self) -> Option<String> {
        Some(self.file.strip_prefix(self.project.as_ref()?).ok()?.to_string_lossy().into_owned())
    }

    /// The configuration, as the client's file names it.
    pub(super) fn named_configuration(&self) -> String {
        let configuration = self.folder.configuration();
        let within = self.project.as_ref().and_then(|project| configuration.strip_prefix(project).ok());
        match within {
            // Claude Code, whose file is not in a folder of its own, starts servers in the project.
            Some(path) if path.components().count() == 1 => path.to_string_lossy().into_owned(),
            Some(path) => format!("${{workspaceFolder}}/{}", path.to_string_lossy()),
            None => configuration.to_string_lossy().into_owned(),
        }
    }
}

/// The command that undoes an adoption.
pub(super) fn undo_command(target: &Target) -> String {
    format!("toolcrib adopt {} --undo", target.called)
}

/// The file of a client or the file with this name; `own` is the folder of all adoptions. To undo one, its record counts.
pub(super) fn target_of(io: &Io, own: &Path, name: &str, is_undo: bool) -> Result<Target, CommandError> {
    let of_client = |client: &Client, file: PathBuf| Target {
        called: client.name.to_string(),
        title: client.title.to_string(),
        is_of_project: false,
        project: None,
        folder: Folder::new(own.join(client.name), &file),
        file,
    };
    if let Some(client) = Client::named(name) {
        let adopted = || Folder::new(own.join(client.name), Path::new("")).record();
        let file = match if is_undo { adopted() } else { None } {
            Some(record) => record.file,
            None => file_of(io, client, own)?,
        };
        return Ok(of_client(client, file));
    }
    let Ok(file) = Path::new(name).canonicalize() else {
        if let Some((folder, record)) = is_undo.then(|| adopted_from(own, name)).flatten() {
            let called = record.file.to_string_lossy().into_owned();
            let file = record.file;
            return Ok(Target {
                title: called.clone(),
                called,
                is_of_project: true,
                project: None,
                folder,
                file,
            });
        }
        let clients: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        let message = format!("there is no client or file {name}; clients are: {}", clients.join(", "));
        return Err(CommandError::Usage(message));
    };
    if let Some(client) = client_of_file(io, &file) {
        return Ok(of_client(client, file));
    }
    let folder_of = config::read(&file).root;
    let is_hidden = folder_of.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let project = match folder_of.parent() {
        Some(around) if is_hidden => around,
        _ => &folder_of,
    };
    let title = file.to_string_lossy().into_owned();
    if OF_PROJECT.iter().any(|name| project.join(name) == file) {
        let project = Some(project.to_path_buf());
        let folder = Folder::of_project(&file);
        return Ok(Target { called: title.clone(), title, is_of_project: true, project, folder, file });
    }
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
    let folder = own.join(format!("{name}-{}", &hash(&file.to_string_lossy())[..8]));
    let folder = Folder::new(folder, &file);
    Ok(Target { called: title.clone(), title, is_of_project: true, project: None, folder, file })
}

/// The adoption of a file that is not there any more, with its folder.
fn adopted_from(own: &Path, name: &str) -> Option<(Folder, Record)> {
    let file = std::path::absolute(name).ok()?;
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let real = folder.zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let folders =
        own.read_dir().into_iter().flatten().flatten().map(|entry| Folder::new(entry.path(), &file));
    let mut records = [Folder::of_project(real.as_ref().unwrap_or(&file))]
        .into_iter()
        .chain(folders)
        .filter_map(|folder| Some((folder.clone(), folder.record()?)));
    records.find(|(_, record)| record.file == file || Some(&record.file) == real.as_ref())
}

/// Whether a client's file has servers.
pub(super) fn with_servers(file: &Path) -> bool {
    map_of(&config::read(file)).is_some()
}

/// The file of a client: the first one with servers, otherwise an adopted one, otherwise a broken one.
fn file_of(io: &Io, client: &Client, own: &Path) -> Result<PathBuf, CommandError> {
    let files = files(io, client);
    let there: Vec<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
    let is_adopted = |file: &&PathBuf| {
        let record = Folder::new(own.join(client.name), file).record();
        record.is_some_and(|record| record.file == **file)
    };
    let adopted = || files.iter().find(is_adopted).or_else(|| there.iter().find(is_adopted));
    // A broken file is not skipped, so that its mistake is reported.
    let is_broken = |file: &&PathBuf| syntax_mistake(&config::read(file)).is_some();
    let broken = || there.iter().find(is_broken);
    let found = there.iter().find(|file| with_servers(file)).or_else(adopted).or_else(broken);
    found.cloned().ok_or_else(|| {
        let looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        failed(format!(
            "no servers of {} were found in {}; name the file: toolcrib adopt FILE",
            client.title,
            looked.join(", ")
        ))
    })
}
