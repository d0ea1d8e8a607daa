//! The mode that `auto` stands for: the one on which a task is estimated to cost least.

use serde::Serialize;

use super::meter::{Meter, Options};
use super::text::grouped;
use crate::payload::request::PayloadRequest;
use crate::provider::ProviderFormat;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_render::Templates;

/// The mode that `auto` stands for, and the numbers behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoMode {
    pub mode: Mode,
    /// The reason, on one line.
    pub reason: String,
}

impl AutoMode {
    /// The mode and the reason, for a person.
    pub fn note(&self) -> String {
        format!("the mode is {} (auto): {}", self.mode.as_str(), self.reason)
    }
}

/// The mode of a payload: this one, else the one that `auto` stands for, with a note that says why.
pub fn mode_of(
    request: &PayloadRequest<'_>,
    templates: &Templates,
    named: Option<Mode>,
) -> (Mode, Option<String>) {
    match named {
        Some(mode) => (mode, None),
        None => {
            let auto = auto_mode(request, templates);
            (auto.mode, Some(auto.note()))
        }
    }
}

/// The mode that `auto` stands for in this request.
pub fn auto_mode(request: &PayloadRequest<'_>, templates: &Templates) -> AutoMode {
    let PayloadRequest { catalog, profile, provider, options, .. } = *request;
    let payload = config::Payload { provider, ..options };
    Meter::new(catalog, templates, Options::of(payload)).auto(profile)
}

/// The same; of a long list, only as many tools are counted as show that it costs more than the other modes.
pub fn auto_mode_soon(request: &PayloadRequest<'_>, templates: &Templates) -> AutoMode {
    let PayloadRequest { catalog, profile, provider, options, .. } = *request;
    let payload = config::Payload { provider, ..options };
    let mut meter = Meter::new(catalog, templates, Options::of(payload));
    meter.auto_without_full(profile).unwrap_or_else(|| meter.auto(profile))
}

/// What a mode costs.
pub(super) struct ModeCost {
    pub(super) mode: Mode,
    /// Tokens in the context of a request.
    pub(super) bound: usize,
    /// Tokens of a task, estimated.
    pub(super) task: usize,
}

/// The tools of a long list that are counted at first.
const BEGINNING: usize = 200;

impl Meter<'_> {
    /// The mode on which a task is estimated to cost least, by the exact tokens of each payload and of its section of the prompt,
    /// and by `payload.host_tokens`. Left out are modes that send more tools than the provider accepts, and `files`, which needs
    /// a workspace. Where modes cost the same, the one that binds more is taken.
    pub fn auto(&mut self, profile: &Profile<'_>) -> AutoMode {
        let costs = self.costs(profile, |_| true);
        self.cheapest(&costs, "")
    }

    /// The same without a whole count of `full`, where the beginning of its list shows that another mode costs less.
    fn auto_without_full(&mut self, profile: &Profile<'_>) -> Option<AutoMode> {
        let beginning = profile.tools.get(..BEGINNING)?.to_vec();
        let bound = self.bound(&Profile { tools: beginning, ..*profile }, Mode::Full).ok()?;
        let more = self.task(profile, Mode::Full, bound);
        let costs = self.costs(profile, |mode| mode != Mode::Full);
        let is_other = costs.first().is_some_and(|least| least.task < more);
        is_other.then(|| self.cheapest(&costs, &format!(", more than {} tokens on full", grouped(more))))
    }

    /// What each of these modes costs, from the least.
    pub(super) fn costs(&mut self, profile: &Profile<'_>, is_wanted: impl Fn(Mode) -> bool) -> Vec<ModeCost> {
        let provider = self.options.payload.provider;
        let request = self.request(profile, Mode::Full);
        let is_able =
            |mode: &Mode| *mode != Mode::Files && provider.mode(*mode) == *mode && request.takes(*mode);
        let mut costs = Vec::new();
        for mode in Mode::ALL.iter().copied().filter(is_able).filter(|mode| is_wanted(*mode)) {
            let Ok(bound) = self.bound(profile, mode) else { continue };
            let prompt = self.prompt(profile, mode).unwrap_or_default();
            costs.push(ModeCost { mode, bound, task: self.task(profile, mode, bound + prompt) });
        }
        costs.sort_by_key(|cost| cost.task);
        costs
    }

    fn cheapest(&self, costs: &[ModeCost], others: &str) -> AutoMode {
        let text = |cost: &ModeCost| format!("{} tokens on {}", grouped(cost.task), cost.mode.as_str());
        let texts: Vec<String> = costs.iter().map(text).collect();
        let (texts, host) = (texts.join(", "), grouped(self.options.payload.host_tokens));
        AutoMode {
            mode: costs.first().map_or(Mode::Full, |least| least.mode),
            reason: format!("a task takes about {texts}{others}, with {host} tokens of the host's own"),
        }
    }
}
