//! `toolcrib bundle build`: a catalog as one file.

use std::path::PathBuf;
use std::sync::Arc;

use crate::bundle::Bundle;
use crate::catalog::{Checked, Manifest, bundled, unportable};
use crate::cli::bundle_file::{Use, open, told};
use crate::cli::catalog::{CatalogArgs, HELP, counted};
use crate::cli::{CommandError, CommandResult, failed, print_note};
use crate::config::{Workspace, unreadable_bundle};
use crate::finding::text_report;
use crate::functions::CatalogView;
use crate::render::folder::write_whole;
use crate::render::{Templates, own_templates};

/// Build a bundle of a catalog: one file with its tools, docs, configuration and findings, from which every command works.
///
/// The same catalog gives the same bytes on every machine. A bundle holds no secret values: a configuration with one is
/// refused, and references such as `${NAME}` stay references.
#[derive(Debug, clap::Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The file to write.
    #[arg(long, short, value_name = "FILE", default_value = "tools.crib")]
    out: PathBuf,
    /// Build it although some of the input cannot be read.
    #[arg(long)]
    incomplete: bool,
}

impl BuildArgs {
    pub(super) fn run(mut self) -> CommandResult {
        self.catalog = self.catalog.without_key();
        let workspace = self.catalog.workspace()?;
        if workspace.bundle.is_some() {
            let message = "a bundle is built from a catalog, and this is a bundle already";
            return Err(CommandError::Usage(message.into()));
        }
        if workspace.is_found {
            let message = "toolcrib.toml was merely found here, and a bundle of it would lack its servers";
            return Err(CommandError::Usage(format!("{message}; {HELP}")));
        }
        let checked = self.catalog.open_workspace(workspace.clone());
        self.catalog.report_briefly(&checked);
        if checked.lost_input() && !self.incomplete {
            return Err(failed("not all of the catalog could be read; correct that, or add --incomplete"));
        }
        if checked.catalog.tools.is_empty() {
            return Err(failed("there is no tool to put into a bundle; `toolcrib check` shows why"));
        }
        refuse_unportable(&workspace, &checked)?;
        let folder = workspace.config.render.templates.as_ref().map(|folder| workspace.root.join(folder));
        let templates = folder.map(|folder| own_templates(&folder)).transpose().map_err(failed)?;
        let lossy = "a tool of this catalog would not come back from a bundle as it is";
        let view =
            CatalogView::new(&checked.catalog, None, None, Arc::new(Templates::load(None).map_err(failed)?))?;
        let writer = bundled(&checked, templates.unwrap_or_default(), view.indexes_part());
        let writer = writer.ok_or_else(|| failed(lossy))?;
        self.write(&writer.finish())
    }

    fn write(&self, bytes: &[u8]) -> CommandResult {
        write_whole(&self.out, bytes)
            .map_err(|error| failed(format!("cannot write {}: {error}", self.out.display())))?;
        let bundle = open(&self.out, None, Use::Once).map_err(|finding| told(&finding))?;
        let manifest = Manifest::of(&bundle).map_err(|error| told(&unreadable_bundle(&self.out, &error)))?;
        print_note(format!("{}: {}", self.out.display(), summary(&bundle, &manifest)));
        Ok(())
    }
}

fn summary(bundle: &Bundle, manifest: &Manifest) -> String {
    let tools = counted(manifest.tools, "tool");
    format!("{tools}, registry {}, bundle {}", manifest.registry_version, bundle.version())
}

/// Reports what must not be in a bundle, each with its place.
fn refuse_unportable(workspace: &Workspace, checked: &Checked) -> CommandResult {
    let found = unportable(workspace, checked);
    if found.is_empty() {
        return Ok(());
    }
    // Without excerpts, which would show the secrets.
    print_note(text_report(&found, &[], true, Some(10)).trim_end());
    Err(failed("no bundle is built: it would take along what belongs to this machine"))
}
