//! The estimate of a whole task, and the mode that `auto` stands for: the one on which a task is estimated to cost least.
//!
//! A task is many requests, and each carries the host's own context, the bound tools and the section of the prompt. A
//! mode that binds less takes more requests: a search, or a doc, before the first call of a tool. The assumptions
//! are means of `toolcrib-lab simulate` over 155 tasks of 4.5 calls: between an agent that searches for one step at a time, and
//! one that searches for all steps at once. With core tools about half of these requests are saved.

use serde::Serialize;

use super::table::grouped;
use crate::catalog::{Profile, ProfileTool};
use crate::config::{self, Mode, SearchBy};
use crate::provider::{self, PayloadRequest, Provider};
use crate::tokens::estimate;
use crate::tool::DescriptionMode;

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

    /// The most tokens of bound tools and prompt with which the task costs no more than this.
    pub(super) fn request_for(self, tokens: usize, host: usize) -> usize {
        ((tokens as f64 / self.requests) as usize).saturating_sub(host + self.carried)
    }
}

/// Whether the provider answers searches for deferred tools itself.
pub(super) fn searches_itself(provider: Provider, options: &config::Payload) -> bool {
    provider.defers() && options.search != SearchBy::Client
}

/// Tokens of the functions of the gateway.
const GATEWAY: usize = 430;
/// Tokens of the section of the prompt.
const PROMPT: usize = 350;
/// The same in the mode `full`.
const PROMPT_OF_FULL: usize = 70;
/// Tokens of one deferred tool as a stub.
const STUB: usize = 32;
/// Tools that are counted together.
const CHUNK: usize = 32;

/// The mode that `auto` stands for, and the reason.
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
            let auto = auto_mode(request, Mode::ALL);
            (auto.mode, Some(auto.note()))
        }
    }
}

/// The mode of these on which a task is estimated to cost least, by the definitions of a profile and by
/// `payload.host_tokens`. One that binds more tools than the provider takes is none of them.
///
/// - A profile whose tools are all full gets `full`.
/// - A profile with full and with deferred tools gets `hybrid`, `gateway`, or `native` where the provider searches itself.
/// - Another profile gets `full`, `gateway`, or `native`.
///
/// Counting ends as soon as `full` is known to cost more, so that thousands of tools take no longer than some dozens.
pub fn auto_mode(request: &PayloadRequest<'_>, among: &[Mode]) -> AutoMode {
    let (core, deferred): (Vec<_>, Vec<_>) =
        request.profile.tools.iter().partition(|entry| entry.mode == DescriptionMode::Full);
    if deferred.is_empty() {
        return AutoMode { mode: Mode::Full, reason: "no tool is deferred".into() };
    }
    let (has_core, host) = (!core.is_empty(), request.options.host_tokens);
    let itself = searches_itself(request.provider, &request.options);
    let task = |mode| TaskEstimate::of(mode, itself, has_core);
    let core = bound(request, &core, usize::MAX);
    let candidates = [
        (Mode::Gateway, true, core + GATEWAY),
        (Mode::Native, itself, core + GATEWAY),
        (Mode::Hybrid, has_core, core + STUB * deferred.len()),
    ];
    let mut costs: Vec<(Mode, usize)> = candidates
        .into_iter()
        .filter(|(mode, is_candidate, _)| *is_candidate && among.contains(mode) && request.takes(*mode))
        .map(|(mode, _, bound)| (mode, task(mode).tokens(bound + PROMPT, host)))
        .collect();
    costs.sort_by_key(|(_, cost)| *cost);
    let least = costs.first().map_or(usize::MAX, |(_, cost)| *cost);
    let told = |mode: Mode, cost| format!("{} tokens on {}", grouped(rounded(cost)), mode.as_str());
    let mut texts: Vec<String> = costs.iter().map(|(mode, cost)| told(*mode, *cost)).collect();
    let mut mode = costs.first().map_or(Mode::Full, |(mode, _)| *mode);
    if !has_core {
        let most = task(Mode::Full).request_for(least, host).saturating_sub(PROMPT_OF_FULL);
        let full = bound(request, &deferred, most);
        if full > most {
            texts.push(format!("over {}", told(Mode::Full, least)));
        } else if provider::payload(PayloadRequest { mode: Mode::Full, ..*request }).is_ok() {
            mode = Mode::Full;
            texts.insert(0, told(mode, task(mode).tokens(full + PROMPT_OF_FULL, host)));
        }
    }
    let host = grouped(host);
    let reason = format!("a task takes about {}, with {host} tokens of the host's own", texts.join(", "));
    AutoMode { mode, reason }
}

/// Two digits of a number: an estimate has no more.
fn rounded(number: usize) -> usize {
    let unit = 10usize.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number / unit * unit
}

/// Tokens of tools that are bound in full, about. Counting ends once there are more than `most`.
fn bound(request: &PayloadRequest<'_>, tools: &[&ProfileTool<'_>], most: usize) -> usize {
    let mut tokens = 0;
    for chunk in tools.chunks(CHUNK) {
        let profile = Profile { tools: chunk.iter().map(|entry| **entry).collect(), ..*request.profile };
        let request = PayloadRequest { profile: &profile, mode: Mode::Full, ..*request };
        let body = provider::payload_of_any_size(request).map(|payload| payload.body.to_string());
        tokens += body.map_or(0, |body| estimate(&body));
        if tokens > most {
            break;
        }
    }
    tokens
}
