//! The reason why state did not answer.

/// The answer of state.
pub type Result<T, E = StateError> = std::result::Result<T, E>;

/// Reason why state did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Another toolcrib wrote it, so that waiting does not help.
    #[error("{0}")]
    Newer(String),
    /// Another process holds it.
    #[error("{0}")]
    Busy(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
}

impl StateError {
    /// State with a schema that is not ours.
    pub(super) fn newer(version: i64, own: i64) -> Self {
        let (age, step) =
            if version > own { ("a newer", "update toolcrib, or use") } else { ("an older", "use") };
        Self::Newer(format!(
            "it was written by {age} toolcrib (schema {version}, this one knows {own}); {step} another place"
        ))
    }

    /// The error with the place of the state.
    pub(super) fn at(self, place: &str) -> Self {
        match self {
            Self::Newer(problem) => Self::Newer(format!("{place}: {problem}")),
            Self::Busy(problem) | Self::Failed(problem) => Self::Failed(format!("{place}: {problem}")),
        }
    }
}
