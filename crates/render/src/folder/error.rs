//! Errors of a write to a folder, each with a stable code and a next step.

use std::io;
use std::path::{Path, PathBuf};

/// Reason why a content could not be rendered.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Most paths that a message names; the others are counted.
const NAMED: usize = 5;

/// A reason why a folder could not be written or checked.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A generated path that no folder can hold on every system.
    #[error("`{}` cannot be the path of a generated file: {problem}", path.escape_debug())]
    BadPath {
        /// The path as it was given.
        path: String,
        /// The mistake in it.
        problem: String,
    },
    /// A content could not be rendered; nothing was written.
    #[error("cannot render {path}: {source}")]
    Render {
        /// The file of the content.
        path: String,
        /// The reason.
        source: Problem,
    },
    /// Files of the user are in the places of generated files; nothing was written.
    #[error("{} holds {} of yours, in the way of generated ones: {}", root.display(), count(paths), some(paths))]
    Occupied {
        /// The folder.
        root: PathBuf,
        /// Every such path, relative to the folder, sorted.
        paths: Vec<String>,
    },
    /// A folder on the way to a generated file is a symbolic link; nothing was written.
    #[error("{} is a symbolic link, and generated files are not written through it", path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The path of the folder is something else.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path in question.
        path: PathBuf,
    },
    /// The manifest is not one that toolcrib wrote, or is damaged; nothing was written.
    #[error("{} is not a manifest of toolcrib: {problem}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The mistake in it.
        problem: String,
    },
    /// The system refused; files written so far are whole, and the next run writes the rest.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action that failed, as a verb.
        action: &'static str,
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl FolderError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            FolderError::BadPath { .. } => "rename the tool or category that this path comes from".into(),
            FolderError::Render { .. } => {
                "correct the part that the message names; nothing was written".into()
            }
            FolderError::Occupied { .. } => {
                "move these away or delete them, or choose another folder; only files listed in .toolcrib.json are ever replaced".into()
            }
            FolderError::Symlink { .. } => "replace the link with a real folder, or remove it".into(),
            FolderError::NotAFolder { .. } => "choose another folder, or move this away".into(),
            FolderError::Manifest { .. } => {
                "update toolcrib, restore the file from version control, or move the folder away".into()
            }
            FolderError::Io { .. } => {
                "check permissions and free space, then run the same command again".into()
            }
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
        let path = path.to_path_buf();
        move |source| FolderError::Io { action, path, source }
    }
}

fn count(paths: &[String]) -> String {
    if paths.len() == 1 { "a file".into() } else { format!("{} files", paths.len()) }
}

fn some(paths: &[String]) -> String {
    let named = paths.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
