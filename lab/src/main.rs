//! `toolcrib-lab`: measures what whole tasks cost in each mode.

mod agent;
mod estimate;
mod ledger;
mod replay;
mod simulate;
mod table;
mod tasks;
mod tune;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use toolcrib::catalog::Catalog;
use toolcrib::render::Templates;
use toolcrib::state::Event;
use toolcrib::{Mode, Provider};

use ledger::PromptCache;
use tasks::Task;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Modes that a scripted agent can play. `files` sends nothing that could call a tool.
pub const MODES: [Mode; 4] = [Mode::Full, Mode::Hybrid, Mode::Native, Mode::Gateway];

/// Measures what whole tasks cost in each mode.
#[derive(Parser)]
#[command(name = "toolcrib-lab")]
struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Replay tasks in each mode, and compare their tokens.
    Simulate(Setting),
    /// Choose the mode, and the tools that are sent in full, with half of the tasks; the other half judges.
    Tune(Setting),
    /// Count calls, reads, and searches without an answer, and name the tools that nobody called.
    Usage(Source),
}

/// The catalog, and the place of tasks.
#[derive(Args)]
struct Source {
    /// The catalog: a toolcrib.toml, a folder, or a file of definitions.
    catalog: PathBuf,
    /// A file of tasks, one JSON object a line: {"task": "...", "calls": [{"name": "...", "arguments": {}}]}.
    #[arg(long, num_args = 1..)]
    tasks: Vec<PathBuf>,
    /// The state whose recorded sessions are tasks: a file, or postgres://...
    #[arg(long)]
    state: Option<String>,
    #[arg(long)]
    profile: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Tasks, and how they are played.
#[derive(Args)]
pub struct Setting {
    #[command(flatten)]
    source: Source,
    #[arg(long, default_value = "anthropic", value_parser = provider)]
    provider: Provider,
    /// Play this mode only; can be given several times.
    #[arg(long, value_parser = mode)]
    mode: Vec<Mode>,
    /// Tokens of the host's own context in every request, with commas between several.
    #[arg(long, value_delimiter = ',', default_value = "0,2000,10000,25000")]
    host: Vec<usize>,
    /// The prompt cache: none, cold (the first request writes to it), or warm (earlier tasks have).
    #[arg(long, default_value = "none")]
    prompt_cache: PromptCache,
    /// Number of tools, with commas between several; the tools of the tasks are there at any size.
    #[arg(long, value_delimiter = ',')]
    size: Vec<usize>,
    /// A catalog of other tools, which fill up a size.
    #[arg(long, num_args = 1..)]
    distractors: Vec<PathBuf>,
    /// Search, read and call together where a mode lets an agent.
    #[arg(long)]
    batched: bool,
}

/// Tasks on one catalog.
pub struct Run<'a> {
    pub setting: &'a Setting,
    pub catalog: &'a Catalog,
    pub templates: Arc<Templates>,
    pub tasks: &'a [Task],
}

fn provider(name: &str) -> std::result::Result<Provider, String> {
    Provider::parse(name).ok_or_else(|| format!("there is no provider `{name}`"))
}

fn mode(name: &str) -> std::result::Result<Mode, String> {
    let found = MODES.into_iter().find(|mode| mode.as_str() == name);
    found.ok_or_else(|| format!("no agent can play the mode `{name}`"))
}

impl Run<'_> {
    pub fn profile_name(&self) -> Option<&str> {
        self.setting.source.profile.as_deref()
    }
}

impl Source {
    fn tasks(&self) -> Result<Vec<Task>> {
        let files = self.tasks.iter().map(|path| tasks::read(path)).collect::<Result<Vec<_>>>()?;
        Ok(files.into_iter().flatten().collect())
    }

    async fn events(&self) -> Result<Vec<Event>> {
        match &self.state {
            Some(state) => tasks::events(state).await,
            None => Ok(Vec::new()),
        }
    }
}

impl Setting {
    pub fn modes(&self) -> &[Mode] {
        if self.mode.is_empty() { &MODES } else { &self.mode }
    }

    /// Plays the tasks on a catalog of each size, and prints what `play` returns.
    async fn each(&self, play: impl AsyncFn(&Run<'_>) -> Result<table::Printed>) -> Result<()> {
        let source = &self.source;
        let mut tasks = source.tasks()?;
        tasks.extend(tasks::recorded(&source.events().await?));
        if tasks.is_empty() {
            return Err(
                "there are no tasks\n  help: name a file with --tasks, or a state with --state".into()
            );
        }
        let catalog = tasks::catalog(&source.catalog)?;
        let others = self.distractors.iter().map(|path| tasks::catalog(path)).collect::<Result<Vec<_>>>()?;
        let sizes = if self.size.is_empty() { &[usize::MAX][..] } else { &self.size };
        let templates = Arc::new(Templates::from(toolcrib::BUILT_IN));
        let mut printed = Vec::new();
        for size in sizes {
            let catalog = tasks::resized(&catalog, &others, &tasks, *size);
            let templates = Arc::clone(&templates);
            printed.push(play(&Run { setting: self, catalog: &catalog, templates, tasks: &tasks }).await?);
        }
        table::print(&printed, source.json);
        Ok(())
    }
}

fn main() -> ExitCode {
    let lab = Lab::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            match &lab.command {
                Command::Simulate(setting) => setting.each(simulate::simulate).await,
                Command::Tune(setting) => setting.each(tune::tune).await,
                Command::Usage(source) => usage::usage(source).await,
            }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
