//! Profiles that bind more tokens than the budget.

use serde::Serialize;

use super::meter::Meter;
use super::text::grouped;
use crate::provider::ProviderFormat;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::Mode;
use toolcrib_definition::clean_line;

/// A profile that binds more than the budget, or has no payload.
#[derive(Debug, Serialize)]
pub struct OverBudget {
    /// The profile; `None` for the whole catalog.
    pub profile: Option<String>,
    pub mode: Mode,
    /// Tokens that it may bind.
    pub budget: usize,
    /// Why there is no payload; `None` with a payload.
    pub problem: Option<String>,
    /// o200k tokens that it binds; `None` when there is no payload.
    pub bound: Option<usize>,
    /// Modes that fit as they are.
    pub modes: Vec<Mode>,
}

/// A profile with its budget and the modes that fit, if it is over the budget.
pub(super) fn over(meter: &mut Meter<'_>, profile: &Profile<'_>) -> Option<OverBudget> {
    let budget = meter.options.budget?;
    let provider = meter.options.payload.provider;
    let configured = meter.options.mode.or(Mode::named(meter.options.payload.mode));
    let mode = provider.mode(configured.unwrap_or_else(|| meter.auto(profile).mode));
    let bound = meter.bound(profile, mode);
    if bound.as_ref().is_ok_and(|bound| *bound <= budget) {
        return None;
    }
    let mut fits = |other: &Mode| {
        provider.mode(*other) != mode && meter.bound(profile, *other).is_ok_and(|bound| bound <= budget)
    };
    let modes = Mode::ALL.iter().copied().filter(|mode| fits(mode)).collect();
    let profile = profile.name.map(str::to_string);
    let problem = bound.as_ref().err().map(ToString::to_string);
    Some(OverBudget { profile, mode, budget, problem, bound: bound.ok(), modes })
}

impl OverBudget {
    /// The problem and the modes that fit, in words.
    pub fn message(&self) -> String {
        let profile = self
            .profile
            .as_ref()
            .map_or("the whole catalog".into(), |name| format!("profile {}", clean_line(name)));
        let mode = self.mode.as_str();
        let budget = grouped(self.budget);
        let mut message = match (self.bound, &self.problem) {
            (Some(bound), _) => {
                let over = grouped(bound.saturating_sub(self.budget));
                format!(
                    "{profile}: {mode} binds {} tokens, {over} over the budget of {budget}",
                    grouped(bound)
                )
            }
            (None, problem) => {
                let problem = clean_line(problem.as_deref().unwrap_or_default());
                format!("{profile}: {mode} cannot be held to the budget of {budget}: {problem}")
            }
        };
        if !self.modes.is_empty() {
            let names: Vec<&str> = self.modes.iter().map(|mode| mode.as_str()).collect();
            message += &format!("\n  help: take a mode that fits: {}", names.join(", "));
        }
        message
    }
}
