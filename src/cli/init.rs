//! `toolcrib init`: a catalog to start from, a small one or one made of definitions in other formats.

use std::path::{Path, PathBuf};

use super::error::{CommandError, CommandResult, failed};
use super::findings::report_briefly;
use super::io::Io;
use crate::BUILT_IN;
use toolcrib_catalog::config::{Config, Source, Workspace};
use toolcrib_catalog::{self as catalog, Tool};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{Definition, embedded_files};
use toolcrib_render::folder::write_whole;

/// The files of a new catalog.
const STARTER: [(&str, &str); 2] = embedded_files! { "starter": "toolcrib.toml", "tools/notes.yaml" };

/// Make a catalog to start from; with --from, out of your definitions.
///
/// Without --from it is a toolcrib.toml and two tools.
///
/// With --from there is one file per tool, which you edit from then on. To keep a source as it is and only add missing fields,
/// name it in a `[[source]]` of toolcrib.toml instead.
#[allow(rustdoc::broken_intra_doc_links, reason = "the text is the help of the command")]
#[derive(Debug, clap::Args)]
#[command(after_help = "Try it:\n  toolcrib init my-catalog\n  toolcrib init definitions --from tools.json")]
pub(super) struct InitArgs {
    /// The folder to make.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// A file or a folder of definitions in any known format, to convert; can be given several times.
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// Replace existing definitions that differ.
    #[arg(long, requires = "from")]
    force: bool,
    /// Copy the built-in templates, to edit them, in place of a catalog.
    #[arg(long, conflicts_with = "from")]
    templates: bool,
}

impl InitArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        if !self.from.is_empty() {
            return self.convert(io);
        }
        if self.templates {
            return self.copy_templates(io);
        }
        write_new(&self.folder, &STARTER)?;
        let folder = self.folder.display();
        io.note(format!("{folder}: wrote {}", STARTER.map(|(name, _)| name).join(", ")));
        // The definitions are in `tools/`.
        let docs = self.folder.join("docs");
        let docs = docs.strip_prefix(".").unwrap_or(&docs).display();
        io.note(format!("next: toolcrib check {folder}; toolcrib render {folder} --out {docs}"));
        Ok(())
    }

    /// Writes the built-in templates, and the built-in workspace template.
    fn copy_templates(&self, io: &Io) -> CommandResult {
        let parts = [("templates", BUILT_IN.templates), ("workspace-template", BUILT_IN.workspace)];
        let files = parts.into_iter().flat_map(|(part, files)| {
            files.iter().map(move |(name, content)| (format!("{part}/{name}"), *content))
        });
        write_new(&self.folder, &files.collect::<Vec<_>>())?;
        for (part, files) in parts {
            io.note(format!("{}: wrote {}", self.folder.join(part).display(), counted(files.len(), "file")));
        }
        io.note("next: keep only the files that you edit, so that the others are renewed with toolcrib;");
        io.note("set `templates = \"templates\"` in [render] of toolcrib.toml, and `seed --template workspace-template`");
        Ok(())
    }

    /// Converts the definitions, one file per tool.
    fn convert(&self, io: &Io) -> CommandResult {
        if let Some(missing) = self.from.iter().find(|file| !file.exists()) {
            return Err(CommandError::Usage(format!("there is no file {}", missing.display())));
        }
        let source =
            |file: &PathBuf| Source { path: file.to_string_lossy().into_owned(), ..Source::default() };
        let config = Config { sources: self.from.iter().map(source).collect(), ..Config::default() };
        let checked = catalog::open(Workspace { config, ..Workspace::default() });
        report_briefly(io, &checked, None);
        let catalog = &checked.catalog;
        let out = self.folder.display();
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| failed(format!("cannot make {out}: {error}")))?;
        let mut edited = Vec::new();
        for tool in &catalog.tools {
            let name = format!("{}.json", tool.names.safe);
            let path = self.folder.join(&name);
            let text = written(tool);
            match std::fs::read_to_string(&path) {
                Ok(existing) if existing == text => {}
                Ok(_) if !self.force => edited.push(name),
                _ => write_whole(&path, text.as_bytes())
                    .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?,
            }
        }
        io.note(format!(
            "{}: {} written",
            self.folder.display(),
            counted(catalog.tools.len() - edited.len(), "definition")
        ));
        let withheld = catalog.tools.iter().filter(|tool| tool.rules.withheld.is_some()).count();
        if withheld > 0 {
            io.note(format!(
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

/// Writes files, unless one of them is there already.
fn write_new(folder: &Path, files: &[(impl AsRef<Path>, &str)]) -> CommandResult {
    let is_taken = |name: &&Path| folder.join(name).symlink_metadata().is_ok();
    let taken: Vec<_> = files.iter().map(|(name, _)| name.as_ref()).filter(is_taken).collect();
    if !taken.is_empty() {
        let mut named: Vec<_> = taken.iter().take(3).map(|name| name.display().to_string()).collect();
        if taken.len() > named.len() {
            named.push(format!("{} more", taken.len() - named.len()));
        }
        let message = format!("{} has {} already; nothing was written", folder.display(), named.join(", "));
        return Err(failed(message));
    }
    for (name, content) in files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))
            .and_then(|()| std::fs::write(&file, content))
            .map_err(|error| failed(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(())
}

/// A tool as a file. The schema keeps its bytes.
fn written(tool: &Tool) -> String {
    let mut text = serde_json::to_string_pretty(&Definition::from(tool)).unwrap_or_default();
    text.push('\n');
    text
}
