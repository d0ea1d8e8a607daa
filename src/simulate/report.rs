//! The surfaces, compared over all tasks.

use serde::Serialize;

use super::ledger::{Ledger, PromptCache};
use super::replay::{Played, Replay};
use super::{Simulation, SimulationError, Task};
use crate::config::Surface;
use crate::report::tenth;

/// The cost of all tasks on each surface.
#[derive(Debug, Serialize)]
pub struct Report {
    pub registry_version: String,
    pub provider: &'static str,
    pub cache: PromptCache,
    pub batched: bool,
    /// The seed of an agent that makes mistakes.
    pub noise: Option<u64>,
    pub tools: usize,
    /// The surface that `auto` stands for.
    pub auto: Surface,
    pub tasks: usize,
    pub calls: usize,
    /// Calls of tools that are not in the catalog; they are left out.
    pub unknown_calls: usize,
    /// Tokens of the host's own context that `total` and `percent` are for.
    pub hosts: Vec<usize>,
    /// From the least to the most tokens at the largest host context.
    pub surfaces: Vec<SurfaceCost>,
    pub left_out: Vec<LeftOut>,
}

/// The cost of one surface.
#[derive(Debug, Serialize)]
pub struct SurfaceCost {
    pub surface: Surface,
    /// Requests a task, on average.
    pub turns: f64,
    /// Tokens that each request has: the bound tools, and the section of the prompt.
    pub bound: usize,
    pub prompt: usize,
    /// Tokens a task of calls, and of answers, each counted once.
    pub calls: f64,
    pub answers: f64,
    /// Tokens a task in all requests, for each host context.
    pub total: Vec<f64>,
    /// The same in percent of `full`.
    pub percent: Vec<f64>,
    /// First searches: how many, the share with the right tool first, the share that has it, and the share of
    /// `no_match`, in percent.
    pub searches: usize,
    pub right_first: Option<f64>,
    pub right_found: Option<f64>,
    pub wrong_no_match: Option<f64>,
    /// Right calls that were refused, and wrong ones that ran.
    pub refused_right: usize,
    pub accepted_wrong: usize,
    /// The refusal of the first right call that was refused.
    pub refusal: Option<String>,
}

/// A surface that was not played.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    pub surface: Surface,
    pub reason: String,
}

impl Report {
    /// Plays all tasks on all surfaces. `progress` is told of each task.
    pub async fn of(
        simulation: &Simulation<'_>,
        tasks: &[Task],
        progress: &dyn Fn(),
    ) -> Result<Self, SimulationError> {
        let catalog = simulation.catalog;
        let profile = catalog.profile(simulation.profile).map_err(SimulationError::Profile)?;
        let mut replay = Replay::new(simulation)?;
        let tasks: Vec<&Task> = tasks.iter().collect();
        let mut surfaces = vec![Surface::Full];
        surfaces.extend(simulation.surfaces.iter().filter(|surface| **surface != Surface::Full));
        let (mut played, mut left_out) = (Vec::new(), Vec::new());
        for &surface in &surfaces {
            match replay.play(&profile, surface, &tasks, progress).await {
                Ok(one) => played.push(one),
                Err(reason) if surface == Surface::Full => return Err(SimulationError::Counts(reason)),
                Err(reason) => left_out.push(LeftOut { surface, reason }),
            }
        }
        let full = &played[0];
        let mut costs: Vec<SurfaceCost> = played.iter().map(|played| played.cost(simulation, full)).collect();
        costs.retain(|cost| simulation.surfaces.contains(&cost.surface));
        costs
            .sort_by(|a, b| a.total.last().partial_cmp(&b.total.last()).unwrap_or(std::cmp::Ordering::Equal));
        Ok(Report {
            registry_version: catalog.version.clone(),
            provider: simulation.provider.as_str(),
            cache: simulation.cache,
            batched: simulation.batched,
            noise: simulation.noise,
            tools: profile.tools.len(),
            auto: replay.meter.auto(&profile).surface,
            tasks: tasks.len(),
            calls: full.events.calls,
            unknown_calls: full.events.unknown,
            hosts: simulation.hosts.to_vec(),
            surfaces: costs,
            left_out,
        })
    }
}

impl Played {
    fn cost(&self, simulation: &Simulation<'_>, full: &Played) -> SurfaceCost {
        let events = &self.events;
        let share =
            |part: usize| (events.searches > 0).then(|| tenth(100.0 * part as f64 / events.searches as f64));
        let total = |host: &usize| self.total(simulation, *host);
        let percent =
            |host: &usize| tenth(100.0 * self.total(simulation, *host) / full.total(simulation, *host));
        SurfaceCost {
            surface: self.surface,
            turns: self.mean(Ledger::turns),
            bound: self.bound,
            prompt: self.prompt,
            calls: self.mean(|ledger| ledger.calls),
            answers: self.mean(|ledger| ledger.answers),
            total: simulation.hosts.iter().map(total).map(f64::round).collect(),
            percent: simulation.hosts.iter().map(percent).collect(),
            searches: events.searches,
            right_first: share(events.first),
            right_found: share(events.found),
            wrong_no_match: share(events.no_match),
            refused_right: events.refused,
            accepted_wrong: events.accepted,
            refusal: events.refusal.clone(),
        }
    }
}
