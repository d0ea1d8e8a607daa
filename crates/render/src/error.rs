//! The reasons why documentation could not be written.

use super::folder::error::FolderError;
use super::seed::values::ValueError;
use super::templates::TemplateError;

/// Reason why documentation could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template is broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A value of the job cannot be filled in.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The folder cannot be written, or is not ours to write.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the workspace cannot be read or written.
    #[error("cannot write {path}: {source}")]
    Workspace {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

pub(super) fn failed(path: &str, source: std::io::Error) -> RenderError {
    RenderError::Workspace { path: path.to_string(), source }
}
