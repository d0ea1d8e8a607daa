//! A workspace template: the files around the docs, with the values of the job filled in.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tera::Context;
use walkdir::WalkDir;

use super::block::hides_block;
use super::values::{PLACEHOLDERS, ValueError, without_our_markers};
use crate::doc::Around;
use crate::documentation::Docs;
use crate::error::{RenderError, failed};
use crate::prompt::PromptSection;
use crate::templates::{TemplateError, check_text, render_text};
use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::Mode;

/// The folder of the docs in a workspace.
pub const DOCS: &str = "tools";

/// The files around the docs of a workspace.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceTemplate {
    /// The folder of the files; `None` uses the built-in template.
    pub folder: Option<PathBuf>,
    /// Values of the job that the files name, such as `job_id`.
    pub values: Map<String, Value>,
    /// The mode of the agent's requests, which the text about tools explains; `None` is that of the configuration, and `files`
    /// without one.
    pub mode: Option<Mode>,
    /// Whether `registry.json` is among the pages.
    pub registry: bool,
}

impl WorkspaceTemplate {
    /// The first of the values whose name a template cannot have.
    pub fn check_values(&self) -> Result<(), ValueError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in self.values.keys() {
            if PLACEHOLDERS.contains(&name.as_str()) {
                return Err(ValueError::Placeholder(name.clone()));
            }
            if !name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) || !name.chars().all(is_word) {
                return Err(ValueError::Name(toolcrib_definition::quoted(name).to_string()));
            }
        }
        Ok(())
    }

    /// The values of a template. Our own come last, so that a value of the job never takes the place of one.
    fn placeholders(&self, docs: &Docs<'_>) -> Result<Context, TemplateError> {
        let profile = &docs.profile;
        let title = docs.catalog.config.title.as_deref();
        let mut context = Context::new();
        let values = self.values.iter();
        values.for_each(|(name, value)| context.insert(name.clone(), &without_our_markers(value)));
        context.insert("title", title.or(profile.name).unwrap_or("Workspace"));
        context.insert("profile", profile.name.unwrap_or("all"));
        context.insert("description", profile.description.unwrap_or("The working folder of one agent."));
        context.insert("tool_count", &profile.tools.len());
        context.insert("registry_version", &docs.catalog.version);
        let section = PromptSection::of(self.mode(docs.catalog), docs.catalog.config.payload);
        context.insert("tools", &section.render(docs.catalog, profile, docs.templates)?);
        Ok(context)
    }

    fn mode(&self, catalog: &Catalog) -> Mode {
        self.mode.or(Mode::named(catalog.config.payload.mode)).unwrap_or(Mode::Files)
    }

    /// The pages for an agent of this mode.
    pub(super) fn docs<'d>(&self, docs: Docs<'d>) -> Docs<'d> {
        let mode = self.mode(docs.catalog);
        let functions = matches!(mode, Mode::Hybrid | Mode::Gateway);
        docs.around(Around { ops: mode == Mode::Gateway, functions, registry: self.registry })
    }

    /// The files with their values filled in.
    pub(super) fn render(&self, docs: &Docs<'_>) -> Result<Vec<TemplateFile>, RenderError> {
        let context = self.placeholders(docs)?;
        let files = match &self.folder {
            Some(folder) => files_of(folder)?,
            None => docs.templates.workspace().iter().map(built_in).collect(),
        };
        files.into_iter().map(|file| render_file(file, &context)).collect()
    }

    /// The first mistake in the files, which are not filled in.
    pub fn check_files(&self) -> Result<(), RenderError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        for (name, content) in files_of(folder)? {
            if let Some(text) = template_text(&content) {
                check_text(&name, text)?;
            }
        }
        Ok(())
    }
}

/// A file of a workspace template: its relative name and its content.
pub(super) type TemplateFile = (String, Cow<'static, [u8]>);

fn built_in((name, text): &(&'static str, &'static str)) -> TemplateFile {
    (name.to_string(), Cow::Borrowed(text.as_bytes()))
}

/// The files of a folder.
fn files_of(folder: &Path) -> Result<Vec<TemplateFile>, RenderError> {
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

/// The text of a file with placeholders.
fn template_text(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|text| text.contains("{{") || text.contains("{%"))
}

/// Fills in the placeholders of a text; any other content is copied as it is.
fn render_file((name, content): TemplateFile, context: &Context) -> Result<TemplateFile, RenderError> {
    let Some(text) = template_text(&content) else { return Ok((name, content)) };
    let rendered = render_text(&name, text, context)?;
    if hides_block(text, &rendered) {
        return Err(ValueError::Block(name).into());
    }
    Ok((name, Cow::Owned(rendered.into_bytes())))
}
