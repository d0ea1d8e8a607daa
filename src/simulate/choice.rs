//! The tools to bind in full, chosen by the joint cost of tasks. An agent that searches for all steps of a task at once
//! saves the search only when nothing is left to search for, so tools that tasks need together are tried together.

use std::collections::BTreeMap;

use super::estimate::{Calls, Estimate};

/// Most sets of tools that are tried together, the most frequent first: bounds the time.
const SETS: usize = 64;

/// The choice while it grows.
struct Choice<'a> {
    estimate: &'a Estimate<'a>,
    host: usize,
    is_full: Vec<bool>,
    /// Tasks by tool.
    users: Vec<Vec<usize>>,
    /// The cost of each task: tokens for each token of the fixed part, and all others.
    costs: BTreeMap<usize, (f64, f64)>,
    sums: (f64, f64),
}

/// The tools of these tasks to bind in full, and the tokens that each saves, or would cost, in all of them.
pub(super) fn choose(
    estimate: &Estimate<'_>,
    calls: &Calls,
    among: &[usize],
    host: usize,
) -> (Vec<bool>, Vec<f64>) {
    let is_full = vec![false; calls.tools.len()];
    let costs: BTreeMap<usize, (f64, f64)> =
        among.iter().map(|task| (*task, estimate.task(*task, &is_full))).collect();
    let sums = costs.values().fold((0.0, 0.0), |(a, b), cost| (a + cost.0, b + cost.1));
    let mut choice = Choice { estimate, host, is_full, users: calls.users(among), costs, sums };
    while let Some(flip) = choice.best_flip(calls, among) {
        choice.flip(&flip);
    }
    let gain = |tool: usize| {
        let gain = choice.gain(&[tool]);
        if choice.is_full[tool] { -gain } else { gain }
    };
    let gains = (0..calls.tools.len()).map(gain).collect();
    (choice.is_full, gains)
}

impl Choice<'_> {
    /// The change of modes that saves the most, if any saves something.
    fn best_flip(&self, calls: &Calls, among: &[usize]) -> Option<Vec<usize>> {
        let used = (0..self.users.len()).filter(|tool| !self.users[*tool].is_empty());
        let mut best: (f64, Option<Vec<usize>>) = (0.5, None);
        for flip in used.map(|tool| vec![tool]).chain(self.sets(calls, among)) {
            let gain = self.gain(&flip);
            if gain > best.0 {
                best = (gain, Some(flip));
            }
        }
        best.1
    }

    /// The deferred tools that tasks need together, the most frequent sets first.
    fn sets(&self, calls: &Calls, among: &[usize]) -> Vec<Vec<usize>> {
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        // An agent that searches for one tool at a time saves a search with each.
        let among = if self.estimate.batched { among } else { &[] };
        for task in among {
            let mut missing = calls.needed(*task);
            missing.retain(|tool| !self.is_full[*tool]);
            missing.sort_unstable();
            if missing.len() > 1 {
                *counts.entry(missing).or_default() += 1;
            }
        }
        let mut sets: Vec<(Vec<usize>, usize)> = counts.into_iter().collect();
        sets.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        sets.into_iter().take(SETS).map(|(set, _)| set).collect()
    }

    /// Tokens that it saves to change the modes of these tools.
    fn gain(&self, flip: &[usize]) -> f64 {
        let is_full = self.flipped(flip);
        let mut sums = self.sums;
        for task in self.touched(flip) {
            let (old, new) = (self.costs[&task], self.estimate.task(task, &is_full));
            sums = (sums.0 + new.0 - old.0, sums.1 + new.1 - old.1);
        }
        self.total(self.sums, &self.is_full) - self.total(sums, &is_full)
    }

    fn flip(&mut self, flip: &[usize]) {
        self.is_full = self.flipped(flip);
        for task in self.touched(flip) {
            self.costs.insert(task, self.estimate.task(task, &self.is_full));
        }
        self.sums = self.costs.values().fold((0.0, 0.0), |(a, b), cost| (a + cost.0, b + cost.1));
    }

    fn flipped(&self, flip: &[usize]) -> Vec<bool> {
        let mut is_full = self.is_full.clone();
        flip.iter().for_each(|tool| is_full[*tool] = !is_full[*tool]);
        is_full
    }

    /// The tasks that need one of these tools, each once.
    fn touched(&self, flip: &[usize]) -> Vec<usize> {
        let mut tasks: Vec<usize> = flip.iter().flat_map(|tool| self.users[*tool].iter().copied()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }

    fn total(&self, (requests, rest): (f64, f64), is_full: &[bool]) -> f64 {
        requests * (self.host + self.estimate.fixed(is_full)) as f64 + rest
    }
}
