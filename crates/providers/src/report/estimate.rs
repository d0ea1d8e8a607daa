//! The estimate of a whole task, and the mode that `auto` stands for: the one on which a task is estimated to cost least.
//!
//! A task is many requests, and each carries the host's own context, the bound tools and the section of the prompt. A
//! mode that binds less takes more requests: a search, or a doc, before the first call of a tool. The assumptions
//! are means of `toolcrib-lab simulate` over 155 tasks of 4.5 calls: between an agent that searches for one step at a time, and
//! one that searches for all steps at once. With core tools about half of these requests are saved.

use std::sync::LazyLock;

use serde::Serialize;

use super::grouped;
use super::meter::{FOLDER, Meter, in_context};
use crate::{self as provider, PayloadRequest, Provider, ProviderFormat};
use toolcrib_catalog::config::{self, Mode, SearchBy};
use toolcrib_catalog::{Catalog, Profile, UnknownProfile};
use toolcrib_definition::clean_line;
use toolcrib_definition::grammar::counted;
use toolcrib_definition::tokens::exact;
use toolcrib_docs::{PromptSection, Templates};

/// Requests of a task in the mode `full`.
const REQUESTS: f64 = 5.5;

/// The estimate of a task in one mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskEstimate {
    /// Requests.
    requests: f64,
    /// Tokens of docs, hits or definitions that a request carries, on average.
    carried: usize,
}

impl TaskEstimate {
    /// The estimate for a mode. `has_core`: some tools of the profile are bound in full, and others deferred.
    pub(super) fn of(mode: Mode, searches_itself: bool, has_core: bool) -> Self {
        let (more, carried) = match mode {
            Mode::Full => (0.0, 0),
            Mode::Hybrid | Mode::Files => (2.5, 400),
            Mode::Native if searches_itself => (1.5, 1_500),
            Mode::Native => (2.5, 1_500),
            Mode::Gateway => (2.5, 500),
        };
        let uses_core = has_core && mode != Mode::Files;
        let share = if uses_core { 0.5 } else { 1.0 };
        Self { requests: REQUESTS + share * more, carried: (share * carried as f64) as usize }
    }

    /// Tokens of the task, with these tokens of bound tools and prompt, and of the host, in every request.
    pub(super) fn tokens(self, request: usize, host: usize) -> usize {
        let each = host.saturating_add(request).saturating_add(self.carried);
        (self.requests * each as f64).round() as usize
    }
}

/// Whether the provider answers searches for deferred tools itself.
pub(super) fn searches_itself(provider: Provider, options: &config::Payload) -> bool {
    provider.defers() && options.search != SearchBy::Client
}

/// The mode that `auto` stands for, and the numbers behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoMode {
    /// The mode.
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
pub fn mode_of(request: &PayloadRequest<'_>, named: Option<Mode>) -> (Mode, Option<String>) {
    match named {
        Some(mode) => (mode, None),
        None => {
            let auto = auto_mode(request);
            (auto.mode, Some(auto.note()))
        }
    }
}

static TEMPLATES: LazyLock<Option<Templates>> = LazyLock::new(|| Templates::load(None).ok());

/// The mode on which a task is estimated to cost least, by the exact tokens of each payload and of its section of the prompt, and
/// by `payload.host_tokens`. Left out are modes that send more tools than the provider accepts, and `files`, which needs a
/// workspace. Where modes cost the same, the one that binds more is taken.
pub fn auto_mode(request: &PayloadRequest<'_>) -> AutoMode {
    let PayloadRequest { catalog, profile, provider, options, .. } = *request;
    let has_core = profile.full().next().is_some();
    let itself = searches_itself(provider, &options);
    let cost = |mode: Mode| {
        let config::Payload { deferred, discovery, prompt_tokens: tokens, .. } = options;
        let section = PromptSection { mode, deferred, folder: FOLDER, discovery, tokens };
        let prompt = section.render(catalog, profile, TEMPLATES.as_ref()?).map_or(0, |text| exact(&text));
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

/// Tokens of tools in the context of each request; `None` where no payload can be made.
fn bound(request: &PayloadRequest<'_>) -> Option<usize> {
    let payload = provider::payload_of_any_size(*request).ok()?;
    Some(if payload.functions.is_empty() { 0 } else { exact(&in_context(payload.body).to_string()) })
}

/// The tokens of tools in each request, without toolcrib and with it: the one line that every command prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestCost {
    /// Number of tools.
    pub tools: usize,
    /// Tokens of all of them in full.
    pub full: usize,
    /// Tokens in the recommended mode, or in the mode `gateway` where that is `full`.
    pub with_toolcrib: usize,
    /// The recommended mode, which `auto` stands for.
    pub mode: Mode,
}

impl RequestCost {
    /// Counts the tools of a profile.
    pub fn of(
        catalog: &Catalog,
        profile: Option<&str>,
        options: config::Payload,
    ) -> Result<Self, UnknownProfile> {
        let profile = &catalog.profile(profile)?;
        let request =
            PayloadRequest { catalog, profile, provider: options.provider, mode: Mode::Full, options };
        let mode = if profile.tools.is_empty() { Mode::Full } else { auto_mode(&request).mode };
        let other = if mode == Mode::Full { Mode::Gateway } else { mode };
        Ok(Self {
            tools: profile.tools.len(),
            full: bound(&request).unwrap_or_default(),
            with_toolcrib: bound(&PayloadRequest { mode: other, ..request }).unwrap_or_default(),
            mode,
        })
    }

    /// The line.
    pub fn line(&self) -> String {
        let (tools, full, with) =
            (counted(self.tools, "tool"), grouped(self.full), grouped(self.with_toolcrib));
        let advice = match self.mode {
            Mode::Full => "leave it as it is".to_string(),
            mode => format!("the mode {}", mode.as_str()),
        };
        format!("{tools}, {full} tokens a request. With toolcrib: {with}. Recommended: {advice}.")
    }
}

// Profiles that bind more tokens than the budget.

/// A profile that binds more than the budget, or has no payload.
#[derive(Debug, Serialize)]
pub struct OverBudget {
    /// The profile; `None` for the whole catalog.
    pub profile: Option<String>,
    /// The mode.
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
    let mode = provider.mode(meter.budgeted(profile));
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
