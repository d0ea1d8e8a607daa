//! `toolcrib seed`: an agent's workspace at job start.

use std::path::PathBuf;

use super::catalog::CatalogArgs;
use super::progress::Bar;
use super::render::{failure, has_docs, kept, summary, templates};
use super::watch::{Rerun, watch};
use super::{CommandError, CommandResult, print_note};
use crate::catalog::Checked;
use crate::render::{DOCS, Docs, Seeded, seed};

/// Seed an agent's workspace: AGENTS.md, tools/README.md, one page a tool, registry.json.
///
/// What is there already is kept: in AGENTS.md only toolcrib's own block is renewed, other files are left alone. Run
/// it as often as you like; the same catalog gives the same bytes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib seed workspace --catalog examples/universal-agent --profile creator"
)]
pub(super) struct SeedArgs {
    /// The workspace folder; it is created if need be.
    workspace: PathBuf,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The profile of the agent.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// A folder to start the workspace from, instead of ours. `{{ tools }}`, `{{ title }}`, `{{ profile }}`,
    /// `{{ description }}`, `{{ tool_count }}` and `{{ registry_version }}` are filled in.
    #[arg(long, value_name = "DIR")]
    template: Option<PathBuf>,
    /// Go on, and seed again whenever the catalog changes. An edit that breaks it leaves the workspace as it is.
    #[arg(long)]
    watch: bool,
}

const UNCLEAR: &str = "has toolcrib markers that do not pair, or a code fence around them; kept as it is; put one \
    `<!-- toolcrib:begin -->` line before one `<!-- toolcrib:end -->` line, outside of code";

impl SeedArgs {
    pub(super) fn run(self) -> CommandResult {
        if self.watch {
            return watch(&self.catalog, &self);
        }
        let checked = self.catalog.open()?;
        self.catalog.report_briefly(&checked);
        self.rerun(&checked, "")
    }
}

impl Rerun for SeedArgs {
    fn also(&self) -> Vec<PathBuf> {
        self.template.iter().cloned().collect()
    }

    fn has_result(&self) -> bool {
        has_docs(&self.workspace.join(DOCS))
    }

    fn rerun(&self, checked: &Checked, why: &str) -> CommandResult {
        if let Some(template) = self.template.as_ref().filter(|template| !template.is_dir()) {
            return Err(CommandError::Usage(format!(
                "there is no template folder at {}",
                template.display()
            )));
        }
        let templates = templates(&self.catalog, checked, None)?;
        let profile = checked.catalog.profile(self.profile.as_deref()).map_err(CommandError::Usage)?;
        let docs = Docs::new(&checked.catalog, profile, &templates);
        let bar = Bar::new("writing docs", docs.tools().len() as u64);
        let seeded =
            seed(&docs, &self.workspace, self.template.as_deref(), &|done| bar.add(done)).map_err(failure)?;
        bar.finish();
        print_note(format!(
            "{}: {}{why}",
            self.workspace.display(),
            summary(docs.tools().len(), &seeded.docs)
        ));
        report(&seeded, checked.catalog.complete);
        if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

/// What became of the files beside the docs.
fn report(seeded: &Seeded, complete: bool) {
    kept(&seeded.docs, complete);
    if !seeded.written.is_empty() {
        print_note(format!("wrote {}", seeded.written.join(", ")));
    }
    if !seeded.kept.is_empty() {
        let why = if seeded.index_kept { ", since not all sources could be read" } else { "" };
        print_note(format!("kept your {}{why}", seeded.kept.join(", ")));
    }
    for file in &seeded.unclear {
        print_note(format!("{file} {UNCLEAR}"));
    }
}
