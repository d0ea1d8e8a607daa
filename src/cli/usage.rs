//! `toolcrib usage`: the use of tools in recorded sessions.

use super::catalog::{complete, refuse_unread, word};
use super::render::templates;
use super::tasks::{TaskSource, unplayable};
use super::{CommandResult, failed, print};
use crate::provider::Provider;
use crate::simulate::{Usage, events_of};

/// Count what recorded sessions used: calls, reads of docs and help, searches without an answer, and tools that were
/// never called, with their price.
///
/// Searches and reads are recorded in a session; calls of tools always are. Tasks of a file have calls only.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib usage . --state state.db
  toolcrib usage examples/github --tasks examples/github/tasks.jsonl
  toolcrib usage . --state state.db --json | jq -r '.unanswered[].query'")]
pub(super) struct UsageArgs {
    #[command(flatten)]
    source: TaskSource,
    /// Count the tools of this profile as never called; without it, those of the whole catalog.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The provider whose payload is counted.
    #[arg(long, value_name = "NAME", default_value = "anthropic", value_parser = word::<Provider>())]
    provider: Provider,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl UsageArgs {
    pub(super) fn run(self) -> CommandResult {
        let catalog = &self.source.catalog;
        let checked = catalog.open()?;
        catalog.report_briefly(&checked);
        refuse_unread(&checked)?;
        let mut events = self.source.events()?.unwrap_or_default();
        events.extend(events_of(&self.source.of_files()?));
        let templates = templates(catalog, &checked, None)?;
        let usage = Usage::of(&checked.catalog, self.profile.as_deref(), &templates, self.provider, &events)
            .map_err(unplayable)?;
        if self.json {
            print(&format!("{:#}\n", serde_json::to_value(&usage).map_err(failed)?))?;
        } else {
            print(&usage.table())?;
        }
        complete(&checked)
    }
}
