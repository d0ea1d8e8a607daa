//! The choice of a surface, and of the tools that are bound in full: half of the tasks choose, and the other half judge.
//! The halves are drawn by hashes of the tasks, so that their order does not matter.
//!
//! For each surface the tools are chosen by the [`estimate`](super::estimate) of the tasks that choose; then these tasks are
//! played on each surface with its tools, and the cheapest one is taken.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::choice::choose;
use super::estimate::{Calls, Estimate, profile, with_modes};
use super::ledger::{Ledger, PromptCache};
use super::patch::Patch;
use super::price::{Price, never_called};
use super::replay::{Played, Replay};
use super::{Simulation, SimulationError, Task};
use crate::config::Surface;
use crate::report::tenth;

/// Surfaces that tasks choose from.
pub const CHOICES: [Surface; 5] =
    [Surface::Full, Surface::Hybrid, Surface::Native, Surface::Core, Surface::Gateway];

/// The choices for tasks.
#[derive(Debug, Serialize)]
pub struct Tuning {
    pub registry_version: String,
    pub provider: &'static str,
    pub cache: PromptCache,
    pub batched: bool,
    pub tools: usize,
    pub tasks: usize,
    pub calls: usize,
    /// Names that tasks call, and that no tool of the profile has; they are left out.
    pub unknown: Vec<String>,
    /// Number of tasks that choose, and of those that judge.
    pub choosing: usize,
    pub judging: usize,
    /// One for each host context.
    pub choices: Vec<Choice>,
    /// Tools that no task calls, with their tokens in full, the largest first.
    pub never_called: Vec<Price>,
}

/// The choice for a host context.
#[derive(Debug, Serialize)]
pub struct Choice {
    pub host: usize,
    pub surface: Surface,
    /// Tools in full, and called tools that stay deferred, the most useful first. Both are empty on `full` and `gateway`.
    pub full: Vec<Value>,
    pub deferred: Vec<Value>,
    /// The tasks that judge, on this choice.
    pub judged: Cost,
    /// The tasks that choose, on each surface, from the least to the most tokens.
    pub surfaces: Vec<Cost>,
    /// The tasks that judge, on their own choice.
    pub hindsight: Cost,
    /// Tokens of the tasks that judge above those of hindsight, in percent.
    pub over_hindsight: f64,
    pub patch: Patch,
}

/// Tasks on a surface, with its tools in full.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    pub surface: Surface,
    /// Number of tools in full.
    pub full: usize,
    /// Requests a task, and the same on the surface `full`.
    pub turns: f64,
    pub turns_of_full: f64,
    /// Tokens a task.
    pub tokens: f64,
    /// The same in percent of the surface `full`.
    pub percent: f64,
}

/// The value of binding a tool in full.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    pub name: String,
    /// Number of tasks that choose and need it.
    pub tasks: usize,
    /// Tokens of its definition.
    pub tokens: usize,
    /// Tokens a task that it saves to bind it in full; negative where that costs more.
    pub saves: f64,
}

/// A surface with tools in full, and the tokens that each tool saves.
struct Candidate {
    surface: Surface,
    is_full: Vec<bool>,
    gains: Vec<f64>,
}

/// Everything that choices are made from.
struct Tuner<'a, 'b> {
    replay: &'b mut Replay<'a>,
    tasks: &'b [&'b Task],
    calls: &'b Calls,
    estimates: &'b [Estimate<'b>],
    played: BTreeMap<(usize, Vec<bool>, bool), Played>,
}

impl Tuning {
    /// Chooses for each host of the simulation among its surfaces. `progress` is told of each play of all tasks.
    pub async fn of(
        simulation: &Simulation<'_>,
        tasks: &[Task],
        progress: &dyn Fn(),
    ) -> Result<Self, SimulationError> {
        let mut tasks: Vec<&Task> = tasks.iter().collect();
        tasks.sort_by_cached_key(|task| hash(task));
        if tasks.len() < 2 {
            return Err(SimulationError::Tasks("two tasks are needed: one chooses, and one judges".into()));
        }
        let mut replay = Replay::new(simulation)?;
        let calls = Calls::of(&mut replay, &tasks, progress).await?;
        let mut estimates = Vec::new();
        for surface in simulation.surfaces {
            if [Surface::Hybrid, Surface::Native, Surface::Core].contains(surface) {
                estimates.extend(calls.estimate(&mut replay, *surface).await?);
            }
        }
        let mut tuner = Tuner {
            replay: &mut replay,
            tasks: &tasks,
            calls: &calls,
            estimates: &estimates,
            played: BTreeMap::new(),
        };
        let mut choices = Vec::new();
        for host in simulation.hosts {
            choices.push(tuner.choice(*host).await?);
            progress();
        }
        let profile = profile(&replay)?;
        let is_called = |name: &str| calls.tools.iter().any(|called| called == name);
        let never_called = never_called(&profile, &replay.definitions, is_called);
        Ok(Tuning {
            registry_version: simulation.catalog.version.clone(),
            provider: simulation.provider.as_str(),
            cache: simulation.cache,
            batched: simulation.batched,
            tools: profile.tools.len(),
            tasks: tasks.len(),
            calls: calls.full.events.calls,
            unknown: unknown(&replay, &tasks),
            choosing: half(tasks.len(), false).len(),
            judging: half(tasks.len(), true).len(),
            choices,
            never_called,
        })
    }

    /// Takes tools off those that were never called, since something else than a task has called them.
    pub fn except(&mut self, is_called: impl Fn(&str) -> bool) {
        self.never_called.retain(|tool| !is_called(&tool.name));
    }
}

impl Tuner<'_, '_> {
    async fn choice(&mut self, host: usize) -> Result<Choice, SimulationError> {
        let (chosen, surfaces) = self.best(host, false).await?;
        let (best, _) = self.best(host, true).await?;
        let judged = self.cost(&chosen, true, host).await?;
        let hindsight = self.cost(&best, true, host).await?;
        let (full, deferred) = self.values(&chosen);
        let names = full.iter().map(|value| value.name.as_str()).collect();
        Ok(Choice {
            host,
            surface: chosen.surface,
            over_hindsight: tenth(100.0 * (judged.tokens / hindsight.tokens - 1.0)),
            patch: Patch::of(self.replay.simulation, chosen.surface, &names),
            full,
            deferred,
            judged,
            surfaces,
            hindsight,
        })
    }

    /// The candidate with the fewest tokens for a half, and the costs of all.
    async fn best(&mut self, host: usize, judges: bool) -> Result<(Candidate, Vec<Cost>), SimulationError> {
        let among = half(self.tasks.len(), judges);
        let surfaces = self.replay.simulation.surfaces;
        let plain = surfaces.iter().filter(|surface| [Surface::Full, Surface::Gateway].contains(surface));
        let plain = plain.map(|surface| Candidate { surface: *surface, is_full: vec![], gains: vec![] });
        let mut candidates: Vec<Candidate> = plain.collect();
        for estimate in self.estimates {
            let (is_full, gains) = choose(estimate, self.calls, &among, host);
            // Without full tools `core` is the gateway.
            if estimate.surface != Surface::Core || is_full.contains(&true) {
                candidates.push(Candidate { surface: estimate.surface, is_full, gains });
            }
        }
        let mut costs = Vec::new();
        for candidate in candidates {
            // A surface that is not there cannot be chosen.
            if let Ok(cost) = self.cost(&candidate, judges, host).await {
                costs.push((cost, candidate));
            }
        }
        costs.sort_by(|a, b| a.0.tokens.total_cmp(&b.0.tokens));
        let all = costs.iter().map(|(cost, _)| cost.clone()).collect();
        let best = costs.into_iter().next().map(|(_, candidate)| candidate);
        let none = || SimulationError::Tasks("no surface is left to choose from".into());
        Ok((best.ok_or_else(none)?, all))
    }

    /// The cost of a half of the tasks, played.
    async fn cost(
        &mut self,
        candidate: &Candidate,
        judges: bool,
        host: usize,
    ) -> Result<Cost, SimulationError> {
        let among = half(self.tasks.len(), judges);
        let full = self.calls.full.among(&among);
        let simulation = self.replay.simulation;
        let played = self.play(candidate, judges, &full).await?;
        let (tokens, of_full) = (played.total(simulation, host), full.total(simulation, host));
        Ok(Cost {
            surface: candidate.surface,
            full: candidate.is_full.iter().filter(|full| **full).count(),
            turns: played.mean(Ledger::turns),
            turns_of_full: full.mean(Ledger::turns),
            tokens: tokens.round(),
            percent: tenth(100.0 * tokens / of_full),
        })
    }

    async fn play(
        &mut self,
        candidate: &Candidate,
        judges: bool,
        full: &Played,
    ) -> Result<Played, SimulationError> {
        let Candidate { surface, is_full, .. } = candidate;
        if *surface == Surface::Full {
            return Ok(full.clone());
        }
        let key = (*surface as usize, is_full.clone(), judges);
        if let Some(played) = self.played.get(&key) {
            return Ok(played.clone());
        }
        let names = self.calls.tools.iter().zip(is_full).filter(|(_, full)| **full);
        let names: HashSet<&str> = names.map(|(name, _)| name.as_str()).collect();
        let profile = with_modes(&profile(self.replay)?, |name| names.contains(name));
        let tasks: Vec<&Task> =
            half(self.tasks.len(), judges).into_iter().map(|task| self.tasks[task]).collect();
        let played = self.replay.play(&profile, *surface, &tasks, &|| ()).await;
        let played = played.map_err(SimulationError::Counts)?;
        self.played.insert(key, played.clone());
        Ok(played)
    }

    /// The values of the chosen tools, and of called ones that stay deferred.
    fn values(&self, chosen: &Candidate) -> (Vec<Value>, Vec<Value>) {
        let among = half(self.tasks.len(), false);
        let users = self.calls.users(&among);
        let value = |(tool, gain): (usize, &f64)| Value {
            name: self.calls.tools[tool].clone(),
            tasks: users[tool].len(),
            tokens: self.replay.definitions.get(&self.calls.tools[tool]).copied().unwrap_or_default(),
            saves: tenth(gain / among.len().max(1) as f64),
        };
        let mut values: Vec<(bool, Value)> = chosen
            .gains
            .iter()
            .enumerate()
            .map(value)
            .zip(&chosen.is_full)
            .map(|(value, full)| (*full, value))
            .collect();
        values.sort_by(|(_, a), (_, b)| b.saves.total_cmp(&a.saves).then_with(|| a.name.cmp(&b.name)));
        let (full, deferred): (Vec<_>, Vec<_>) = values.into_iter().partition(|(full, _)| *full);
        let plain = |values: Vec<(bool, Value)>| values.into_iter().map(|(_, value)| value).collect();
        (plain(full), plain(deferred))
    }
}

/// Positions of the tasks of a half: every other one.
fn half(tasks: usize, judges: bool) -> Vec<usize> {
    (0..tasks).skip(usize::from(judges)).step_by(2).collect()
}

/// A hash of a task.
fn hash(task: &Task) -> String {
    blake3::hash(serde_json::json!(task).to_string().as_bytes()).to_hex().to_string()
}

/// Names that tasks call and no tool of the profile has.
fn unknown(replay: &Replay<'_>, tasks: &[&Task]) -> Vec<String> {
    let names = tasks.iter().flat_map(|task| &task.calls).map(|call| &call.name);
    let mut unknown: Vec<String> = names.filter(|name| replay.view.resolve(name).is_err()).cloned().collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}
