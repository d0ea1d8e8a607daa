//! Errors of payloads, found before anything is sent.

use toolcrib_catalog::config::{Mode, Provider};
use toolcrib_catalog::functions;

/// Reason why there is no payload. A single tool that cannot be bound is a finding instead.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// More tools than the provider takes.
    #[error("{} takes {limit} tools, and {} binds {count}: {} too many", provider.as_str(), mode.as_str(), count - limit)]
    TooMany {
        provider: Provider,
        mode: Mode,
        /// Most tools that it takes.
        limit: usize,
        /// Number of tools.
        count: usize,
        /// Alternatives within the limit, as options of the command line.
        fits: Vec<String>,
    },
    /// A tool and a function of toolcrib, or the provider's own search, have one name in this format.
    #[error("`{first}` and `{second}` are both named `{name}` for {}", provider.as_str())]
    Clash {
        provider: Provider,
        name: String,
        /// One tool.
        first: String,
        /// The other.
        second: String,
    },
}

impl PayloadError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            PayloadError::TooMany { fits, limit, .. } => {
                format!("these fit: {}; or make a profile with fewer tools, {limit} at most", fits.join("; "))
            }
            PayloadError::Clash { first, second, .. }
                if functions().named(first).is_some() && first == second =>
            {
                format!(
                    "`{first}` is a function of toolcrib; leave yours out of the profile, or take another mode"
                )
            }
            PayloadError::Clash { .. } => {
                "leave one of them out of the profile, or rename it at its source".into()
            }
        }
    }
}
