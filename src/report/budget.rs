//! What to do when a surface binds more than it may.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::meter::{Meter, is_deferred};
use super::table::grouped;
use super::tool::ToolReport;
use super::with_modes;
use crate::catalog::{Profile, ProfileTool};
use crate::config::{Deferred, Surface};
use crate::tool::{DescriptionMode, clean_line};

/// A profile that binds more than the budget.
#[derive(Debug, Serialize)]
pub struct OverBudget {
    /// The profile; none for the whole catalog.
    pub profile: Option<String>,
    /// The surface.
    pub surface: Surface,
    /// The tokens it may bind.
    pub budget: usize,
    /// The tokens it binds; in o200k.
    pub bound: usize,
    /// Tools to defer, by safe name, the one that saves most first.
    pub defer: Vec<String>,
    /// What is bound when those are deferred.
    pub then: usize,
    /// When that is not enough, surfaces that fit as they are.
    pub surfaces: Vec<Surface>,
    /// When that is not enough, tools to leave out as well, the dearest first.
    pub leave_out: Vec<String>,
    /// What is bound when those are left out, when there is something to leave out.
    pub left: Option<usize>,
}

/// What to do about a profile, if it is over the budget.
pub(super) fn over(meter: &mut Meter<'_>, profile: &Profile<'_>, tools: &[ToolReport]) -> Option<OverBudget> {
    let (budget, surface) = (meter.options.budget?, meter.options.budgeted());
    let bound = meter.bound(profile, surface).ok().filter(|bound| *bound > budget)?;
    let costs: HashMap<&str, Cost> = tools
        .iter()
        .map(|tool| (tool.name.as_str(), Cost::of(tool, meter.options.payload.deferred)))
        .collect();
    let cost = |name: &str| costs.get(name).copied().unwrap_or_default();

    let defers = matches!(surface, Surface::Hybrid | Surface::Native | Surface::Toolset);
    let is_candidate = |entry: &&ProfileTool<'_>| defers && !is_deferred(entry);
    let mut candidates: Vec<&ProfileTool<'_>> = profile.tools.iter().filter(is_candidate).collect();
    candidates.retain(|entry| cost(&entry.tool.name).saving() > 0);
    candidates.sort_by_key(|entry| std::cmp::Reverse(cost(&entry.tool.name).saving()));
    let (defer, then) = fewest(&candidates, budget, |first| {
        let deferred = deferring(profile, first);
        meter.bound(&deferred, surface).unwrap_or(usize::MAX)
    });

    let (mut leave_out, mut left) = (Vec::new(), None);
    let mut surfaces = Vec::new();
    if then > budget {
        let deferred = deferring(profile, defer);
        let mut dearest: Vec<&ProfileTool<'_>> = deferred.tools.iter().collect();
        let costs_here = |entry: &ProfileTool<'_>| {
            let cost = cost(&entry.tool.name);
            if defers && is_deferred(entry) { cost.deferred } else { cost.full }
        };
        dearest.sort_by_key(|entry| std::cmp::Reverse(costs_here(entry)));
        let (first, bound) = fewest(&dearest, budget, |first| {
            let names = names(first);
            let rest =
                with_modes(&deferred, |entry| (!names.contains(entry.tool.name.as_str())).then_some(*entry));
            meter.bound(&rest, surface).unwrap_or(usize::MAX)
        });
        if bound <= budget {
            left = Some(bound);
            leave_out = first.iter().map(|entry| entry.tool.safe_name.clone()).collect();
        }
        let fits = |other: &Surface| {
            *other != surface && meter.bound(profile, *other).is_ok_and(|bound| bound <= budget)
        };
        surfaces = Surface::ALL.into_iter().filter(fits).collect();
    }
    Some(OverBudget {
        profile: profile.name.map(str::to_string),
        surface,
        budget,
        bound,
        defer: defer.iter().map(|entry| entry.tool.safe_name.clone()).collect(),
        then,
        surfaces,
        leave_out,
        left,
    })
}

#[derive(Clone, Copy, Default)]
struct Cost {
    full: usize,
    deferred: usize,
}

impl Cost {
    fn of(tool: &ToolReport, deferred: Deferred) -> Cost {
        let deferred = if deferred == Deferred::Stub { tool.stub } else { tool.compact };
        Cost { full: tool.full.o200k, deferred: deferred.o200k }
    }

    fn saving(self) -> usize {
        self.full.saturating_sub(self.deferred)
    }
}

/// The shortest beginning of a list with which the budget holds, else all of it; and what is bound then. The more of
/// the list, the less is bound: so few lengths have to be tried.
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

fn names<'n>(tools: &'n [&ProfileTool<'_>]) -> HashSet<&'n str> {
    tools.iter().map(|entry| entry.tool.name.as_str()).collect()
}

impl OverBudget {
    /// What is wrong, and what to do, in words.
    pub fn message(&self) -> String {
        let profile = self
            .profile
            .as_ref()
            .map_or("the whole catalog".into(), |name| format!("profile {}", clean_line(name)));
        let [bound, budget, over, then] =
            [self.bound, self.budget, self.bound.saturating_sub(self.budget), self.then].map(grouped);
        let surface = self.surface.as_str();
        let mut message =
            format!("{profile}: {surface} binds {bound} tokens, {over} over the budget of {budget}");
        if !self.defer.is_empty() {
            message += &format!("\n  help: defer first: {}; it binds {then} then", listed(&self.defer));
        }
        if !self.surfaces.is_empty() {
            let names: Vec<&str> = self.surfaces.iter().map(|surface| surface.as_str()).collect();
            message += &format!("\n  help: or take a surface that fits: {}", names.join(", "));
        }
        if let Some(left) = self.left {
            let left = grouped(left);
            message +=
                &format!("\n  help: or leave out as well: {}; it binds {left} then", listed(&self.leave_out));
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
