//! The estimate of a whole task, and the mode that `auto` stands for: the one on which a task is estimated to cost least.
//!
//! A task is many requests, and each carries the host's own context, the bound tools and the section of the prompt. A
//! mode that binds less takes more requests: a search, or a doc, before the first call of a tool. The assumptions
//! are means of `toolcrib-lab simulate` over 155 tasks of 4.5 calls: between an agent that searches for one step at a time, and
//! one that searches for all steps at once. With core tools about half of these requests are saved.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Serialize;

use super::meter::{FOLDER, Meter, in_context, is_deferred};
use super::table::{ToolReport, grouped};
use super::with_modes;
use crate::{self as provider, PayloadRequest, Provider, ProviderFormat};
use toolcrib_catalog::config::{self, Mode, SearchBy};
use toolcrib_catalog::{Catalog, Profile, ProfileTool, UnknownProfile};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::tokens::exact;
use toolcrib_definition::{DescriptionMode, clean_line};
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
    let (has_core, itself) = (profile.full().next().is_some(), searches_itself(provider, &options));
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
    let (texts, host) = (texts.join(", "), grouped(options.host_tokens));
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

// Advice for a mode that binds more tokens than the budget.

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
    /// Tools to defer, by safe name, the largest saving first.
    pub defer: Vec<String>,
    /// Tokens bound when these tools are deferred.
    pub then: Option<usize>,
    /// When that is not enough, modes that fit as they are.
    pub modes: Vec<Mode>,
}

/// Advice for a profile, if it is over the budget.
pub(super) fn over(meter: &mut Meter<'_>, profile: &Profile<'_>, tools: &[ToolReport]) -> Option<OverBudget> {
    let budget = meter.options.budget?;
    let provider = meter.options.payload.provider;
    let mode = provider.mode(meter.budgeted(profile));
    let bound = meter.bound(profile, mode);
    if bound.as_ref().is_ok_and(|bound| *bound <= budget) {
        return None;
    }
    let (mut defer, mut then) = (Vec::new(), None);
    if bound.is_ok() {
        let able = to_defer(meter, profile, mode, tools);
        let bound = |first: &[_]| meter.bound(&deferring(profile, first), mode).unwrap_or(usize::MAX);
        let (fewest, bound) = fewest(&able, budget, bound);
        defer = fewest.iter().map(|entry| entry.tool.safe_name.clone()).collect();
        then = Some(bound);
    }
    let mut fits = |other: &Mode| {
        provider.mode(*other) != mode && meter.bound(profile, *other).is_ok_and(|bound| bound <= budget)
    };
    let modes = match then {
        Some(then) if then <= budget => Vec::new(),
        _ => Mode::ALL.iter().copied().filter(|mode| fits(mode)).collect(),
    };
    let profile = profile.name.map(str::to_string);
    let problem = bound.as_ref().err().map(ToString::to_string);
    Some(OverBudget { profile, mode, budget, problem, bound: bound.ok(), defer, then, modes })
}

/// Tools that can be deferred in a mode, the largest saving first; a tool with the name of one of our functions cannot
/// be.
fn to_defer<'p, 'a>(
    meter: &mut Meter<'_>,
    profile: &'p Profile<'a>,
    mode: Mode,
    tools: &[ToolReport],
) -> Vec<&'p ProfileTool<'a>> {
    let deferred = match mode {
        Mode::Hybrid | Mode::Native => meter.deferred(profile, mode, meter.options.payload.deferred),
        _ => HashMap::new(),
    };
    let saving = |tool: &ToolReport| match mode {
        // A tool that cannot be deferred saves nothing.
        Mode::Hybrid | Mode::Native => {
            deferred.get(&tool.name).map_or(0, |count| tool.full.saturating_sub(*count))
        }
        // A deferred tool takes no tokens until it is found.
        Mode::Gateway => tool.full,
        Mode::Full | Mode::Files => 0,
    };
    let savings: HashMap<&str, usize> = tools.iter().map(|tool| (tool.name.as_str(), saving(tool))).collect();
    let saving = |entry: &ProfileTool<'_>| savings.get(entry.tool.name.as_str()).copied().unwrap_or_default();
    let saves = |entry: &&ProfileTool<'_>| !is_deferred(entry) && saving(entry) > 0;
    let mut able: Vec<&ProfileTool<'_>> = profile.tools.iter().filter(saves).collect();
    able.sort_by_key(|entry| Reverse(saving(entry)));
    let can_be_made = meter.bound(&deferring(profile, &able), mode).is_ok();
    if can_be_made { able } else { Vec::new() }
}

/// The shortest beginning of a list with which the budget holds, else all of it; and the tokens bound then. A longer
/// list binds fewer tokens, so bisection finds the length.
fn fewest<T>(list: &[T], budget: usize, mut bound: impl FnMut(&[T]) -> usize) -> (&[T], usize) {
    let (mut enough, mut then) = (list.len(), bound(list));
    let mut too_few = 0;
    while then <= budget && too_few + 1 < enough {
        let middle = (too_few + enough) / 2;
        let tried = bound(&list[..middle]);
        if tried <= budget {
            (enough, then) = (middle, tried);
        } else {
            too_few = middle;
        }
    }
    (&list[..enough], then)
}

fn deferring<'a>(profile: &Profile<'a>, tools: &[&ProfileTool<'_>]) -> Profile<'a> {
    let names: HashSet<&str> = tools.iter().map(|entry| entry.tool.name.as_str()).collect();
    with_modes(profile, |entry| match names.contains(entry.tool.name.as_str()) {
        true => DescriptionMode::Deferred,
        false => entry.mode,
    })
}

impl OverBudget {
    /// The problem and the advice, in words.
    pub fn message(&self) -> String {
        let profile = self
            .profile
            .as_ref()
            .map_or("the whole catalog".into(), |name| format!("profile {}", clean_line(name)));
        let (mode, budget) = (self.mode.as_str(), grouped(self.budget));
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
        if let Some(then) = self.then.filter(|_| !self.defer.is_empty()) {
            let then = grouped(then);
            message += &format!("\n  help: defer first: {}; it binds {then} then", listed(&self.defer));
        }
        if !self.modes.is_empty() {
            let names: Vec<&str> = self.modes.iter().map(|mode| mode.as_str()).collect();
            let or = if self.defer.is_empty() { "" } else { "or " };
            message += &format!("\n  help: {or}take a mode that fits: {}", names.join(", "));
        }
        message
    }
}

/// The first of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

#[cfg(test)]
mod budget_tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_needed() {
        let savings = [50, 30, 10, 5];
        let check = |budget, expect| {
            let (taken, bound) = fewest(&savings, budget, |taken| 100 - taken.iter().sum::<usize>());
            assert_eq!((taken.len(), bound), expect, "{budget}");
        };
        check(99, (1, 50));
        check(50, (1, 50));
        check(49, (2, 20));
        check(20, (2, 20));
        check(10, (3, 10));
        check(5, (4, 5));
        check(4, (4, 5));
        assert_eq!(fewest::<usize>(&[], 10, |_| 100), (&[][..], 100));
    }
}
