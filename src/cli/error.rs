//! The reasons why a command fails.

use toolcrib_catalog::UnknownProfile;

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

/// A failure with a message.
pub(super) fn failed(message: impl ToString) -> CommandError {
    CommandError::Findings(Some(message.to_string()))
}

pub(super) type CommandResult = Result<(), CommandError>;
