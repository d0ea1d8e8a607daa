//! `toolcrib-lab tune`: the mode, and the tools that are sent in full. Half of the tasks choose, and the other half judges.
//! The halves are drawn by hashes of the tasks, so that their order does not matter.
//!
//! For each mode the tools are chosen by the [`estimate`](super::estimate) of the tasks that choose; then these tasks are
//! played in each mode with its tools, and the cheapest one is taken.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib::Mode;

use crate::estimate::{Calls, Estimate, choose, profile, with_modes};
use crate::ledger::Ledger;
use crate::replay::Replay;
use crate::table::{Printed, rows, tenth};
use crate::tasks::Task;
use crate::{Result, Run};

/// Most tools that a table lists.
const SHOWN: usize = 15;

/// A mode with tools in full, and the tokens that each tool saves.
struct Candidate {
    mode: Mode,
    is_full: Vec<bool>,
    gains: Vec<f64>,
}

/// What choices are made from.
struct Tuner<'a, 'b> {
    replay: &'b mut Replay<'a>,
    tasks: &'b [&'b Task],
    calls: &'b Calls,
    estimates: &'b [Estimate<'b>],
}

/// Chooses for each host context.
pub async fn tune(run: &Run<'_>) -> Result<Printed> {
    let mut tasks: Vec<&Task> = run.tasks.iter().collect();
    tasks.sort_by_cached_key(|task| blake3::hash(json!(task).to_string().as_bytes()).to_hex().to_string());
    if tasks.len() < 2 {
        return Err("two tasks are needed: one chooses, and one judges".into());
    }
    let mut replay = Replay::new(run)?;
    let calls = Calls::of(&mut replay, &tasks).await?;
    let mut estimates = Vec::new();
    for mode in run.setting.modes().iter().filter(|mode| **mode != Mode::Full) {
        estimates.extend(calls.estimate(&mut replay, *mode).await?);
    }
    let tools = profile(&replay)?.tools.len();
    let mut tuner = Tuner { replay: &mut replay, tasks: &tasks, calls: &calls, estimates: &estimates };
    let (mut choices, mut table) = (Vec::new(), format!("{} tasks, {tools} tools\n", tasks.len()));
    for host in &run.setting.host {
        let choice = tuner.choice(*host).await?;
        table += &table_of(&choice);
        choices.push(choice);
    }
    Ok(Printed { table, json: json!({ "tools": tools, "tasks": tasks.len(), "choices": choices }) })
}

impl Tuner<'_, '_> {
    async fn choice(&mut self, host: usize) -> Result<Value> {
        let (chosen, modes) = self.best(host, false).await?;
        let (best, _) = self.best(host, true).await?;
        let judged = self.cost(&chosen, true, host).await?;
        let hindsight = self.cost(&best, true, host).await?;
        let tokens = |cost: &Value| cost["tokens"].as_f64().unwrap_or(1.0);
        let over = tenth(100.0 * (tokens(&judged) / tokens(&hindsight) - 1.0));
        Ok(json!({
            "host": host,
            "mode": chosen.mode,
            "judged": judged,
            "hindsight": hindsight,
            "over_hindsight": over,
            "modes": modes,
            "tools": self.values(&chosen),
        }))
    }

    /// The candidate with the fewest tokens for a half, and the costs of all.
    async fn best(&mut self, host: usize, judges: bool) -> Result<(Candidate, Vec<Value>)> {
        let among = half(self.tasks.len(), judges);
        let mut candidates = vec![Candidate { mode: Mode::Full, is_full: vec![], gains: vec![] }];
        for estimate in self.estimates {
            let (is_full, gains) = choose(estimate, &among, host);
            candidates.push(Candidate { mode: estimate.mode, is_full, gains });
        }
        let mut costs = Vec::new();
        for candidate in candidates {
            costs.push((self.cost(&candidate, judges, host).await?, candidate));
        }
        costs.sort_by(|a, b| a.0["tokens"].as_f64().partial_cmp(&b.0["tokens"].as_f64()).unwrap());
        let all = costs.iter().map(|(cost, _)| cost.clone()).collect();
        Ok((costs.swap_remove(0).1, all))
    }

    /// The cost of a half of the tasks, played.
    async fn cost(&mut self, candidate: &Candidate, judges: bool, host: usize) -> Result<Value> {
        let Candidate { mode, is_full, .. } = candidate;
        let among = half(self.tasks.len(), judges);
        let full = self.calls.full.among(&among);
        let played = if *mode == Mode::Full {
            full.clone()
        } else {
            let names = self.calls.tools.iter().zip(is_full).filter(|(_, full)| **full);
            let names: HashSet<&str> = names.map(|(name, _)| name.as_str()).collect();
            let profile = with_modes(&profile(self.replay)?, |name| names.contains(name));
            let tasks: Vec<&Task> = among.iter().map(|task| self.tasks[*task]).collect();
            self.replay.play(&profile, *mode, &tasks).await?
        };
        let run = self.replay.run;
        let (tokens, of_full) = (played.total(run, host), full.total(run, host));
        Ok(json!({
            "mode": mode,
            "full": is_full.iter().filter(|full| **full).count(),
            "turns": played.mean(Ledger::turns),
            "turns_of_full": full.mean(Ledger::turns),
            "tokens": tokens.round(),
            "percent": tenth(100.0 * tokens / of_full),
        }))
    }

    /// The called tools, and the tokens that each saves in a task when it is sent in full, the most useful first.
    fn values(&self, chosen: &Candidate) -> Vec<Value> {
        let among = half(self.tasks.len(), false);
        let mut order: Vec<usize> = (0..chosen.gains.len()).collect();
        order.sort_by(|a, b| chosen.gains[*b].total_cmp(&chosen.gains[*a]));
        let value = |tool: usize| {
            let name = &self.calls.tools[tool];
            json!({
                "name": name,
                "full": chosen.is_full[tool],
                "tokens": self.replay.definitions.get(name),
                "saves": tenth(chosen.gains[tool] / among.len().max(1) as f64),
            })
        };
        order.into_iter().map(value).collect()
    }
}

/// Positions of the tasks of a half: every other one.
fn half(tasks: usize, judges: bool) -> Vec<usize> {
    (0..tasks).skip(usize::from(judges)).step_by(2).collect()
}

fn table_of(choice: &Value) -> String {
    let columns =
        [("mode", "mode"), ("in full", "full"), ("turns", "turns"), ("tokens", "tokens"), ("%", "percent")];
    let list = |name: &str| choice[name].as_array().cloned().unwrap_or_default();
    let mut tools = list("tools");
    tools.truncate(SHOWN);
    let of_tools = [("tool", "name"), ("in full", "full"), ("tokens", "tokens"), ("saves", "saves")];
    format!(
        "\nhost {}, the half that chooses:\n{}\nthe half that judges, and its own choice:\n{}\n{}",
        choice["host"],
        rows(&list("modes"), &columns),
        rows(&[choice["judged"].clone(), choice["hindsight"].clone()], &columns),
        rows(&tools, &of_tools),
    )
}
