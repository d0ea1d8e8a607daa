//! `toolcrib render`: documentation into a folder.

use std::path::{Path, PathBuf};

use super::catalog::CatalogArgs;
use super::docs::{has_docs, replaced_or_kept, summary};
use super::error::{CommandError, CommandResult, failed};
use super::findings::refuse_unread;
use super::io::Io;
use super::progress::Bar;
use super::watch::{Rerun, watch};
use toolcrib_catalog::Checked;
use toolcrib_render::folder::{self, Files};
use toolcrib_render::{Docs, RenderError, skill_files, skills};
use toolcrib_server::site::{Site, SiteIndex};

/// Write the documentation of a catalog: README.md, one page per tool, registry.json.
///
/// With `--site` the docs go to `tools/` in the folder, and web pages for people around them: open `index.html`.
///
/// Only files that toolcrib wrote are replaced or removed.
#[derive(Debug, clap::Args)]
#[command(
    group(clap::ArgGroup::new("folder").required(true).args(["out", "skills"])),
    after_help = "Try it:\n  toolcrib render tools.json --out tools\n  toolcrib render . --out docs/tools --check    (in CI)\n  toolcrib render tools.json --out public --site\n  toolcrib render tools.json --skills skills"
)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The folder to write; it is created if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder to write Agent Skills to, in place of docs: one skill per category, with the docs of its tools as
    /// references.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "site"])]
    skills: Option<PathBuf>,
    /// Document the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// A folder of templates that replace the built-in ones of the same name.
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Write web pages as well, which open as files or from any web server.
    #[arg(long)]
    site: bool,
    /// Change nothing; print the changes as a diff, and exit 1 if there are any.
    #[arg(long, conflicts_with = "watch")]
    check: bool,
    /// Keep running, and write again whenever the catalog changes.
    ///
    /// An edit that breaks the catalog leaves the docs as they are.
    #[arg(long)]
    watch: bool,
}

impl RenderArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        if self.watch {
            return watch(io, &self.catalog, &self);
        }
        let checked = self.catalog.open(io)?;
        self.catalog.report_briefly(io, &checked);
        if self.check {
            self.with_files(io, &checked, |_, files| self.drift(io, files))
        } else {
            self.rerun(io, &checked, "")
        }
    }

    /// Does something with the number of tools and the files that document them.
    fn with_files(
        &self,
        io: &Io,
        checked: &Checked,
        act: impl FnOnce(usize, &Files<'_>) -> CommandResult,
    ) -> CommandResult {
        let templates = self.catalog.templates(io, checked, self.templates.as_deref())?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let index = self.site.then(|| SiteIndex::new(&checked.catalog, &profile));
        let docs = Docs::new(&checked.catalog, profile, &templates);
        let tools = docs.tools().len();
        let files = |files: Result<Files<'_>, RenderError>| act(tools, &files?);
        if self.skills.is_some() {
            return files(skill_files(&docs, &skills(&checked.catalog, docs.profile())));
        }
        let Some(index) = &index else { return files(docs.files(self.folder())) };
        let site = Site::new(index, &checked.catalog, &checked.findings, &templates);
        files(site.files(&docs, self.folder()))
    }

    /// The folder to write.
    fn folder(&self) -> &Path {
        self.skills.as_deref().or(self.out.as_deref()).unwrap_or(Path::new("tools"))
    }

    fn drift(&self, io: &Io, files: &Files<'_>) -> CommandResult {
        let drift = folder::check(self.folder(), "", files)?;
        if drift.is_empty() {
            io.note(format!("{} is up to date", self.folder().display()));
            return Ok(());
        }
        io.print(&drift.diff)?;
        let counts = format!(
            "{} to create, {} to change, {} to remove",
            drift.created.len(),
            drift.changed.len(),
            drift.removed.len()
        );
        let message = format!(
            "{} is out of date: {counts}; run `toolcrib render` without --check to update it",
            self.folder().display()
        );
        Err(failed(message))
    }
}

impl Rerun for RenderArgs {
    fn also(&self) -> Vec<PathBuf> {
        self.templates.iter().cloned().collect()
    }

    fn has_result(&self) -> bool {
        has_docs(self.folder())
    }

    fn rerun(&self, io: &Io, checked: &Checked, why: &str) -> CommandResult {
        self.with_files(io, checked, |tools, files| {
            if !self.has_result() && tools == 0 {
                refuse_unread(checked)?;
            }
            let bar = Bar::new(io, "writing docs", files.paths.len() as u64);
            let report = folder::sync(self.folder(), files, &|done| bar.add(done))?;
            bar.finish();
            io.note(format!("{}: {}{why}", self.folder().display(), summary(tools, &report)));
            replaced_or_kept(io, &report, checked.catalog.complete);
            if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) }
        })
    }
}
