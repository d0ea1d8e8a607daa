//! A catalog becomes documentation: the index, a page a tool, `registry.json`, a seeded workspace.
//!
//! 1. [`templates`] loads our templates, and the user's instead where there are any.
//! 2. [`doc`] makes the doc of one tool: its sections as safe markdown, and its doc version.
//! 3. [`index`] lays out `README.md`, and category pages where there are many tools.
//! 4. [`folder`] writes the files, owns only those, and says what differs.
//! 5. [`seed`] puts all of that, and the text that tells an agent of it, into a workspace.
//!
//! Everything but [`folder`] and [`seed`] is pure: the same catalog gives the same bytes.

mod arguments;
mod doc;
pub mod folder;
mod index;
mod markdown;
mod prompt;
mod seed;
mod templates;

use std::path::Path;
use std::sync::OnceLock;

use crate::catalog::{Catalog, Profile, ProfileTool, registry};
use folder::FileSet;
use index::Index;

pub use prompt::files_section;
pub use seed::{Seeded, seed};
pub use templates::{TemplateError, Templates};

/// The documentation of a profile, ready to be written.
pub struct Docs<'a> {
    catalog: &'a Catalog,
    profile: Profile<'a>,
    templates: &'a Templates,
    index: Index,
    failed: OnceLock<TemplateError>,
}

impl<'a> Docs<'a> {
    /// Lays out the documentation of a profile.
    pub fn new(catalog: &'a Catalog, profile: Profile<'a>, templates: &'a Templates) -> Self {
        let index = Index::lay_out(catalog, &profile);
        Self { catalog, profile, templates, index, failed: OnceLock::new() }
    }

    /// The tools documented.
    pub fn tools(&self) -> &[ProfileTool<'a>] {
        &self.profile.tools
    }

    /// Writes the documentation into a folder of its own (DOC-3).
    pub fn write(
        &self,
        root: &Path,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<folder::Report, RenderError> {
        self.try_one()?;
        let render = |index: usize| self.file(index);
        let report = folder::sync(root, &self.files(&render), progress)?;
        self.failed.get().cloned().map_or(Ok(report), |error| Err(error.into()))
    }

    /// What [`Docs::write`] would change, without changing it.
    pub fn check(&self, root: &Path) -> Result<folder::Drift, RenderError> {
        self.try_one()?;
        let render = |index: usize| self.file(index);
        let drift = folder::check(root, &self.files(&render))?;
        self.failed.get().cloned().map_or(Ok(drift), |error| Err(error.into()))
    }

    /// The doc of one tool of the catalog (DOC-3).
    pub fn tool(&self, entry: ProfileTool<'_>) -> Result<String, TemplateError> {
        doc::Doc::of(entry.tool, self.catalog).render(self.templates, &self.catalog.version)
    }

    /// The index, `README.md` (DOC-3).
    pub fn index(&self) -> Result<String, TemplateError> {
        self.index.readme(self.templates, &self.catalog.version)
    }

    /// A broken template is reported before anything is written.
    fn try_one(&self) -> Result<(), TemplateError> {
        self.index()?;
        self.profile.tools.first().map_or(Ok(()), |entry| self.tool(*entry).map(drop))
    }

    fn files<'f>(&self, render: &'f (dyn Fn(usize) -> String + Sync)) -> FileSet<'f> {
        let mut paths = vec!["README.md".to_string(), "registry.json".to_string()];
        paths.extend(self.index.pages().iter().map(|page| page.path.clone()));
        paths.extend(self.profile.tools.iter().map(|entry| format!("{}.md", entry.tool.safe_name)));
        FileSet { paths, render, key: self.key(), prune: self.catalog.complete }
    }

    fn file(&self, file: usize) -> String {
        let pages = self.index.pages();
        let rendered = match file {
            0 => self.index(),
            1 => Ok(registry(self.catalog, &self.profile)),
            n if n < 2 + pages.len() => pages[n - 2].render(self.templates, &self.catalog.version),
            n => self.tool(self.profile.tools[n - 2 - pages.len()]),
        };
        rendered.unwrap_or_else(|error| {
            let text = error.to_string();
            let _ = self.failed.set(error);
            text
        })
    }

    /// A hash of everything that decides the content of the files.
    fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let render = &self.catalog.config.render;
        let limits = format!("{} {}", render.index_tools, render.page_tokens);
        for part in [env!("CARGO_PKG_VERSION"), &self.catalog.version, self.templates.hash(), &limits] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
        for entry in &self.profile.tools {
            hasher.update(entry.tool.safe_name.as_bytes()).update(&[entry.mode as u8, 0]);
        }
        hasher.update(self.profile.name.unwrap_or_default().as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }
}

/// Why documentation could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template is broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The folder cannot be written, or is not ours to write.
    #[error(transparent)]
    Folder(#[from] folder::FolderError),
    /// A file of the workspace cannot be read or written.
    #[error("cannot write {path}: {source}")]
    Workspace {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
}
