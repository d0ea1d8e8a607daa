//! Advice for a mode that binds more tokens than the budget.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::layout::grouped;
use super::meter::{Meter, is_deferred};
use super::tool::{self, ToolReport};
use super::with_modes;
use crate::catalog::{Profile, ProfileTool};
use crate::config::Mode;
use crate::tool::{DescriptionMode, clean_line};

/// A profile that binds more than the budget, or has no payload.
#[derive(Debug, Serialize)]
pub struct OverBudget {
    /// The profile; `None` for the whole catalog.
    pub profile: Option<String>,
    /// The mode.
    pub mode: Mode,
    /// Tokens that it may bind.
    pub budget: usize,
    /// The reason why there is no payload, if there is none.
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
    let mode = meter.options.provider.mode(meter.budgeted(profile));
    let mut over = OverBudget {
        profile: profile.name.map(str::to_string),
        mode,
        budget,
        problem: None,
        bound: None,
        defer: Vec::new(),
        then: None,
        modes: Vec::new(),
    };
    match meter.bound(profile, mode) {
        Ok(bound) if bound <= budget => return None,
        Ok(bound) => over.bound = Some(bound),
        Err(error) => {
            over.problem = Some(error.to_string());
            over.modes = fitting(meter, profile, mode, budget);
            return Some(over);
        }
    }
    let savings = savings(meter, profile, mode, tools);
    let defer = to_defer(meter, profile, mode, |entry| {
        savings.get(entry.tool.name.as_str()).copied().unwrap_or_default()
    });
    let (defer, then) =
        fewest(&defer, budget, |first| meter.bound(&deferring(profile, first), mode).unwrap_or(usize::MAX));
    over.defer = safe_names(defer);
    over.then = Some(then);
    if then > budget {
        over.modes = fitting(meter, profile, mode, budget);
    }
    Some(over)
}

/// Tokens that deferring each tool saves in a mode, by name.
fn savings<'t>(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    mode: Mode,
    tools: &'t [ToolReport],
) -> HashMap<&'t str, usize> {
    let deferred = match mode {
        Mode::Hybrid | Mode::Native => tool::deferred(meter, profile, mode, meter.options.payload.deferred),
        _ => HashMap::new(),
    };
    let saving = |tool: &ToolReport| match mode {
        // A tool that cannot be deferred saves nothing.
        Mode::Hybrid | Mode::Native => {
            deferred.get(&tool.name).map_or(0, |count| tool.full.o200k.saturating_sub(count.o200k))
        }
        // A deferred tool takes no tokens until it is found.
        Mode::Gateway => tool.full.o200k,
        Mode::Full | Mode::Files => 0,
    };
    tools.iter().map(|tool| (tool.name.as_str(), saving(tool))).collect()
}

/// Tools that can be deferred, the largest saving first; a tool with the name of one of our functions cannot be.
fn to_defer<'p, 'a>(
    meter: &mut Meter<'_>,
    profile: &'p Profile<'a>,
    mode: Mode,
    saving: impl Fn(&ProfileTool<'_>) -> usize,
) -> Vec<&'p ProfileTool<'a>> {
    let saves = |entry: &&ProfileTool<'_>| !is_deferred(entry) && saving(entry) > 0;
    let mut tools: Vec<&ProfileTool<'_>> = profile.tools.iter().filter(saves).collect();
    tools.sort_by_key(|entry| Reverse(saving(entry)));
    let can_be_made = meter.bound(&deferring(profile, &tools), mode).is_ok();
    if can_be_made { tools } else { Vec::new() }
}

/// Other modes within the budget.
fn fitting(meter: &mut Meter<'_>, profile: &Profile<'_>, but: Mode, budget: usize) -> Vec<Mode> {
    let provider = meter.options.provider;
    let mut fits = |mode: &Mode| {
        provider.mode(*mode) != but && meter.bound(profile, *mode).is_ok_and(|bound| bound <= budget)
    };
    Mode::ALL.iter().copied().filter(|mode| fits(mode)).collect()
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
    let names = names(tools);
    with_modes(profile, |entry| {
        let is_named = names.contains(entry.tool.name.as_str());
        Some(ProfileTool { mode: if is_named { DescriptionMode::Deferred } else { entry.mode }, ..*entry })
    })
}

fn safe_names(tools: &[&ProfileTool<'_>]) -> Vec<String> {
    tools.iter().map(|entry| entry.tool.safe_name.clone()).collect()
}

fn names<'n>(tools: &'n [&ProfileTool<'_>]) -> HashSet<&'n str> {
    tools.iter().map(|entry| entry.tool.name.as_str()).collect()
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
mod tests {
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
