//! Status of meaning in an answer.

use std::fmt;

/// Whether an answer used words and meaning, or words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SemanticStatus {
    /// No model is configured: words alone.
    #[default]
    Off,
    /// Words and meaning.
    On,
    /// Words alone, since the model gave no answer, with the reason.
    Unavailable(String),
}

impl fmt::Display for SemanticStatus {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SemanticStatus::Off => to.write_str("off"),
            SemanticStatus::On => to.write_str("on"),
            SemanticStatus::Unavailable(reason) => write!(to, "unavailable: {reason}"),
        }
    }
}
