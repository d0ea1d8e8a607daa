//! `toolcrib import`: foreign formats become native definitions.

use std::path::PathBuf;

use anyhow::Context;

use super::catalog::{counted, report_briefly};
use super::{CommandError, CommandResult, print_note};
use crate::catalog::{self, Catalog};
use crate::config::{Config, Source, Workspace};
use crate::render::folder::write_whole;
use crate::tool::Effect;

/// Turn definitions of any known format into native ones, one file a tool, to edit by hand from then on.
///
/// To keep a source as it is and only add what it lacks, point a `[[source]]` of toolcrib.toml at it instead.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// Files or folders of definitions.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder to write definitions to.
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Replace definitions that are there already and differ.
    #[arg(long)]
    force: bool,
}

impl ImportArgs {
    pub(super) fn run(self) -> CommandResult {
        if let Some(missing) = self.files.iter().find(|file| !file.exists()) {
            return Err(CommandError::Usage(format!("there is no file {}", missing.display())));
        }
        let source =
            |file: &PathBuf| Source { path: file.to_string_lossy().into_owned(), ..Source::default() };
        let config = Config { sources: self.files.iter().map(source).collect(), ..Config::default() };
        let checked = catalog::open(Workspace { config, ..Workspace::default() });
        report_briefly(&checked, None);
        let catalog = &checked.catalog;
        std::fs::create_dir_all(&self.out).with_context(|| format!("cannot make {}", self.out.display()))?;
        let mut edited = Vec::new();
        for (index, tool) in catalog.tools.iter().enumerate() {
            let name = format!("{}.json", tool.safe_name);
            let path = self.out.join(&name);
            let text = definition(catalog, index);
            match std::fs::read_to_string(&path) {
                Ok(existing) if existing == text => {}
                Ok(_) if !self.force => edited.push(name),
                _ => write_whole(&path, text.as_bytes())
                    .with_context(|| format!("cannot write {}", path.display()))?,
            }
        }
        print_note(format!(
            "{}: {} imported",
            self.out.display(),
            counted(catalog.tools.len() - edited.len(), "definition")
        ));
        let withheld = catalog.tools.iter().filter(|tool| tool.withheld.is_some()).count();
        if withheld > 0 {
            print_note(format!(
                "{} named a program as its backend, which is left out: a definition that is trusted later would run it; \
                 write the backend yourself",
                counted(withheld, "definition")
            ));
        }
        if !edited.is_empty() {
            let shown = edited.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let message = format!(
                "{} differ and were kept: {shown}; --force replaces them",
                counted(edited.len(), "file")
            );
            return Err(CommandError::Findings(Some(message)));
        }
        if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

/// One definition as a file. The schema keeps its bytes; the name is the canonical one.
fn definition(catalog: &Catalog, index: usize) -> String {
    let tool = &catalog.tools[index];
    let mut definition = tool.definition.clone();
    definition.name.clone_from(&tool.name);
    // What was derived from the server, the order or the file is written down, since those are gone from now on.
    definition.op = Some(tool.op.clone());
    // A file that states an effect makes a claim; one is needed only where the name alone would be read otherwise.
    if definition.effect.is_none() && Effect::of_name(&tool.name) != tool.effect {
        definition.effect = Some(tool.effect);
    }
    definition.short_description = Some(tool.short.clone());
    let mut text = serde_json::to_string_pretty(&definition).unwrap_or_default();
    text.push('\n');
    text
}
