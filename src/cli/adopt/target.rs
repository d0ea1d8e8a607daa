//! A client's file, with the folder to which its servers move.

use std::path::PathBuf;

use super::record::Folder;

/// A client's file, with the folder to which its servers move.
pub(super) struct Target {
    /// Its name, for commands and folders.
    pub(super) called: String,
    /// The client, for people.
    pub(super) title: String,
    /// Whether the file belongs to one project, in which its servers run.
    pub(super) is_of_project: bool,
    pub(super) file: PathBuf,
    pub(super) folder: Folder,
}

/// The command that undoes an adoption.
pub(super) fn undo_command(target: &Target) -> String {
    format!("toolcrib adopt {} --undo", target.called)
}
