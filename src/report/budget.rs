//! Advice for a mode that binds more tokens than the budget.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::meter::{Meter, is_deferred};
use super::table::{ToolReport, grouped};
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
            deferred.get(&tool.name).map_or(0, |count| tool.full.o200k.saturating_sub(count.o200k))
        }
        // A deferred tool takes no tokens until it is found.
        Mode::Gateway => tool.full.o200k,
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
