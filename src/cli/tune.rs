//! `toolcrib tune`: surface and full tools, chosen by tasks.

use std::sync::Arc;

use super::catalog::{complete, word};
use super::patch::patched;
use super::progress::Bar;
use super::tasks::{LoadedTasks, TaskArgs, unplayable};
use super::{CommandError, CommandResult, failed, print, print_note};
use crate::catalog::Catalog;
use crate::config::Surface;
use crate::render::Templates;
use crate::render::folder::{unified, write_whole};
use crate::simulate::{CHOICES, Simulation, Task, Tuning};

/// Choose the surface and the tools that are bound in full, by recorded sessions or tasks.
///
/// Half of the tasks choose, the other half judge: the output has both, and what hindsight would have reached. The
/// choice is printed as a patch of toolcrib.toml; --write applies it, and keeps comments and order. Tools that are
/// deferred stay there to be found and called.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib tune examples/github --tasks examples/github/tasks.jsonl
  toolcrib tune . --state state.db --profile writer      by the recorded sessions
  toolcrib tune . --state state.db --profile writer --write
  toolcrib tune . --tasks tasks.jsonl --host 10000,0,25000   a choice for each host")]
pub(super) struct TuneArgs {
    #[command(flatten)]
    setting: TaskArgs,
    /// Choose among these surfaces only; can be given several times.
    #[arg(long, value_name = "NAME", value_parser = word::<Surface>())]
    surface: Vec<Surface>,
    /// Tokens of the host's own context in every request, with commas between several. The patch is for the first.
    /// Default: `payload.host_tokens` of the configuration, which is 10000 unless set.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',')]
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
        if let Some(other) = self.surface.iter().find(|surface| !CHOICES.contains(surface)) {
            let message = format!("`tune` does not choose `{}`: tasks show no gain of it", other.as_str());
            return Err(CommandError::Usage(message));
        }
        let LoadedTasks { checked, tasks, called, catalogs, templates } = self.setting.load()?;
        let hosts = match &self.host[..] {
            [] => vec![checked.catalog.config.payload.host_tokens],
            hosts => hosts.to_vec(),
        };
        let bar = Bar::new("playing tasks", (catalogs.len() * (tasks.len() + hosts.len())) as u64);
        let mut tunings = Vec::new();
        for catalog in &catalogs {
            let mut tuning =
                self.tuning((catalog, &hosts), &tasks, Arc::clone(&templates), &|| bar.add(1))?;
            tuning.except(|name| called.contains(name));
            tunings.push(tuning);
        }
        bar.finish();
        if self.json {
            print(&format!("{:#}\n", serde_json::to_value(&tunings).map_err(failed)?))?;
        } else {
            print(&tunings.iter().map(Tuning::table).collect::<Vec<_>>().join("\n"))?;
        }
        // Other sizes make another catalog than that of toolcrib.toml.
        if self.setting.size.is_empty() && self.setting.distractors.is_empty() {
            self.patch(&tunings)?;
        }
        complete(&checked)
    }

    /// Prints the patch for the first host, and applies it where that is wanted.
    fn patch(&self, tunings: &[Tuning]) -> CommandResult {
        let Some(choice) = tunings.iter().flat_map(|tuning| &tuning.choices).next() else { return Ok(()) };
        let catalog = &self.setting.source.catalog;
        let file = catalog.config_file()?;
        let old = match &file {
            Some(file) if file.exists() => Some(
                std::fs::read_to_string(file)
                    .map_err(|error| failed(format!("cannot read {}: {error}", file.display())))?,
            ),
            _ => None,
        };
        let text = old.as_deref().unwrap_or_default();
        let new = patched(text, &choice.patch)
            .map_err(|error| failed(format!("toolcrib.toml is left alone: {}", error.message())))?;
        if !self.json {
            let diff = unified("toolcrib.toml", old.as_deref().map(str::as_bytes), Some(new.as_bytes()));
            print(&format!("\n{diff}"))?;
        }
        if text == new {
            print_note("toolcrib.toml has these settings");
        } else if self.write {
            let file = file.ok_or_else(|| {
                CommandError::Usage("--write needs a folder, or a toolcrib.toml, as the catalog".into())
            })?;
            write_whole(&file, new.as_bytes())
                .map_err(|error| failed(format!("cannot write {}: {error}", file.display())))?;
            print_note(format!("wrote {}", file.display()));
        }
        if let (Some(profile), None) = (&choice.patch.profile, &self.setting.profile) {
            print_note(format!("these tools are full with `--profile {profile}`"));
        }
        Ok(())
    }

    fn tuning(
        &self,
        (catalog, hosts): (&Catalog, &[usize]),
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
            hosts,
            cache: *prompt_cache,
            batched: *batched,
            noise: None,
        };
        super::runtime()?.block_on(Tuning::of(&simulation, tasks, progress)).map_err(unplayable)
    }
}
