//! `toolcrib import`: foreign formats become native definitions.

use std::path::PathBuf;

use super::catalog::{counted, report_briefly};
use super::render::failure;
use super::{Failure, Outcome, note};
use crate::catalog::{self, Catalog};
use crate::config::{Config, Source, Workspace};
use crate::render::folder::{self, FileSet};

/// Turn definitions of any known format into native ones, one file a tool, to edit by hand from then on.
///
/// To keep a source as it is and only add what it lacks, point a `[[source]]` of toolcrib.toml at it instead.
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// Files or folders of definitions.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder to write definitions to.
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

impl Import {
    pub(super) fn run(self) -> Outcome {
        if let Some(missing) = self.files.iter().find(|file| !file.exists()) {
            return Err(Failure::Usage(format!("there is no file {}", missing.display())));
        }
        let source =
            |file: &PathBuf| Source { path: file.to_string_lossy().into_owned(), ..Source::default() };
        let config = Config { sources: self.files.iter().map(source).collect(), ..Config::default() };
        let checked = catalog::open(Workspace { config, ..Workspace::default() });
        report_briefly(&checked);
        let catalog = &checked.catalog;
        let paths = catalog.tools.iter().map(|tool| format!("{}.json", tool.safe_name)).collect();
        let render = |index: usize| definition(catalog, index);
        let key = format!("import {} {}", env!("CARGO_PKG_VERSION"), catalog.version);
        let report = folder::sync(&self.out, &FileSet { paths, render: &render, key }, &|_| {})
            .map_err(|error| failure(error.into()))?;
        let total = report.created + report.updated + report.unchanged;
        note(format!("{}: {} imported", self.out.display(), counted(total, "definition")));
        if checked.lost_input() { Err(Failure::Findings(None)) } else { Ok(()) }
    }
}

/// One definition as a file. The schema keeps its bytes; the name is the canonical one.
fn definition(catalog: &Catalog, index: usize) -> String {
    let tool = &catalog.tools[index];
    let mut definition = tool.definition.clone();
    definition.name.clone_from(&tool.name);
    let mut text = serde_json::to_string_pretty(&definition).unwrap_or_default();
    text.push('\n');
    text
}
