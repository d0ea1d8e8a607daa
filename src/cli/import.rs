//! `toolcrib import`: converts foreign formats to native definitions.

use std::path::PathBuf;

use super::catalog::{counted, report_briefly};
use super::{CommandError, CommandResult, failed, print_note};
use crate::catalog::{self, Catalog};
use crate::config::{Config, Source, Workspace};
use crate::render::folder::write_whole;
use crate::tool::Effect;

/// Convert definitions of any known format to native ones, one file per tool, which you edit from then on.
///
/// To keep a source as it is and only add missing fields, name it in a `[[source]]` of toolcrib.toml instead.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// Files or folders of definitions.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder to write definitions to.
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Replace existing definitions that differ.
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
        let out = self.out.display();
        std::fs::create_dir_all(&self.out).map_err(|error| failed(format!("cannot make {out}: {error}")))?;
        let mut edited = Vec::new();
        for (index, tool) in catalog.tools.iter().enumerate() {
            let name = format!("{}.json", tool.safe_name);
            let path = self.out.join(&name);
            let text = definition(catalog, index);
            match std::fs::read_to_string(&path) {
                Ok(existing) if existing == text => {}
                Ok(_) if !self.force => edited.push(name),
                _ => write_whole(&path, text.as_bytes())
                    .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?,
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
            return Err(failed(message));
        }
        if checked.lost_input() { Err(CommandError::Findings(None)) } else { Ok(()) }
    }
}

/// One definition as a file. The schema keeps its bytes; the name is the canonical one.
fn definition(catalog: &Catalog, index: usize) -> String {
    let tool = &catalog.tools[index];
    let mut definition = tool.definition.clone();
    definition.name.clone_from(&tool.name);
    // Fields derived from the server, the order or the file are written down, since that origin is lost in the new
    // file.
    definition.op = Some(tool.op.clone());
    // The server, from which the category may have been derived, is not part of a definition.
    if tool.has_derived_category() {
        definition.category.clone_from(&tool.categories);
    }
    // An effect in a file is a claim of its author; it is written only where the name alone would give another one.
    if definition.effect.is_none() && Effect::of_name(&tool.name) != tool.effect {
        definition.effect = Some(tool.effect);
    }
    definition.short_description = Some(tool.short.clone());
    let mut text = serde_json::to_string_pretty(&definition).unwrap_or_default();
    text.push('\n');
    text
}
