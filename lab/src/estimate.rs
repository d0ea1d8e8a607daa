//! The cost of tasks with any tools bound in full, computed from a few plays. A task is its calls, as they were played
//! on `full`, and before the first call of a deferred tool its lesson: the requests that the mode asks for, as they
//! were played for this tool alone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use toolcrib::Mode;
use toolcrib::catalog::{Profile, ProfileTool};
use toolcrib::definition::DescriptionMode;

use crate::Result;
use crate::ledger::{Ledger, PromptCache};
use crate::replay::{Played, Replay};
use crate::tasks::Task;

/// Tokens of a call, and of what comes into the context after it.
type Step = (usize, usize);

/// A call of a task: the position of its tool among the tools of all tasks, and its tokens when it is made directly.
struct Call {
    tool: usize,
    step: Step,
}

/// The calls of all tasks, and the tools that they need.
pub struct Calls {
    /// Canonical names of the tools, in the order of the catalog.
    pub tools: Vec<String>,
    tasks: Vec<Vec<Call>>,
    /// One call of each tool, as a task.
    samples: Vec<Task>,
    direct: Vec<Step>,
    /// The tasks as they were played on `full`.
    pub full: Played,
}

/// The cost of a tool in one mode.
struct ToolCost {
    /// Tokens that binding it in full adds to each request.
    binding: usize,
    /// The requests before its first call, while it is deferred.
    lesson: Vec<Step>,
    /// Tokens by which a call of it is longer while it is deferred.
    longer: Step,
}

/// The cost of tasks in one mode.
pub struct Estimate<'a> {
    pub mode: Mode,
    calls: &'a Calls,
    tools: Vec<ToolCost>,
    /// Tokens in each request while every tool is deferred.
    fixed: usize,
    cache: PromptCache,
}

impl Calls {
    /// Plays the tasks on `full`.
    pub async fn of(replay: &mut Replay<'_>, tasks: &[&Task]) -> Result<Self> {
        let whole = with_modes(&profile(replay)?, |_| true);
        let full = replay.play(&whole, Mode::Full, tasks).await?;
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
        let tools = samples.keys().map(|tool| view.catalog().tools[*tool].names.canonical.clone()).collect();
        let samples: Vec<Task> = samples.into_values().collect();
        let of_task = |(task, ledger): (&&Task, &Ledger)| {
            let tools = task.calls.iter().filter_map(|call| place.get(&found(&call.name)?).copied());
            tools.zip(ledger.steps()).map(|(tool, step)| Call { tool, step }).collect()
        };
        let calls = tasks.iter().zip(&full.ledgers).map(of_task).collect();
        let alone: Vec<&Task> = samples.iter().collect();
        let direct = replay.play(&whole, Mode::Full, &alone).await?;
        let direct = direct.ledgers.iter().filter_map(|ledger| ledger.steps().next()).collect();
        Ok(Self { tools, tasks: calls, samples, direct, full })
    }

    /// The estimate for a mode; `None` where it is not there.
    pub async fn estimate<'c>(&'c self, replay: &mut Replay<'_>, mode: Mode) -> Result<Option<Estimate<'c>>> {
        let deferred = with_modes(&profile(replay)?, |_| false);
        let samples: Vec<&Task> = self.samples.iter().collect();
        let Ok(played) = replay.play(&deferred, mode, &samples).await else { return Ok(None) };
        let short = replay.meter.deferred(&deferred, mode, replay.run.catalog.config.payload.deferred);
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
            mode,
            calls: self,
            tools: tools.collect(),
            fixed: played.bound + played.prompt,
            cache: replay.run.setting.prompt_cache,
        }))
    }
}

impl Estimate<'_> {
    /// Tokens of each request, without the host's own.
    fn fixed(&self, is_full: &[bool]) -> usize {
        let binding = self.tools.iter().zip(is_full).filter(|(_, full)| **full).map(|(tool, _)| tool.binding);
        self.fixed + binding.sum::<usize>()
    }

    /// The cost of a task with these tokens in each request.
    fn task(&self, task: usize, is_full: &[bool], fixed: usize) -> f64 {
        let (mut ledger, mut learnt) = (Ledger::default(), HashSet::new());
        for Call { tool, step } in &self.calls.tasks[task] {
            let cost = &self.tools[*tool];
            let mut longer = cost.longer;
            if is_full[*tool] {
                longer = (0, 0);
            } else if learnt.insert(*tool) {
                cost.lesson.iter().for_each(|(call, added)| ledger.turn(*call, *added));
            }
            ledger.turn(step.0 + longer.0, step.1 + longer.1);
        }
        ledger.end();
        ledger.cost(fixed, self.cache)
    }
}

/// The tools to send in full, and the tokens that each saves in these tasks, or would cost.
pub fn choose(estimate: &Estimate<'_>, among: &[usize], host: usize) -> (Vec<bool>, Vec<f64>) {
    let mut is_full = vec![false; estimate.tools.len()];
    let total = |is_full: &[bool]| -> f64 {
        let fixed = host + estimate.fixed(is_full);
        among.iter().map(|task| estimate.task(*task, is_full, fixed)).sum()
    };
    let gain = |is_full: &[bool], tool: usize| {
        let mut flipped = is_full.to_vec();
        flipped[tool] = !flipped[tool];
        total(is_full) - total(&flipped)
    };
    loop {
        let gains = (0..is_full.len()).map(|tool| (gain(&is_full, tool), tool));
        match gains.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((gain, tool)) if gain > 0.5 => is_full[tool] = !is_full[tool],
            _ => break,
        }
    }
    let saves = |tool: usize| if is_full[tool] { -gain(&is_full, tool) } else { gain(&is_full, tool) };
    let saved = (0..is_full.len()).map(saves).collect();
    (is_full, saved)
}

/// The profile of the tasks.
pub fn profile<'a>(replay: &Replay<'a>) -> Result<Profile<'a>> {
    Ok(replay.run.catalog.profile(replay.run.profile_name())?)
}

/// The same tools: these full, and the others deferred.
pub fn with_modes<'a>(profile: &Profile<'a>, is_full: impl Fn(&str) -> bool) -> Profile<'a> {
    let mode = |name: &str| if is_full(name) { DescriptionMode::Full } else { DescriptionMode::Deferred };
    let entry = |entry: &ProfileTool<'a>| ProfileTool { mode: mode(&entry.tool.names.canonical), ..*entry };
    Profile { tools: profile.tools.iter().map(entry).collect(), ..*profile }
}
