//! The folders of the user that runs the program.

use std::path::PathBuf;

use super::io::Io;

/// `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`.
pub(super) fn state_folder(io: &Io) -> Option<PathBuf> {
    user_folder(io, "XDG_STATE_HOME", ".local/state", "toolcrib")
}

/// `$XDG_CONFIG_HOME/toolcrib`, else `~/.config/toolcrib`.
pub(super) fn configuration_folder(io: &Io) -> Option<PathBuf> {
    user_folder(io, "XDG_CONFIG_HOME", ".config", "toolcrib")
}

/// A path below a folder of the user, which a variable names, or which has its place below the home.
pub(super) fn user_folder(io: &Io, variable: &str, below_home: &str, path: &str) -> Option<PathBuf> {
    let below = || home(io).map(|home| home.join(below_home));
    io.path_variable(variable).or_else(below).map(|folder| folder.join(path))
}

/// The user's home.
pub(super) fn home(io: &Io) -> Option<PathBuf> {
    io.path_variable("HOME").or_else(|| io.path_variable("USERPROFILE"))
}
