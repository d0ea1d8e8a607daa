//! The folders of the user that runs the program.

use std::path::PathBuf;

/// `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`.
pub(super) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", "toolcrib")
}

/// `$XDG_CONFIG_HOME/toolcrib`, else `~/.config/toolcrib`.
pub(super) fn configuration_folder() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config", "toolcrib")
}

/// A path below a folder of the user, which a variable names, or which has its place below the home.
pub(super) fn user_folder(variable: &str, below_home: &str, path: &str) -> Option<PathBuf> {
    let below = || home().map(|home| home.join(below_home));
    absolute(variable).or_else(below).map(|folder| folder.join(path))
}

/// The user's home.
pub(super) fn home() -> Option<PathBuf> {
    absolute("HOME").or_else(|| absolute("USERPROFILE"))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
