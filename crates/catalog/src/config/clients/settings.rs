//! The settings of a client that lie next to its file with servers.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::read_client_text;
use super::table::{CLIENTS, ClientPlace};

/// The settings of a client next to one of its files.
#[derive(Default)]
pub(super) struct Settings {
    /// The content of each file.
    pub(super) files: Vec<Value>,
    /// Whether they are read for one project.
    pub(super) are_of_project: bool,
}

/// The settings next to the file of this name in the folder `root`. One that cannot be read is an error, since it could switch
/// a server off.
pub(super) fn settings_of(file: &str, root: &Path) -> Result<Settings, String> {
    let Some(client) = CLIENTS.iter().find(|client| client.has_file(file) && !client.settings.is_empty())
    else {
        return Ok(Settings::default());
    };
    let folder = std::path::absolute(root).unwrap_or_default();
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let home = home.unwrap_or_else(|| folder.clone());
    let read = |place: &ClientPlace| {
        let below = if matches!(place, ClientPlace::Home(_)) { &home } else { &folder };
        let path = below.join(place.path());
        let text = std::fs::read_to_string(&path).ok()?;
        let read = read_client_text(&path, &path.to_string_lossy(), &text);
        let problem = |_| format!("{} cannot be read, which can switch it off", path.display());
        Some(read.map(|document| document.value).map_err(problem))
    };
    let others = client.settings.iter().filter(|place| place.path() != file);
    let files = others.filter_map(read).collect::<Result<_, String>>()?;
    Ok(Settings { files, are_of_project: client.project_file == Some(file) })
}
