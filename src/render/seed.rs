//! Seeds a workspace at job start: the docs of a profile, and a template around them.
//!
//! Files of the user are kept. A template file is written where no file is, and renewed as long as nobody has changed
//! it. After a change, only our block in it is renewed, if it has one, as `AGENTS.md` does.

mod block;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tera::Context;
use walkdir::WalkDir;

use block::{BlockUpdate, renew};

use super::folder::{self, FileSet, write_whole};
use super::templates::{TemplateError, render_text};
use super::{Docs, RenderError, files_section};
use crate::embedded::embedded_files;

/// The folder of the docs in a workspace.
pub const DOCS: &str = "tools";

/// Our own workspace template.
const EMBEDDED: [(&str, &str); 1] = embedded_files! { "workspace-template": "AGENTS.md" };

/// Result of seeding.
#[derive(Debug)]
pub struct Seeded {
    /// Report on the docs.
    pub docs: folder::Report,
    /// Template files written or renewed.
    pub written: Vec<String>,
    /// Files of the user's that were left as they are.
    pub kept: Vec<String>,
    /// Files that were left as they are since their markers do not pair, or are in a code fence.
    pub unclear: Vec<String>,
    /// Whether the index of the docs, and the text about it, waits until all sources can be read again.
    pub index_kept: bool,
}

/// Seeds `workspace` with the docs of a profile and the files of `template`, a folder, or of our own.
pub fn seed(
    docs: &Docs<'_>,
    workspace: &Path,
    template: Option<&Path>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Seeded, RenderError> {
    docs.try_one()?;
    let context = placeholders(docs)?;
    let files = template_files(template)?;
    let rendered: Vec<(String, Cow<'_, [u8]>)> =
        files.into_iter().map(|file| render_file(file, &context)).collect::<Result<_, TemplateError>>()?;
    refuse_links(workspace, DOCS).map_err(|error| failed(DOCS, error))?;
    for (name, _) in &rendered {
        refuse_links(workspace, name).map_err(|error| failed(name, error))?;
        refuse_others(&workspace.join(name)).map_err(|error| failed(name, error))?;
    }
    let held = folder::hold(workspace)?;
    let index_kept = docs.withholds_index("", &workspace.join(DOCS))?;
    let report = docs.write(&workspace.join(DOCS), progress)?;
    let mut seeded =
        Seeded { docs: report, written: Vec::new(), kept: Vec::new(), unclear: Vec::new(), index_kept };
    let ours = folder::unedited(workspace)?;
    let mut owned: Vec<(String, String)> = Vec::new();
    for (name, content) in rendered {
        let is_new = !workspace.join(&name).exists();
        let content = match String::from_utf8(content.into_owned()) {
            Ok(text) if is_new || ours.contains(&name) && !index_kept => {
                owned.push((name, text));
                continue;
            }
            Ok(text) => text.into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        let placed = place(workspace, &name, &content, index_kept).map_err(|error| failed(&name, error))?;
        seeded.note(&name, placed);
    }
    if !owned.is_empty() || !ours.is_empty() {
        let text = |index: usize| Ok(owned[index].1.clone());
        let paths: Vec<String> = owned.iter().map(|(name, _)| name.clone()).collect();
        let files = FileSet { paths, render: &text, key: String::new(), prune: docs.catalog.complete };
        let report = held.sync(&files, &|_| {})?;
        if report.created + report.updated > 0 {
            seeded.written.extend(owned.into_iter().map(|(name, _)| name));
        }
    }
    Ok(seeded)
}

impl Seeded {
    fn note(&mut self, name: &str, placed: FileOutcome) {
        match placed {
            FileOutcome::Written => self.written.push(name.to_string()),
            FileOutcome::Kept => self.kept.push(name.to_string()),
            FileOutcome::Unclear => self.unclear.push(name.to_string()),
            FileOutcome::Current => {}
        }
    }
}

fn failed(path: &str, source: std::io::Error) -> RenderError {
    RenderError::Workspace { path: path.to_string(), source }
}

fn placeholders(docs: &Docs<'_>) -> Result<Context, TemplateError> {
    let profile = &docs.profile;
    let title = docs.catalog.config.title.as_deref();
    let mut context = Context::new();
    context.insert("title", title.or(profile.name).unwrap_or("Workspace"));
    context.insert("profile", profile.name.unwrap_or("all"));
    context.insert("description", profile.description.unwrap_or("The working folder of one agent."));
    context.insert("tool_count", &profile.tools.len());
    context.insert("registry_version", &docs.catalog.version);
    context.insert("tools", &files_section(profile, DOCS, docs.templates)?);
    Ok(context)
}

/// A file of a workspace template: its relative name and its content.
type TemplateFile = (String, Cow<'static, [u8]>);

fn template_files(template: Option<&Path>) -> Result<Vec<TemplateFile>, RenderError> {
    let Some(folder) = template else {
        let file = |(name, text): (&str, &'static str)| (name.to_string(), Cow::Borrowed(text.as_bytes()));
        return Ok(EMBEDDED.map(file).into());
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| failed(&folder.to_string_lossy(), error.into()))?;
        let Ok(relative) = entry.path().strip_prefix(folder) else { continue };
        if entry.file_type().is_file() {
            let content = std::fs::read(entry.path())
                .map_err(|error| failed(&entry.path().to_string_lossy(), error))?;
            files.push((relative.to_string_lossy().replace('\\', "/"), Cow::Owned(content)));
        }
    }
    Ok(files)
}

/// Fills in the placeholders of a text; any other content is copied as it is.
fn render_file<'a>(
    (name, content): (String, Cow<'a, [u8]>),
    context: &Context,
) -> Result<(String, Cow<'a, [u8]>), TemplateError> {
    let rendered = match std::str::from_utf8(&content) {
        Ok(text) if text.contains("{{") || text.contains("{%") => {
            Cow::Owned(render_text(&name, text, context)?.into_bytes())
        }
        _ => content,
    };
    Ok((name, rendered))
}

enum FileOutcome {
    Written,
    Kept,
    Unclear,
    Current,
}

/// Writes a file where none is, and renews our block in one of the user's unless that has to `wait`.
fn place(workspace: &Path, name: &str, content: &[u8], wait: bool) -> std::io::Result<FileOutcome> {
    let target = workspace.join(name);
    refuse_others(&target)?;
    let existing = match std::fs::read(&target) {
        Ok(existing) => existing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(target.parent().unwrap_or(workspace))?;
            return write_whole(&target, content).map(|()| FileOutcome::Written);
        }
        Err(error) => return Err(error),
    };
    if existing == content {
        return Ok(FileOutcome::Current);
    }
    let (Ok(existing), Ok(content)) = (std::str::from_utf8(&existing), std::str::from_utf8(content)) else {
        return Ok(FileOutcome::Kept);
    };
    match renew(existing, content) {
        BlockUpdate::Text(renewed) if renewed == existing => Ok(FileOutcome::Current),
        BlockUpdate::Text(_) if wait => Ok(FileOutcome::Kept),
        BlockUpdate::Text(renewed) => write_whole(&target, renewed.as_bytes()).map(|()| FileOutcome::Written),
        BlockUpdate::NoBlock => Ok(FileOutcome::Kept),
        BlockUpdate::Unclear => Ok(FileOutcome::Unclear),
    }
}

/// Reading a pipe or a device could block forever.
fn refuse_others(path: &Path) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Err(std::io::Error::other("it is not a regular file; move it away"))
        }
        _ => Ok(()),
    }
}

/// Nothing is written through a symbolic link, whoever made it.
fn refuse_links(workspace: &Path, name: &str) -> std::io::Result<()> {
    let mut path = PathBuf::from(workspace);
    for part in name.split('/') {
        path.push(part);
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(std::io::Error::other(
                "it is, or lies behind, a symbolic link; replace the link by a file or folder",
            ));
        }
    }
    Ok(())
}
