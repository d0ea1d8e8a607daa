//! `toolcrib seed`: an agent's workspace at job start.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::catalog::CatalogArgs;
use super::docs::{has_docs, replaced_or_kept, summary};
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use super::progress::Bar;
use super::watch::{Rerun, watch};
use super::word::word;
use toolcrib_catalog::config::{Mode, ModeChoice};
use toolcrib_catalog::{Catalog, Checked, Profile};
use toolcrib_providers::{PayloadRequest, ProviderFormat, report};
use toolcrib_render::{DOCS, Docs, Seeded, Templates, WorkspaceTemplate, seed, seed_drift};

/// Seed an agent's workspace: AGENTS.md, tools/README.md, one page per tool.
///
/// Existing files are kept: in AGENTS.md only toolcrib's own block is renewed, other files are left alone. Run it as
/// often as you like; the same catalog gives the same bytes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib seed workspace examples/universal-agent --profile creator\n  toolcrib seed workspace . --template template --var job_id=42 --check"
)]
pub(super) struct SeedArgs {
    /// The workspace folder; it is created if it does not exist.
    workspace: PathBuf,
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The profile of the agent.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Write the tools that an agent with this role may see, and no others. Can be given several times.
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// The mode of the agent's payload, which AGENTS.md explains; default: the configured one, else files.
    #[arg(long, value_name = "NAME", value_parser = word::<ModeChoice>())]
    mode: Option<ModeChoice>,
    /// Write registry.json too: the tools as data, one per line.
    #[arg(long)]
    registry: bool,
    /// A folder to start the workspace from, instead of the built-in template.
    ///
    /// `{{ tools }}`, `{{ title }}`, `{{ profile }}`, `{{ description }}`, `{{ tool_count }}` and `{{ registry_version
    /// }}` are filled in, and the values of the job.
    #[arg(long, value_name = "DIR")]
    template: Option<PathBuf>,
    /// A value of the job for the files of the template: `--var job_id=42` fills in `{{ job_id }}`.
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
    /// A JSON object with values of the job; `--var` wins over it.
    #[arg(long, value_name = "FILE")]
    vars: Option<PathBuf>,
    /// Change nothing; print the changes as a diff, and exit 1 if there are any.
    #[arg(long, conflicts_with = "watch")]
    check: bool,
    /// Print the files that were written, or with `--check` would be, as JSON.
    #[arg(long, conflicts_with = "watch")]
    json: bool,
    /// Keep running, and seed again whenever the catalog changes.
    ///
    /// An edit that breaks the catalog leaves the workspace as it is.
    #[arg(long)]
    watch: bool,
}

const UNCLEAR: &str = "has toolcrib markers that do not pair, or a code fence around them; kept as it is; put one \
    `<!-- toolcrib:begin -->` line before one `<!-- toolcrib:end -->` line, outside of code";

impl SeedArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        if self.watch {
            return watch(io, &self.catalog, &self);
        }
        let checked = self.catalog.open(io)?;
        self.catalog.report_briefly(io, &checked);
        self.rerun(io, &checked, "")
    }

    /// The template with the values of the job.
    fn template(
        &self,
        catalog: &Catalog,
        profile: &Profile<'_>,
        templates: &Templates,
    ) -> Result<WorkspaceTemplate, CommandError> {
        let mut values = match &self.vars {
            Some(file) => read_values(file)?,
            None => Map::new(),
        };
        for var in &self.var {
            let Some((name, value)) = var.split_once('=') else {
                return Err(CommandError::Usage(format!("`--var {var}`: write it as NAME=VALUE")));
            };
            values.insert(name.trim().to_string(), value.into());
        }
        let options = catalog.config.payload;
        let mode = self.mode.or((options.mode != ModeChoice::Auto).then_some(options.mode));
        let request =
            PayloadRequest { catalog, profile, provider: options.provider, mode: Mode::Full, options };
        let mode =
            mode.map(|mode| options.provider.mode(report::mode_of(&request, templates, Mode::named(mode)).0));
        let template =
            WorkspaceTemplate { folder: self.template.clone(), values, mode, registry: self.registry };
        template.check_values().map_err(|error| CommandError::Usage(error.to_string()))?;
        Ok(template)
    }

    fn drift(&self, io: &Io, docs: Docs<'_>, template: &WorkspaceTemplate) -> CommandResult {
        let drift = seed_drift(docs, &self.workspace, template)?;
        if self.json {
            let lists = json!({"created": drift.created, "changed": drift.changed, "removed": drift.removed});
            io.print(&format!("{lists}\n"))?;
        } else if drift.is_empty() {
            io.note(format!("{} is up to date", self.workspace.display()));
        } else {
            io.print(&drift.diff)?;
        }
        if drift.is_empty() {
            return Ok(());
        }
        let message = "is out of date; run `toolcrib seed` without --check to update it";
        Err(failed(format!("{} {message}", self.workspace.display())))
    }

    /// A seed without any tool that could be read changes nothing in a folder that is empty.
    fn is_in_vain(&self, checked: &Checked, docs: &Docs<'_>) -> bool {
        let is_empty = || match std::fs::read_dir(&self.workspace) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        checked.lost_input() && docs.tools().is_empty() && is_empty()
    }
}

/// A template folder that does not exist is a wrong command line.
pub(super) fn find_template(folder: &Path) -> CommandResult {
    if folder.is_dir() {
        Ok(())
    } else {
        Err(CommandError::Usage(format!("there is no template folder at {}", folder.display())))
    }
}

fn read_values(file: &Path) -> Result<Map<String, Value>, CommandError> {
    let text =
        std::fs::read_to_string(file).map_err(|error| failed(format!("{}: {error}", file.display())))?;
    serde_json::from_str(&text).map_err(|error| {
        failed(format!("{}: expected a JSON object of names and values: {error}", file.display()))
    })
}

impl Rerun for SeedArgs {
    fn also(&self) -> Vec<PathBuf> {
        self.template.iter().chain(&self.vars).cloned().collect()
    }

    fn has_result(&self) -> bool {
        has_docs(&self.workspace.join(DOCS))
    }

    fn rerun(&self, io: &Io, checked: &Checked, why: &str) -> CommandResult {
        self.template.as_deref().map(find_template).transpose()?;
        let templates = self.catalog.templates(io, checked, None)?;
        let roles = (!self.role.is_empty()).then_some(self.role.as_slice());
        let named = self.profile.as_deref();
        let view = roles.map(|roles| self.catalog.view(io, checked, named, Some(roles))).transpose()?;
        let (catalog, profile) = match &view {
            Some(view) => (view.catalog(), view.usable_profile()),
            None => (&checked.catalog, checked.catalog.profile(named)?),
        };
        let template = self.template(catalog, &profile, &templates)?;
        let docs = Docs::new(catalog, profile, &templates);
        if self.is_in_vain(checked, &docs) {
            return Err(failed(
                "no source could be read, so nothing was written; `toolcrib check` shows why",
            ));
        }
        if self.check {
            self.drift(io, docs, &template)?;
            return if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) };
        }
        let tools = docs.tools().len();
        let bar = Bar::new(io, "writing docs", tools as u64);
        let seeded = seed(docs, &self.workspace, &template, &|done| bar.add(done))?;
        bar.finish();
        if self.json {
            io.print(&format!("{}\n", in_json(&seeded, checked, tools)))?;
        } else {
            let summary = summary(tools, &seeded.docs);
            io.note(format!("{}: {summary}{why}", self.workspace.display()));
            report(io, &seeded, checked.catalog.complete);
        }
        if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

fn in_json(seeded: &Seeded, checked: &Checked, tools: usize) -> Value {
    let docs = &seeded.docs;
    json!({
        "registry_version": checked.catalog.version,
        "complete": checked.catalog.complete,
        "tools": tools,
        "docs": {
            "created": docs.created, "updated": docs.updated, "removed": docs.removed, "unchanged": docs.unchanged,
            "kept": docs.kept, "replaced": docs.replaced,
        },
        "written": seeded.written,
        "kept": seeded.kept,
        "unclear": seeded.unclear,
    })
}

/// Reports the files beside the docs.
fn report(io: &Io, seeded: &Seeded, complete: bool) {
    replaced_or_kept(io, &seeded.docs, complete);
    if !seeded.written.is_empty() {
        io.note(format!("wrote {}", seeded.written.join(", ")));
    }
    if !seeded.kept.is_empty() {
        let why = if seeded.index_kept { ", since not all sources could be read" } else { "" };
        io.note(format!("kept your {}{why}", seeded.kept.join(", ")));
    }
    for file in &seeded.unclear {
        io.note(format!("{file} {UNCLEAR}"));
    }
}
