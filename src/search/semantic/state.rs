//! Whether meaning had a part in an answer.

use std::fmt;

/// Whether meaning had a part in an answer, or words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No model is configured: words alone.
    #[default]
    Off,
    /// Words and meaning.
    On,
    /// Words alone, since the model had nothing to give, and why.
    Unavailable(String),
}

impl fmt::Display for State {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Off => to.write_str("off"),
            State::On => to.write_str("on"),
            State::Unavailable(reason) => write!(to, "unavailable: {reason}"),
        }
    }
}
