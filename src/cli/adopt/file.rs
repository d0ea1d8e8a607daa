//! A client's file as it is read and written, while the client or its user may edit it.

use std::path::Path;

use crate::cli::error::{CommandError, failed};
use toolcrib_render::folder::replace_whole;

/// Attempts to write the client's file, which the client or its user may edit at the same time.
pub(super) const ATTEMPTS: usize = 5;

pub(super) fn being_edited(file: &Path) -> CommandError {
    failed(format!("{} is being edited; nothing was changed, try it again", file.display()))
}

/// The text of the client's file; empty without one.
pub(super) fn read(file: &Path) -> Result<String, CommandError> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed(format!("{} cannot be read: {error}", file.display())))
        }
        text => Ok(text.unwrap_or_default()),
    }
}

/// Writes the client's file; returns false if it has changed since it was read.
pub(super) fn write_file(file: &Path, text: &str, read: &str) -> Result<bool, CommandError> {
    let mut is_same = true;
    let check = || {
        is_same = std::fs::read_to_string(file).unwrap_or_default() == read;
        if is_same { Ok(()) } else { Err(std::io::ErrorKind::Interrupted.into()) }
    };
    match replace_whole(file, text.as_bytes(), check) {
        Err(error) if is_same => Err(failed(format!("cannot write {}: {error}", file.display()))),
        _ => Ok(is_same),
    }
}
