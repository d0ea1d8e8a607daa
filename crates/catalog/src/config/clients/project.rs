//! The project around a client's file: the folder in which its servers run, and the settings that restrict them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{PLUGIN_FOLDER, read_client_text};
use super::format::ClientFormat;
use super::problem::EntryProblem;
use super::table::{CLIENTS, Client, ClientPlace};

/// The project of a client's file.
pub(super) struct Project {
    /// Its folder, absolute.
    pub(super) folder: PathBuf,
    /// The folder of the plugin that the file belongs to, absolute; else the folder of the file.
    pub(super) plugin: PathBuf,
    /// Whether the file lies in a folder of the client's own.
    pub(super) is_around: bool,
    /// Whether the client counts timeouts in seconds.
    pub(super) counts_seconds: bool,
    /// Whether the file is for this project alone, and so are the rules of the client's settings.
    pub(super) has_rules: bool,
}

impl Project {
    /// The project of a file with this name and format in the folder `root`.
    pub(super) fn of(root: &Path, file: &str, format: &ClientFormat) -> Self {
        let mut root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        if root.ends_with(".kiro/settings") {
            root.pop();
        }
        let plugin = plugin_around(&root).unwrap_or(&root).to_path_buf();
        let is_in_own = |client: &&Client| client.project_folder.is_some_and(|folder| root.ends_with(folder));
        let own = CLIENTS.iter().find(is_in_own);
        let mut named = CLIENTS.iter().filter(|client| client.has_file(file)).chain(own);
        let counts_seconds = format.counts_seconds || named.any(|client| client.counts_seconds);
        let is_in_plugin = root.ends_with(PLUGIN_FOLDER);
        let is_around = (own.is_some() || is_in_plugin) && root.parent().is_some();
        if is_around {
            root.pop();
        }
        let has_rules = CLIENTS.iter().any(|client| client.project_file == Some(file));
        Self { folder: root, plugin, is_around, counts_seconds, has_rules }
    }

    /// The path of a file of this folder.
    pub(super) fn file(&self, file: &str) -> String {
        if file.starts_with("${") {
            file.into()
        } else {
            self.folder.join(file).to_string_lossy().into_owned()
        }
    }

    /// A program as it is started from this folder.
    pub(super) fn program(&self, program: String) -> String {
        // A drive of Windows, whatever system this is.
        let is_on_drive = program.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"));
        let is_beside =
            self.is_around && program.contains(['/', '\\']) && !program.contains("${") && !is_on_drive;
        let path = Path::new(&program);
        let joined = (is_beside && path.is_relative()).then(|| self.folder.join(path));
        joined.map_or(program, |path| path.to_string_lossy().into_owned())
    }
}

/// The nearest folder around a file with the manifest of a plugin.
fn plugin_around(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| above.join(PLUGIN_FOLDER).join("plugin.json").is_file())
}

/// The content of the settings next to the file of this name in the folder `root`. A file that cannot be read is an error, since it could switch
/// a server off.
pub(super) fn settings_of(file: &str, root: &Path) -> Result<Vec<Value>, EntryProblem> {
    let Some(client) = CLIENTS.iter().find(|client| client.has_file(file) && !client.settings.is_empty())
    else {
        return Ok(Vec::new());
    };
    let folder = std::path::absolute(root).unwrap_or_default();
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let home = home.unwrap_or_else(|| folder.clone());
    let read = |place: &ClientPlace| {
        let below = if matches!(place, ClientPlace::Home(_)) { &home } else { &folder };
        let path = below.join(place.path());
        let text = std::fs::read_to_string(&path).ok()?;
        let read = read_client_text(&path, &path.to_string_lossy(), &text);
        Some(read.map(|document| document.value).map_err(|_| EntryProblem::Settings(path)))
    };
    let others = client.settings.iter().filter(|place| place.path() != file);
    others.filter_map(read).collect()
}
