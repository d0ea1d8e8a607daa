//! `toolcrib tune`: surface and full tools, chosen by tasks.

use std::sync::Arc;

use super::catalog::{complete, word};
use super::progress::Bar;
use super::tasks::{LoadedTasks, TaskArgs, unplayable};
use super::{CommandError, CommandResult, failed, print};
use crate::catalog::Catalog;
use crate::config::Surface;
use crate::render::Templates;
use crate::simulate::{CHOICES, Simulation, Task, Tuning};

/// Choose the surface and the tools that are bound in full, by recorded sessions or tasks.
///
/// Half of the tasks choose, the other half judge: the output has both, and what hindsight would have reached. The
/// choice is printed as a patch of toolcrib.toml; --write applies it, and keeps comments and order. Tools that are
/// deferred stay there to be found and called.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib tune --catalog examples/github --tasks examples/github/tasks.jsonl
  toolcrib tune --catalog . --state state.db --profile writer      by the recorded sessions
  toolcrib tune --catalog . --state state.db --profile writer --write
  toolcrib tune --catalog . --tasks tasks.jsonl --host 10000,0,25000   a choice for each host")]
pub(super) struct TuneArgs {
    #[command(flatten)]
    setting: TaskArgs,
    /// Choose among these surfaces only; can be given several times.
    #[arg(long, value_name = "NAME", value_parser = word::<Surface>())]
    surface: Vec<Surface>,
    /// Tokens of the host's own context in every request, with commas between several. The patch is for the first.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', default_value = "10000")]
    host: Vec<usize>,
    /// Apply the patch to toolcrib.toml.
    #[arg(long, conflicts_with_all = ["distractors", "size"])]
    write: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl TuneArgs {
    pub(super) fn run(self) -> CommandResult {
        let LoadedTasks { checked, tasks, catalogs, templates } = self.setting.load()?;
        let bar = Bar::new("playing tasks", (catalogs.len() * (tasks.len() + self.host.len())) as u64);
        let mut tunings = Vec::new();
        for catalog in &catalogs {
            tunings.push(self.tuning(catalog, &tasks, Arc::clone(&templates), &|| bar.add(1))?);
        }
        bar.finish();
        if self.json {
            print(&format!("{:#}\n", serde_json::to_value(&tunings).map_err(failed)?))?;
        } else {
            print(&tunings.iter().map(Tuning::table).collect::<Vec<_>>().join("\n"))?;
        }
        complete(&checked)
    }

    fn tuning(
        &self,
        catalog: &Catalog,
        tasks: &[Task],
        templates: Arc<Templates>,
        progress: &dyn Fn(),
    ) -> Result<Tuning, CommandError> {
        let TaskArgs { profile, provider, prompt_cache, batched, .. } = &self.setting;
        let simulation = Simulation {
            catalog,
            profile: profile.as_deref(),
            templates,
            provider: *provider,
            surfaces: if self.surface.is_empty() { &CHOICES } else { &self.surface },
            hosts: &self.host,
            cache: *prompt_cache,
            batched: *batched,
            noise: None,
        };
        super::runtime()?.block_on(Tuning::of(&simulation, tasks, progress)).map_err(unplayable)
    }
}
