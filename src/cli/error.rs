//! The reasons why a command fails.

use toolcrib_catalog::UnknownProfile;
use toolcrib_gateway::state::StateError;
use toolcrib_providers::PayloadError;
use toolcrib_render::RenderError;
use toolcrib_render::folder::FolderError;

/// Reason why a command failed.
pub(super) enum CommandError {
    /// Findings, or a failure; reported already, or by this message.
    Findings(Option<String>),
    /// A mistake in the command line.
    Usage(String),
}

impl From<UnknownProfile> for CommandError {
    fn from(error: UnknownProfile) -> Self {
        CommandError::Usage(error.to_string())
    }
}

impl From<StateError> for CommandError {
    fn from(error: StateError) -> Self {
        failed(format!("state: {error}"))
    }
}

impl From<PayloadError> for CommandError {
    fn from(error: PayloadError) -> Self {
        failed(format!("{error}\n  help: {}", error.hint()))
    }
}

impl From<FolderError> for CommandError {
    fn from(error: FolderError) -> Self {
        failed(format!("{error}\n  help: {}", error.hint()))
    }
}

impl From<RenderError> for CommandError {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Folder(error) => error.into(),
            error => failed(error),
        }
    }
}

/// A failure with a message.
pub(super) fn failed(message: impl ToString) -> CommandError {
    CommandError::Findings(Some(message.to_string()))
}

pub(super) type CommandResult = Result<(), CommandError>;
