//! The most tools that a provider takes, and the modes and profiles that stay within this limit.

use super::request::PayloadRequest;
use crate::format::Native;
use crate::provider::format_of;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::{Mode, Provider};

impl PayloadRequest<'_> {
    /// Whether the provider takes as many tools as a mode binds.
    pub fn takes(&self, mode: Mode) -> bool {
        let limit = format_of(self.provider).max_entries;
        limit.is_none_or(|limit| is_within(limit, self.provider, mode, self.profile))
    }
}

/// Modes of this profile, then other profiles, that stay within the limit.
pub(super) fn fits(request: &PayloadRequest<'_>, limit: usize) -> Vec<String> {
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
fn is_within(limit: usize, provider: Provider, mode: Mode, profile: &Profile<'_>) -> bool {
    let full = profile.full().count();
    match mode {
        Mode::Full => profile.tools.len() <= limit,
        Mode::Hybrid => profile.tools.len() < limit,
        Mode::Native => match format_of(provider).native {
            Native::No => false,
            Native::Single => profile.tools.len() < limit,
            Native::Grouped => full + 1 < limit,
        },
        Mode::Gateway => full == 0 || full + 4 <= limit,
        Mode::Files => true,
    }
}
