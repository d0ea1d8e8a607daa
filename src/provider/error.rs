//! Errors of payloads, found before anything is sent.

use super::wire::Native;
use super::{PayloadRequest, Provider};
use crate::catalog::{Profile, functions};
use crate::config::Mode;

/// Reason why there is no payload. A single tool that cannot be bound is a finding instead.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// More tools than the provider takes.
    #[error("{} takes {limit} tools, and {} binds {count}: {} too many", provider.as_str(), mode.as_str(), count - limit)]
    TooMany {
        /// The provider.
        provider: Provider,
        /// The mode.
        mode: Mode,
        /// Most tools that it takes.
        limit: usize,
        /// Number of tools.
        count: usize,
        /// Alternatives within the limit, as options of the command line.
        fits: Vec<String>,
    },
    /// A tool and a function of toolcrib, or the provider's own search, have one name on this wire.
    #[error("`{first}` and `{second}` are both named `{name}` for {}", provider.as_str())]
    Clash {
        /// The provider.
        provider: Provider,
        /// The name.
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

/// Refuses more entries than the provider takes.
pub(super) fn check_count(
    request: &PayloadRequest<'_>,
    mode: Mode,
    count: usize,
) -> Result<(), PayloadError> {
    let provider = request.provider;
    match request.max_entries() {
        Some(limit) if count > limit => {
            Err(PayloadError::TooMany { provider, mode, limit, count, fits: fits(request, limit) })
        }
        _ => Ok(()),
    }
}

/// Modes of this profile, then other profiles, that stay within the limit.
fn fits(request: &PayloadRequest<'_>, limit: usize) -> Vec<String> {
    let modes = |profile: &Profile<'_>| -> Vec<&'static str> {
        let within = |mode: &Mode| is_within(limit, request.provider, *mode, profile);
        Mode::ALL.iter().copied().filter(within).map(Mode::as_str).collect()
    };
    let refused = request.mode.as_str();
    let others: Vec<&str> = modes(request.profile).into_iter().filter(|mode| *mode != refused).collect();
    let mut fits = vec![format!("--mode {}", others.join(" or "))];
    for name in request.catalog.config.profiles.keys() {
        let Ok(profile) = request.catalog.profile(Some(name)) else { continue };
        let modes = modes(&profile);
        if modes.contains(&request.mode.as_str()) && request.profile.name != Some(name) {
            fits.push(format!("--profile {name}"));
        }
    }
    fits
}

/// Whether the entries of a mode stay within a limit.
pub(super) fn is_within(limit: usize, provider: Provider, mode: Mode, profile: &Profile<'_>) -> bool {
    let full = profile.full().count();
    match mode {
        Mode::Full => profile.tools.len() <= limit,
        Mode::Hybrid => profile.tools.len() < limit,
        Mode::Native => match provider.wire().native {
            Native::No => false,
            Native::Single => profile.tools.len() < limit,
            Native::Grouped => full + 1 < limit,
        },
        Mode::Gateway => full == 0 || full + 4 <= limit,
        Mode::Files => true,
    }
}
