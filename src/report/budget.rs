//! What to do when a surface binds more than it may.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::meter::{Meter, is_deferred};
use super::table::grouped;
use super::tool::{self, ToolReport};
use super::with_modes;
use crate::catalog::{Profile, ProfileTool};
use crate::config::Surface;
use crate::tool::{DescriptionMode, clean_line};

/// A profile that binds more than the budget, or of which no payload can be made.
#[derive(Debug, Serialize)]
pub struct OverBudget {
    /// The profile; none for the whole catalog.
    pub profile: Option<String>,
    /// The surface.
    pub surface: Surface,
    /// The tokens it may bind.
    pub budget: usize,
    /// Why no payload can be made, if none can.
    pub problem: Option<String>,
    /// The tokens it binds; in o200k. None when no payload can be made.
    pub bound: Option<usize>,
    /// Tools to defer, by safe name, the one that saves most first.
    pub defer: Vec<String>,
    /// What is bound when those are deferred.
    pub then: Option<usize>,
    /// When that is not enough, surfaces that fit as they are.
    pub surfaces: Vec<Surface>,
    /// When that is not enough, tools to leave out as well, the dearest first.
    pub leave_out: Vec<String>,
    /// What is bound when those are left out, when there is something to leave out.
    pub left: Option<usize>,
}

/// What to do about a profile, if it is over the budget.
pub(super) fn over(meter: &mut Meter<'_>, profile: &Profile<'_>, tools: &[ToolReport]) -> Option<OverBudget> {
    let budget = meter.options.budget?;
    let surface = meter.options.provider.surface(meter.options.budgeted());
    let mut over = OverBudget {
        profile: profile.name.map(str::to_string),
        surface,
        budget,
        problem: None,
        bound: None,
        defer: Vec::new(),
        then: None,
        surfaces: Vec::new(),
        leave_out: Vec::new(),
        left: None,
    };
    match meter.bound(profile, surface) {
        Ok(bound) if bound <= budget => return None,
        Ok(bound) => over.bound = Some(bound),
        Err(error) => {
            over.problem = Some(error.to_string());
            over.surfaces = fitting(meter, profile, surface, budget);
            return Some(over);
        }
    }
    let costs = costs(meter, profile, surface, tools);
    let cost = |entry: &ProfileTool<'_>| costs.get(entry.tool.name.as_str()).copied().unwrap_or_default();

    let defer = to_defer(meter, profile, surface, cost);
    let (defer, then) = fewest(&defer, budget, |first| {
        meter.bound(&deferring(profile, first), surface).unwrap_or(usize::MAX)
    });
    over.defer = safe_names(defer);
    over.then = Some(then);
    if then > budget {
        over.surfaces = fitting(meter, profile, surface, budget);
        let deferred = deferring(profile, defer);
        let cost_here = |entry: &ProfileTool<'_>| {
            if is_deferred(entry) { cost(entry).deferred } else { cost(entry).full }
        };
        let mut dearest: Vec<&ProfileTool<'_>> =
            deferred.tools.iter().filter(|entry| cost_here(entry) > 0).collect();
        dearest.sort_by_key(|entry| Reverse(cost_here(entry)));
        let (first, bound) = fewest(&dearest, budget, |first| {
            meter.bound(&without(&deferred, first), surface).unwrap_or(usize::MAX)
        });
        if bound <= budget {
            over.left = Some(bound);
            over.leave_out = safe_names(first);
        }
    }
    Some(over)
}

/// What one tool takes of the context on a surface.
#[derive(Clone, Copy, Default)]
struct DeferralCost {
    full: usize,
    deferred: usize,
}

impl DeferralCost {
    fn saving(self) -> usize {
        self.full.saturating_sub(self.deferred)
    }
}

/// What each tool takes on a surface, by name.
fn costs<'t>(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    surface: Surface,
    tools: &'t [ToolReport],
) -> HashMap<&'t str, DeferralCost> {
    let deferred = match surface {
        Surface::Hybrid | Surface::Native => {
            tool::deferred(meter, profile, surface, meter.options.payload.deferred)
        }
        _ => HashMap::new(),
    };
    let of = |tool: &'t ToolReport| {
        let full = tool.full.o200k;
        let cost = match surface {
            // What cannot be deferred saves nothing.
            Surface::Hybrid | Surface::Native => {
                DeferralCost { full, deferred: deferred.get(&tool.name).map_or(full, |count| count.o200k) }
            }
            Surface::Full => DeferralCost { full, deferred: full },
            // Nothing of it, until it is loaded.
            Surface::Toolset => DeferralCost { full, deferred: 0 },
            Surface::Gateway | Surface::Files => DeferralCost::default(),
        };
        (tool.name.as_str(), cost)
    };
    tools.iter().map(of).collect()
}

/// Tools that can be deferred, the one that saves most first; none when our own function would meet one of them.
fn to_defer<'p, 'a>(
    meter: &mut Meter<'_>,
    profile: &'p Profile<'a>,
    surface: Surface,
    cost: impl Fn(&ProfileTool<'_>) -> DeferralCost,
) -> Vec<&'p ProfileTool<'a>> {
    let saves = |entry: &&ProfileTool<'_>| !is_deferred(entry) && cost(entry).saving() > 0;
    let mut tools: Vec<&ProfileTool<'_>> = profile.tools.iter().filter(saves).collect();
    tools.sort_by_key(|entry| Reverse(cost(entry).saving()));
    let can_be_made = meter.bound(&deferring(profile, &tools), surface).is_ok();
    if can_be_made { tools } else { Vec::new() }
}

/// Other surfaces that keep to the budget.
fn fitting(meter: &mut Meter<'_>, profile: &Profile<'_>, but: Surface, budget: usize) -> Vec<Surface> {
    let provider = meter.options.provider;
    let mut fits = |surface: &Surface| {
        provider.surface(*surface) != but && meter.bound(profile, *surface).is_ok_and(|bound| bound <= budget)
    };
    Surface::ALL.into_iter().filter(|surface| fits(surface)).collect()
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

fn without<'a>(profile: &Profile<'a>, tools: &[&ProfileTool<'_>]) -> Profile<'a> {
    let names = names(tools);
    with_modes(profile, |entry| (!names.contains(entry.tool.name.as_str())).then_some(*entry))
}

fn safe_names(tools: &[&ProfileTool<'_>]) -> Vec<String> {
    tools.iter().map(|entry| entry.tool.safe_name.clone()).collect()
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
        let (surface, budget) = (self.surface.as_str(), grouped(self.budget));
        let mut message = match (self.bound, &self.problem) {
            (Some(bound), _) => {
                let over = grouped(bound.saturating_sub(self.budget));
                format!(
                    "{profile}: {surface} binds {} tokens, {over} over the budget of {budget}",
                    grouped(bound)
                )
            }
            (None, problem) => {
                let problem = clean_line(problem.as_deref().unwrap_or_default());
                format!("{profile}: {surface} cannot be held to the budget of {budget}: {problem}")
            }
        };
        if let Some(then) = self.then.filter(|_| !self.defer.is_empty()) {
            let then = grouped(then);
            message += &format!("\n  help: defer first: {}; it binds {then} then", listed(&self.defer));
        }
        if !self.surfaces.is_empty() {
            let names: Vec<&str> = self.surfaces.iter().map(|surface| surface.as_str()).collect();
            let or = if self.defer.is_empty() { "" } else { "or " };
            message += &format!("\n  help: {or}take a surface that fits: {}", names.join(", "));
        }
        if let Some(left) = self.left {
            let (left, tools) = (grouped(left), listed(&self.leave_out));
            message += &match self.defer.is_empty() {
                true => format!("\n  help: or leave out: {tools}; it binds {left} then"),
                false => format!("\n  help: or leave out as well: {tools}; it binds {left} then"),
            };
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
