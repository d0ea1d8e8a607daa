//! The settings of a client that lie next to its file with servers.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::read_client_text;
use super::table::{CLIENTS, ClientPlace};

/// The content of the settings next to the file of this name in the folder `root`. A file that cannot be read is an error, since it could switch
/// a server off.
pub(super) fn settings_of(file: &str, root: &Path) -> Result<Vec<Value>, String> {
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
        let problem = |_| format!("{} cannot be read, which can switch it off", path.display());
        Some(read.map(|document| document.value).map_err(problem))
    };
    let others = client.settings.iter().filter(|place| place.path() != file);
    others.filter_map(read).collect()
}
