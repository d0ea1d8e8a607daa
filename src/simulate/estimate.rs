//! The cost of tasks with any tools bound in full, computed from a few plays. A task is its calls, as they were played
//! on `full`, and before the first call of a deferred tool its lesson: the requests that the surface asks for, as they
//! were played for this tool alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ledger::{Ledger, PromptCache};
use super::replay::{Played, Replay};
use super::{SimulationError, Task};
use crate::catalog::{Profile, ProfileTool};
use crate::config::Surface;
use crate::tool::DescriptionMode;

/// Tokens of a call, and of what comes into the context after it.
type Step = (usize, usize);

/// A call of a task: the position of its tool among the tools of all tasks, and its tokens when it is made directly.
struct Call {
    tool: usize,
    step: Step,
}

/// The calls of all tasks, and the tools that they need.
pub(super) struct Calls {
    /// Canonical names of the tools, in the order of the catalog.
    pub(super) tools: Vec<String>,
    tasks: Vec<Vec<Call>>,
    /// One call of each tool, as a task.
    samples: Vec<Task>,
    direct: Vec<Step>,
    /// The tasks as they were played on `full`.
    pub(super) full: Played,
}

/// The cost of a tool on one surface.
struct ToolCost {
    /// Tokens that binding it in full adds to each request.
    binding: usize,
    /// The requests before its first call, while it is deferred.
    lesson: Vec<Step>,
    /// Tokens by which a call of it is longer while it is deferred.
    longer: Step,
}

/// The cost of tasks on one surface.
pub(super) struct Estimate<'a> {
    pub(super) surface: Surface,
    calls: &'a Calls,
    tools: Vec<ToolCost>,
    /// Tokens in each request while every tool is deferred.
    fixed: usize,
    pub(super) batched: bool,
    cache: PromptCache,
}

impl Calls {
    /// Plays the tasks on `full`.
    pub(super) async fn of(
        replay: &mut Replay<'_>,
        tasks: &[&Task],
        progress: &dyn Fn(),
    ) -> Result<Self, SimulationError> {
        let whole = with_modes(&profile(replay)?, |_| true);
        let full =
            replay.play(&whole, Surface::Full, tasks, progress).await.map_err(SimulationError::Counts)?;
        let view = Arc::clone(&replay.view);
        let found = |name: &str| view.resolve(name).ok();
        let mut samples: BTreeMap<usize, Task> = BTreeMap::new();
        for call in tasks.iter().flat_map(|task| &task.calls) {
            if let Some(tool) = found(&call.name) {
                let sample = || Task { task: String::new(), calls: vec![call.clone()] };
                samples.entry(tool).or_insert_with(sample);
            }
        }
        let place: HashMap<usize, usize> = samples.keys().copied().zip(0..).collect();
        let tools = samples.keys().map(|tool| view.catalog().tools[*tool].name.clone()).collect();
        let samples: Vec<Task> = samples.into_values().collect();
        let of_task = |(task, ledger): (&&Task, &Ledger)| {
            let tools = task.calls.iter().filter_map(|call| place.get(&found(&call.name)?).copied());
            tools.zip(ledger.steps()).map(|(tool, step)| Call { tool, step }).collect()
        };
        let calls = tasks.iter().zip(&full.ledgers).map(of_task).collect();
        let alone: Vec<&Task> = samples.iter().collect();
        let direct =
            replay.play(&whole, Surface::Full, &alone, &|| ()).await.map_err(SimulationError::Counts)?;
        let direct = direct.ledgers.iter().filter_map(|ledger| ledger.steps().next()).collect();
        Ok(Self { tools, tasks: calls, samples, direct, full })
    }

    /// Positions of the tasks that need each tool.
    pub(super) fn users(&self, among: &[usize]) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.tools.len()];
        for &task in among {
            for tool in self.needed(task) {
                users[tool].push(task);
            }
        }
        users
    }

    /// Tools of a task, in the order of their first calls.
    pub(super) fn needed(&self, task: usize) -> Vec<usize> {
        let mut needed = Vec::new();
        for call in &self.tasks[task] {
            if !needed.contains(&call.tool) {
                needed.push(call.tool);
            }
        }
        needed
    }

    /// The estimate for a surface; `None` where it is not there.
    pub(super) async fn estimate<'c>(
        &'c self,
        replay: &mut Replay<'_>,
        surface: Surface,
    ) -> Result<Option<Estimate<'c>>, SimulationError> {
        // Without full tools `core` is the gateway.
        let base = if surface == Surface::Core { Surface::Gateway } else { surface };
        let deferred = with_modes(&profile(replay)?, |_| false);
        let samples: Vec<&Task> = self.samples.iter().collect();
        let Ok(played) = replay.play(&deferred, base, &samples, &|| ()).await else { return Ok(None) };
        let short = replay.meter.deferred(&deferred, base);
        let tools = self.tools.iter().zip(&played.ledgers).zip(&self.direct);
        let tools = tools.map(|((name, ledger), direct)| {
            let mut lesson: Vec<Step> = ledger.steps().collect();
            let call = lesson.pop().unwrap_or_default();
            let full = replay.definitions.get(name).copied().unwrap_or_default();
            let binding = full.saturating_sub(short.get(name).copied().unwrap_or_default());
            let longer = (call.0.saturating_sub(direct.0), call.1.saturating_sub(direct.1));
            ToolCost { binding, lesson, longer }
        });
        Ok(Some(Estimate {
            surface,
            calls: self,
            tools: tools.collect(),
            fixed: played.bound + played.prompt,
            batched: replay.simulation.batched,
            cache: replay.simulation.cache,
        }))
    }
}

impl Estimate<'_> {
    /// Tokens of each request, without the host's own.
    pub(super) fn fixed(&self, is_full: &[bool]) -> usize {
        let binding = self.tools.iter().zip(is_full).filter(|(_, full)| **full).map(|(tool, _)| tool.binding);
        self.fixed + binding.sum::<usize>()
    }

    /// The cost of a task: tokens for each token of the fixed part, and all other tokens.
    pub(super) fn task(&self, task: usize, is_full: &[bool]) -> (f64, f64) {
        let mut ledger = Ledger::default();
        let mut learnt: Vec<usize> = Vec::new();
        if self.batched {
            learnt = self.calls.needed(task);
            let lessons = learnt.iter().filter(|tool| !is_full[**tool]).map(|tool| &self.tools[*tool].lesson);
            let lessons: Vec<&Vec<Step>> = lessons.collect();
            let longest = lessons.iter().map(|lesson| lesson.len()).max().unwrap_or_default();
            for turn in 0..longest {
                let steps = lessons.iter().filter_map(|lesson| lesson.get(turn));
                let (call, added) = steps.fold((0, 0), |(a, b), step| (a + step.0, b + step.1));
                ledger.turn(call, added);
            }
        }
        for Call { tool, step } in &self.calls.tasks[task] {
            let cost = &self.tools[*tool];
            if !is_full[*tool] && !learnt.contains(tool) {
                learnt.push(*tool);
                cost.lesson.iter().for_each(|(call, added)| ledger.turn(*call, *added));
            }
            let longer = if is_full[*tool] { (0, 0) } else { cost.longer };
            ledger.turn(step.0 + longer.0, step.1 + longer.1);
        }
        ledger.end();
        let rest = ledger.cost(0, self.cache);
        (ledger.cost(1, self.cache) - rest, rest)
    }
}

/// The profile of the simulation.
pub(super) fn profile<'a>(replay: &Replay<'a>) -> Result<Profile<'a>, SimulationError> {
    let simulation = replay.simulation;
    simulation.catalog.profile(simulation.profile).map_err(SimulationError::Profile)
}

/// The same tools: these full, and the others deferred.
pub(super) fn with_modes<'a>(profile: &Profile<'a>, is_full: impl Fn(&str) -> bool) -> Profile<'a> {
    let mode = |name: &str| if is_full(name) { DescriptionMode::Full } else { DescriptionMode::Deferred };
    let entry = |entry: &ProfileTool<'a>| ProfileTool { mode: mode(&entry.tool.name), ..*entry };
    Profile { tools: profile.tools.iter().map(entry).collect(), ..*profile }
}
