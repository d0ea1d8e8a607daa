//! The places of clients' files on this machine.

use std::path::{Path, PathBuf};

use crate::cli::io::Io;
use toolcrib_catalog::config::{CLIENTS, Client, ClientPlace};

/// The files in which a project keeps servers for clients.
pub(super) const OF_PROJECT: [&str; 3] = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/// The client whose own configuration is this file.
pub(super) fn client_of_file(io: &Io, file: &Path) -> Option<&'static Client> {
    let is_own = |own: &PathBuf| own.canonicalize().is_ok_and(|own| own == file);
    CLIENTS.iter().find(|client| files(io, client).iter().any(is_own))
}

/// The places of the user's configuration of a client, the usual one first.
pub(super) fn files(io: &Io, client: &Client) -> Vec<PathBuf> {
    let path = |place: &ClientPlace| match *place {
        ClientPlace::Home(path) => io.home().map(|home| home.join(path)),
        ClientPlace::Applications(path) => applications(io).map(|folder| folder.join(path)),
        ClientPlace::Variable(name, otherwise, path) => {
            io.user_folder(name, otherwise).map(|folder| folder.join(path))
        }
        ClientPlace::Beside(_) => None,
    };
    client.files.iter().filter_map(path).collect()
}

/// The folder in which applications keep their settings.
fn applications(io: &Io) -> Option<PathBuf> {
    if cfg!(windows) {
        return io.path_variable("APPDATA");
    }
    if cfg!(target_os = "macos") {
        return io.home().map(|home| home.join("Library/Application Support"));
    }
    io.user_folder("XDG_CONFIG_HOME", ".config")
}
