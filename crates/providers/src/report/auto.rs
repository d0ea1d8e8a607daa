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

impl Meter<'_> {
    /// The mode on which a task is estimated to cost least, by the exact tokens of each payload and of its section of the prompt,
    /// and by `payload.host_tokens`. Left out are modes that send more tools than the provider accepts, and `files`, which needs
    /// a workspace. Where modes cost the same, the one that binds more is taken.
    pub fn auto(&mut self, profile: &Profile<'_>) -> AutoMode {
        let config::Payload { provider, host_tokens, .. } = self.options.payload;
        let request = self.request(profile, Mode::Full);
        let is_able =
            |mode: &Mode| *mode != Mode::Files && provider.mode(*mode) == *mode && request.takes(*mode);
        let mut costs = Vec::new();
        for mode in Mode::ALL.iter().copied().filter(is_able) {
            let Ok(bound) = self.bound(profile, mode) else { continue };
            let prompt = self.prompt(profile, mode).unwrap_or_default();
            costs.push((mode, self.task(profile, mode, bound + prompt)));
        }
        costs.sort_by_key(|(_, cost)| *cost);
        let text = |(mode, cost): &(Mode, usize)| format!("{} tokens on {}", grouped(*cost), mode.as_str());
        let texts: Vec<String> = costs.iter().map(text).collect();
        let texts = texts.join(", ");
        let host = grouped(host_tokens);
        AutoMode {
            mode: costs.first().map_or(Mode::Full, |(mode, _)| *mode),
            reason: format!("a task takes about {texts}, with {host} tokens of the host's own"),
        }
    }
}
