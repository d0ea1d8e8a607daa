//! The mode that `auto` stands for: the one on which a task is estimated to cost least.

use serde::Serialize;

use super::context::{FOLDER, bound};
use super::estimate::{TaskEstimate, searches_itself};
use super::text::grouped;
use crate::payload::request::PayloadRequest;
use crate::provider::ProviderFormat;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_definition::tokens::exact;
use toolcrib_render::{PromptSection, Templates};

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

/// The mode on which a task is estimated to cost least, by the exact tokens of each payload and of its section of the prompt, and
/// by `payload.host_tokens`. Left out are modes that send more tools than the provider accepts, and `files`, which needs a
/// workspace. Where modes cost the same, the one that binds more is taken.
pub fn auto_mode(request: &PayloadRequest<'_>, templates: &Templates) -> AutoMode {
    let PayloadRequest { catalog, profile, provider, options, .. } = *request;
    let has_core = profile.full().next().is_some();
    let itself = searches_itself(provider, &options);
    let cost = |mode: Mode| {
        let config::Payload { deferred, discovery, prompt_tokens: tokens, .. } = options;
        let section = PromptSection { mode, deferred, folder: FOLDER, discovery, tokens };
        let prompt = section.render(catalog, profile, templates).map_or(0, |text| exact(&text));
        let task = TaskEstimate::of(mode, itself, has_core);
        Some((mode, task.tokens(bound(&PayloadRequest { mode, ..*request })? + prompt, options.host_tokens)))
    };
    let able = |mode: &Mode| *mode != Mode::Files && provider.mode(*mode) == *mode && request.takes(*mode);
    let mut costs: Vec<(Mode, usize)> = Mode::ALL.iter().copied().filter(able).filter_map(cost).collect();
    costs.sort_by_key(|(_, cost)| *cost);
    let texts: Vec<String> =
        costs.iter().map(|(mode, cost)| format!("{} tokens on {}", grouped(*cost), mode.as_str())).collect();
    let texts = texts.join(", ");
    let host = grouped(options.host_tokens);
    AutoMode {
        mode: costs.first().map_or(Mode::Full, |(mode, _)| *mode),
        reason: format!("a task takes about {texts}, with {host} tokens of the host's own"),
    }
}
