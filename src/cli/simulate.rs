//! `toolcrib simulate`: the cost of whole tasks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{CatalogArgs, complete, word};
use super::progress::Bar;
use super::render::templates;
use super::{CommandError, CommandResult, failed, print};
use crate::catalog::{self, Catalog};
use crate::config::{self, Surface};
use crate::provider::Provider;
use crate::render::Templates;
use crate::simulate::{
    PromptCache, Report, SURFACES, Simulation, SimulationError, Task, gains, picture, read, resized,
    stub_backends,
};

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
  toolcrib simulate --catalog examples/github --tasks examples/github/tasks.jsonl
  toolcrib simulate --catalog tools.json --tasks tasks.jsonl --distractors others --size 500 --host 10000
  toolcrib simulate --catalog . --tasks tasks.jsonl --surface gateway --budget 60")]
pub(super) struct SimulateArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// A file of tasks; can be given several times.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    tasks: Vec<PathBuf>,
    /// The profile of the agent; without it, the whole catalog.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The provider of the payload.
    #[arg(long, value_name = "NAME", default_value = "anthropic", value_parser = word::<Provider>())]
    provider: Provider,
    /// Play this surface only; can be given several times.
    #[arg(long, value_name = "NAME", value_parser = word::<Surface>())]
    surface: Vec<Surface>,
    /// Tokens of the host's own context in every request, with commas between several.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', default_value = "0,2000,10000,25000")]
    host: Vec<usize>,
    /// The prompt cache: none, cold (the first request writes to it) or warm (earlier tasks have).
    #[arg(long, value_name = "CACHE", default_value = "none", value_parser = word::<PromptCache>())]
    prompt_cache: PromptCache,
    /// A catalog with other tools, which are added; can be given several times.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    distractors: Vec<PathBuf>,
    /// Number of tools, with commas between several; the tools of the tasks are there at any size. Without it, all
    /// tools.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    size: Vec<usize>,
    /// Search, read and call together where a surface lets an agent.
    #[arg(long)]
    batched: bool,
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
        let mut workspace = self.catalog.workspace()?;
        stub_backends(&mut workspace);
        let checked = self.catalog.open_workspace(workspace);
        self.catalog.report_briefly(&checked);
        let tasks = self.tasks()?;
        let others: Vec<Catalog> =
            self.distractors.iter().map(|path| distractors(path)).collect::<Result<_, _>>()?;
        let templates = Arc::new(templates(&self.catalog, &checked, None)?);
        let sizes: Vec<Option<usize>> = match &self.size[..] {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let bar = Bar::new("playing tasks", (sizes.len() * tasks.len() * (self.surfaces().len() + 1)) as u64);
        let mut reports = Vec::new();
        for size in sizes {
            let catalog = resized(&checked.catalog, &others, &tasks, size);
            reports.push(self.play(&catalog, &tasks, Arc::clone(&templates), &|| bar.add(1))?);
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
            profile: self.profile.as_deref(),
            templates,
            provider: self.provider,
            surfaces: self.surfaces(),
            hosts: &self.host,
            cache: self.prompt_cache,
            batched: self.batched,
            noise: self.noise,
        };
        super::runtime()?.block_on(Report::of(&simulation, tasks, progress)).map_err(|error| match error {
            SimulationError::Profile(error) => error.into(),
            other => failed(other),
        })
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

    fn tasks(&self) -> Result<Vec<Task>, CommandError> {
        let mut tasks = Vec::new();
        for path in &self.tasks {
            let text = std::fs::read_to_string(path)
                .map_err(|error| CommandError::Usage(format!("cannot read {}: {error}", path.display())))?;
            tasks.extend(read(&text, &path.display().to_string()).map_err(failed)?);
        }
        Ok(tasks)
    }
}

/// A catalog of distractors. Its findings are not those of the catalog that is measured.
fn distractors(path: &Path) -> Result<Catalog, CommandError> {
    if !path.exists() {
        return Err(CommandError::Usage(format!("there is no catalog at {}", path.display())));
    }
    let mut workspace = config::read(path);
    stub_backends(&mut workspace);
    Ok(catalog::open(workspace).catalog)
}
