//! The tasks of a command, and the setting in which they are played.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{CatalogArgs, refuse_unread, word};
use super::render::templates;
use super::state::{StateArgs, block_on};
use super::{CommandError, failed, print_note};
use crate::catalog::{self, Catalog, Checked};
use crate::config;
use crate::provider::Provider;
use crate::render::Templates;
use crate::simulate::{PromptCache, Recorded, SimulationError, Task, read, resized, stub_backends};
use crate::state::{Event, EventQuery, every_event};

/// Help where there are no tasks.
const TASKS: &str = "  help: a task is a line of JSON with what somebody wants and the calls that solve it, such as\n\
    \x20   {\"task\": \"Comment on issue 5.\", \"calls\": [{\"name\": \"add_issue_comment\", \"arguments\": {\"issue_number\": 5, \"body\": \"Fixed.\"}}]}\n\
    \x20 write some into a file and name it with --tasks FILE (examples/github/tasks.jsonl has some), or name the recorded sessions of a\n\
    \x20 server with --state FILE: `toolcrib serve --state FILE` records them";

/// The place of tasks: files, or the recorded sessions of the state.
#[derive(Debug, clap::Args)]
pub(super) struct TaskSource {
    #[command(flatten)]
    pub(super) catalog: CatalogArgs,
    /// A file of tasks; can be given several times. Without one, the recorded sessions of the state.
    #[arg(long, value_name = "FILE")]
    tasks: Vec<PathBuf>,
    #[command(flatten)]
    state: StateArgs,
}

/// The tasks of a command, and the setting in which they are played.
#[derive(Debug, clap::Args)]
pub(super) struct TaskArgs {
    #[command(flatten)]
    pub(super) source: TaskSource,
    /// The profile of the agent; without it, the whole catalog.
    #[arg(long, short, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// The provider of the payload.
    #[arg(long, value_name = "NAME", default_value = "anthropic", value_parser = word::<Provider>())]
    pub(super) provider: Provider,
    /// The prompt cache: none, cold (the first request writes to it) or warm (earlier tasks have).
    #[arg(long, value_name = "CACHE", default_value = "none", value_parser = word::<PromptCache>())]
    pub(super) prompt_cache: PromptCache,
    /// A catalog with other tools, which are added; can be given several times.
    #[arg(long, value_name = "PATH")]
    pub(super) distractors: Vec<PathBuf>,
    /// Number of tools, with commas between several; the tools of the tasks are there at any size. Without it, all
    /// tools.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(super) size: Vec<usize>,
    /// Search, read and call together where a surface lets an agent.
    #[arg(long)]
    pub(super) batched: bool,
}

/// Tasks, and the catalogs of the sizes at which they are played.
pub(super) struct LoadedTasks {
    pub(super) checked: Checked,
    pub(super) tasks: Vec<Task>,
    /// Tools that sessions called, also in calls that are in no task.
    pub(super) called: BTreeSet<String>,
    pub(super) catalogs: Vec<Catalog>,
    pub(super) templates: Arc<Templates>,
}

impl TaskArgs {
    /// Reads tasks and catalogs. No tool of them can be run.
    pub(super) fn load(&self) -> Result<LoadedTasks, CommandError> {
        let Self { source: TaskSource { catalog, .. }, .. } = self;
        let mut workspace = catalog.workspace()?;
        stub_backends(&mut workspace);
        let checked = catalog.open_workspace(workspace);
        catalog.report_briefly(&checked);
        refuse_unread(&checked)?;
        let mut tasks = self.source.of_files()?;
        let mut called = BTreeSet::new();
        if let Some(events) = self.source.events()? {
            let recorded = Recorded::of(&events);
            print_note(recorded.note());
            tasks.extend(recorded.tasks);
            called = recorded.called;
        }
        if tasks.is_empty() {
            return Err(failed(format!(
                "there is no task: no recorded session has a call that ran well\n{TASKS}"
            )));
        }
        let others: Vec<Catalog> =
            self.distractors.iter().map(|path| distractors(path)).collect::<Result<_, _>>()?;
        let templates = Arc::new(templates(catalog, &checked, None)?);
        let sizes: Vec<Option<usize>> = match &self.size[..] {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let catalogs = sizes.iter().map(|size| resized(&checked.catalog, &others, &tasks, *size)).collect();
        Ok(LoadedTasks { checked, tasks, called, catalogs, templates })
    }
}

impl TaskSource {
    /// The tasks of the files.
    pub(super) fn of_files(&self) -> Result<Vec<Task>, CommandError> {
        let mut tasks = Vec::new();
        for path in &self.tasks {
            let text = std::fs::read_to_string(path)
                .map_err(|error| CommandError::Usage(format!("cannot read {}: {error}", path.display())))?;
            tasks.extend(read(&text, &path.display().to_string()).map_err(failed)?);
        }
        Ok(tasks)
    }

    /// The events of the state, where it is named, or no file is.
    pub(super) fn events(&self) -> Result<Option<Vec<Event>>, CommandError> {
        if !self.tasks.is_empty() && !self.state.is_named() {
            return Ok(None);
        }
        let state = self.state.open_existing(&self.catalog).map_err(|error| match error {
            CommandError::Usage(why) => CommandError::Usage(format!("there are no tasks: {why}\n{TASKS}")),
            other => other,
        })?;
        block_on(every_event(&*state, EventQuery::default())).map(Some)
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

/// A simulation that cannot be played, as the error of a command.
pub(super) fn unplayable(error: SimulationError) -> CommandError {
    match error {
        SimulationError::Profile(error) => error.into(),
        other => failed(other),
    }
}
