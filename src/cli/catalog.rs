//! The arguments that name a catalog, shared by all commands that read one.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{Failure, note};
use crate::catalog::{self, Checked};
use crate::config::{self, Deferred, Listed, ServeSurface, Surface};
use crate::finding::{Finding, Severity, text_report};
use crate::provider::Provider;
use crate::sources::mcp::{Environment, contact};

/// Which catalog, and which part of it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CatalogArgs {
    /// A toolcrib.toml, a folder, or one file of definitions in any known format.
    #[arg(long, short, global = true, value_name = "PATH", default_value = ".")]
    pub(super) catalog: PathBuf,
    /// Contact no live servers of the catalog and no models, and run no commands; tools of live servers count as input
    /// that is missing.
    #[arg(long, global = true)]
    pub(super) offline: bool,
}

impl CatalogArgs {
    /// The path of the catalog; one that does not exist is a wrong command line.
    pub(super) fn path(&self) -> Result<&Path, Failure> {
        if self.catalog.exists() {
            Ok(&self.catalog)
        } else {
            Err(Failure::Usage(format!("there is no catalog at {}", self.catalog.display())))
        }
    }

    /// The folder that the paths of its configuration are relative to.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = if self.catalog.is_dir() { Some(self.catalog.as_path()) } else { self.catalog.parent() };
        folder.map(Path::to_path_buf).unwrap_or_default()
    }

    /// Opens the catalog.
    pub(super) fn open(&self) -> Result<Checked, Failure> {
        let path = self.path()?;
        let progress = super::progress::Spinner::start("reading the catalog");
        let workspace = config::read(path);
        let listings = self.environment().map(|environment| contact(&workspace, &environment));
        let checked = catalog::open_with(workspace, &listings.unwrap_or_default());
        progress.finish();
        Ok(checked)
    }

    /// A path that the configuration names, which is relative to it.
    pub(super) fn beside(&self, path: &Path) -> PathBuf {
        let root = if self.catalog.is_dir() { Some(self.catalog.as_path()) } else { self.catalog.parent() };
        root.map_or_else(|| path.to_path_buf(), |root| root.join(path))
    }

    /// The variables for live servers, if they may be contacted.
    pub(super) fn environment(&self) -> Option<Environment> {
        #[expect(clippy::disallowed_methods, reason = "this is the command line")]
        let environment = Environment::new(|name| std::env::var(name).ok());
        (!self.offline).then_some(environment)
    }
}

/// Reports what keeps input out of the catalog, and counts the rest; for commands whose job is another.
pub(super) fn report_briefly(checked: &Checked) {
    report_lost(checked);
    let (errors, warnings) = (checked.count(Severity::Error), checked.count(Severity::Warning));
    if errors + warnings > 0 {
        note(format!(
            "{} and {}; `toolcrib check` shows them",
            counted(errors, "error"),
            counted(warnings, "warning")
        ));
    }
}

/// Reports what keeps input out of the catalog, and nothing else; for commands that run at every turn of a job.
pub(super) fn report_lost(checked: &Checked) {
    let lost: Vec<Finding> = checked
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error && finding.code.loses_input())
        .cloned()
        .collect();
    if !lost.is_empty() {
        let color = std::io::stderr().is_terminal();
        note(text_report(&lost, &checked.documents, color, Some(10)).trim_end());
    }
}

/// Fails when something of the input is missing from the catalog, after what could be read has been printed.
pub(super) fn complete(checked: &Checked) -> super::Outcome {
    if checked.lost_input() {
        Err(Failure::Findings(Some("not all of the catalog could be read".into())))
    } else {
        Ok(())
    }
}

/// `1 error`, `2 errors`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Reads the name of a provider.
pub(super) fn providers() -> impl TypedValueParser<Value = Provider> {
    named(Provider::ALL.map(Provider::as_str), Provider::parse)
}

/// Reads the name of a surface.
pub(super) fn surfaces() -> impl TypedValueParser<Value = Surface> {
    named(Surface::ALL.map(Surface::as_str), Surface::parse)
}

/// Reads which functions are listed.
pub(super) fn function_lists() -> impl TypedValueParser<Value = Listed> {
    named(Listed::ALL.map(Listed::as_str), Listed::parse)
}

/// Reads what clients are bound.
pub(super) fn serve_surfaces() -> impl TypedValueParser<Value = ServeSurface> {
    named(ServeSurface::ALL.map(ServeSurface::as_str), ServeSurface::parse)
}

/// Reads what is bound of deferred tools.
pub(super) fn deferrals() -> impl TypedValueParser<Value = Deferred> {
    named(Deferred::ALL.map(Deferred::as_str), Deferred::parse)
}

/// One of these names, which help and completions list.
fn named<T: Clone + Send + Sync + 'static, const N: usize>(
    names: [&'static str; N],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| parse(&name).ok_or("unknown name"))
}
