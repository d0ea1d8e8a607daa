//! `toolcrib simulate`: the cost of whole tasks.

use std::path::PathBuf;
use std::sync::Arc;

use super::catalog::{complete, word};
use super::progress::Bar;
use super::tasks::{LoadedTasks, TaskArgs, unplayable};
use super::{CommandError, CommandResult, failed, print};
use crate::catalog::Catalog;
use crate::config::Surface;
use crate::render::Templates;
use crate::simulate::{Report, SURFACES, Simulation, Task, gains, picture};

/// Replay whole tasks on each surface, and compare their tokens.
///
/// A task is a line of JSON: what somebody wants, and the calls that solve it: {"task": "...", "calls": [{"name": "...",
/// "arguments": {...}, "result": ...}]}. A scripted agent makes these calls through the real functions: on the gateway
/// it searches, reads help and calls; with stubs it reads docs. No tool is run, and no model is asked: a call returns
/// its recorded `result`, else {"ok":true}.
#[allow(rustdoc::broken_intra_doc_links, reason = "the text is the help of the command")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib simulate examples/github --tasks examples/github/tasks.jsonl
  toolcrib simulate tools.json --tasks tasks.jsonl --distractors others --size 500 --host 10000
  toolcrib simulate . --tasks tasks.jsonl --surface gateway --budget 60
  toolcrib simulate . --state state.db        the recorded sessions, one task each")]
pub(super) struct SimulateArgs {
    #[command(flatten)]
    setting: TaskArgs,
    /// Play this surface only; can be given several times.
    #[arg(long, value_name = "NAME", value_parser = word::<Surface>())]
    surface: Vec<Surface>,
    /// Tokens of the host's own context in every request, with commas between several.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', default_value = "0,2000,10000,25000")]
    host: Vec<usize>,
    /// Make mistakes, drawn from this seed: required arguments are dropped, and numbers sent as text.
    #[arg(long, value_name = "SEED")]
    noise: Option<u64>,
    /// Exit 1 when a surface costs more than this many percent of `full` with the largest host context.
    #[arg(long, value_name = "PERCENT")]
    budget: Option<f64>,
    /// Draw the comparison for the largest host context into this file, as SVG; for several sizes.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl SimulateArgs {
    pub(super) fn run(self) -> CommandResult {
        let LoadedTasks { checked, tasks, catalogs, templates, .. } = self.setting.load()?;
        let plays = catalogs.len() * tasks.len() * (self.surfaces().len() + 1);
        let bar = Bar::new("playing tasks", plays as u64);
        let mut reports = Vec::new();
        for catalog in &catalogs {
            reports.push(self.play(catalog, &tasks, Arc::clone(&templates), &|| bar.add(1))?);
        }
        bar.finish();
        self.print(&reports)?;
        self.draw(&reports)?;
        self.within_budget(&reports)?;
        complete(&checked)
    }

    fn surfaces(&self) -> &[Surface] {
        if self.surface.is_empty() { &SURFACES } else { &self.surface }
    }

    fn play(
        &self,
        catalog: &Catalog,
        tasks: &[Task],
        templates: Arc<Templates>,
        progress: &dyn Fn(),
    ) -> Result<Report, CommandError> {
        let simulation = Simulation {
            catalog,
            profile: self.setting.profile.as_deref(),
            templates,
            provider: self.setting.provider,
            surfaces: self.surfaces(),
            hosts: &self.host,
            cache: self.setting.prompt_cache,
            batched: self.setting.batched,
            noise: self.noise,
        };
        super::runtime()?.block_on(Report::of(&simulation, tasks, progress)).map_err(unplayable)
    }

    fn print(&self, reports: &[Report]) -> CommandResult {
        if self.json {
            return print(&format!("{:#}\n", serde_json::to_value(reports).map_err(failed)?));
        }
        let tables: Vec<String> = reports.iter().map(Report::table).collect();
        print(&format!("{}\n{}", tables.join("\n"), gains(reports)))
    }

    fn draw(&self, reports: &[Report]) -> CommandResult {
        let Some(path) = &self.picture else { return Ok(()) };
        let picture = picture(reports)
            .ok_or_else(|| CommandError::Usage("a picture needs two sizes: --size 30,100,500".into()))?;
        std::fs::write(path, picture)
            .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))
    }

    fn within_budget(&self, reports: &[Report]) -> CommandResult {
        let Some(budget) = self.budget else { return Ok(()) };
        for cost in reports.iter().flat_map(|report| &report.surfaces) {
            let percent = cost.percent.last().copied().unwrap_or_default();
            if percent > budget {
                let surface = cost.surface.as_str();
                return Err(failed(format!(
                    "`{surface}` costs {percent} % of `full`, and the budget is {budget} %"
                )));
            }
        }
        Ok(())
    }
}
