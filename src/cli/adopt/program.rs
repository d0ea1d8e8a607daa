//! The program that a client starts.

use std::path::PathBuf;

use crate::cli::error::{CommandError, failed};
use crate::cli::io::Io;

/// The absolute path by which this program was started. Links are not resolved, since they outlive updates.
pub(super) fn program(io: &Io) -> Result<String, CommandError> {
    let path = io.program().map_or_else(program_of_process, |path| Ok(path.to_path_buf()))?;
    path.into_os_string().into_string().map_err(|_| failed("the path of the program is not text"))
}

fn program_of_process() -> Result<PathBuf, CommandError> {
    let own = std::env::current_exe().map_err(|error| failed(format!("the program has no path: {error}")))?;
    let typed = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let in_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join(&typed)).find(|path| path.is_file())
    };
    let typed = if typed.components().count() > 1 { Some(typed.clone()) } else { in_path() };
    let is_own = |path: &PathBuf| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(typed.and_then(|path| std::path::absolute(path).ok()).filter(is_own).unwrap_or(own))
}
