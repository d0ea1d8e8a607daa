//! The surfaces, compared over all tasks.

use std::sync::Arc;

use serde::Serialize;

use super::agent::{Agent, Events, Mistakes};
use super::ledger::{Ledger, PromptCache};
use super::{Simulation, SimulationError, Task};
use crate::catalog::Tool;
use crate::config::Surface;
use crate::functions::CatalogView;
use crate::report::RequestMeter;
use crate::tokens::Counter;

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

/// The tasks as they were played on one surface.
struct Played {
    surface: Surface,
    bound: usize,
    prompt: usize,
    ledgers: Vec<Ledger>,
    events: Events,
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
        let view = CatalogView::new(catalog, simulation.profile, None, Arc::clone(&simulation.templates));
        let view = Arc::new(view.map_err(SimulationError::Profile)?);
        let mut meter = RequestMeter::new(catalog, &simulation.templates, simulation.provider);
        let definitions = meter.definitions(&profile);
        let definition = |tool: &Tool| definitions.get(&tool.name).copied().unwrap_or_default();
        let mut counter = Counter::default();
        let mut surfaces = vec![Surface::Full];
        surfaces.extend(simulation.surfaces.iter().filter(|surface| **surface != Surface::Full));
        let mut played = Vec::new();
        for &surface in &surfaces {
            let (taken, bound, prompt) = meter.request(&profile, surface).map_err(SimulationError::Counts)?;
            if taken != surface {
                continue;
            }
            let (batched, view) = (simulation.batched, Arc::clone(&view));
            let mut agent = Agent {
                surface,
                batched,
                view,
                profile: &profile,
                counter: &mut counter,
                definition: &definition,
            };
            let mut mistakes = simulation.noise.map(Mistakes::of);
            let (mut ledgers, mut events) = (Vec::new(), Events::default());
            for task in tasks {
                let (ledger, seen) = agent.play(task, mistakes.as_mut()).await;
                ledgers.push(ledger);
                events.add(seen);
                progress();
            }
            played.push(Played { surface, bound, prompt, ledgers, events });
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
            auto: meter.auto(&profile).surface,
            tasks: tasks.len(),
            calls: full.events.calls,
            unknown_calls: full.events.unknown,
            hosts: simulation.hosts.to_vec(),
            surfaces: costs,
        })
    }
}

impl Played {
    fn total(&self, simulation: &Simulation<'_>, host: usize) -> f64 {
        let fixed = host + self.bound + self.prompt;
        let all: f64 = self.ledgers.iter().map(|ledger| ledger.cost(fixed, simulation.cache)).sum();
        all / self.ledgers.len().max(1) as f64
    }

    fn mean(&self, of: impl Fn(&Ledger) -> usize) -> f64 {
        tenth(self.ledgers.iter().map(of).sum::<usize>() as f64 / self.ledgers.len().max(1) as f64)
    }

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

/// Rounded to one decimal.
fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
