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
mod llms;
mod markdown;
mod prompt;
mod section;
mod seed;
mod templates;

use std::collections::HashSet;
use std::path::Path;

use crate::catalog::{Catalog, Profile, ProfileTool, registry};
use folder::FileSet;
use index::Index;

pub use doc::Doc;
pub use llms::Llms;
pub use prompt::{PromptSection, files_section};
pub use section::Section;
pub use seed::{Seeded, seed};
pub use templates::{TemplateError, Templates};

/// The documentation of a profile, ready to be written.
pub struct Docs<'a> {
    catalog: &'a Catalog,
    profile: Profile<'a>,
    templates: &'a Templates,
    index: Index,
}

impl<'a> Docs<'a> {
    /// Lays out the documentation of a profile.
    pub fn new(catalog: &'a Catalog, profile: Profile<'a>, templates: &'a Templates) -> Self {
        let index = Index::lay_out(catalog, &profile);
        Self { catalog, profile, templates, index }
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
        let set = self.files(self.withholds_index(root)?);
        let render = |index: usize| Ok(self.file(&set.files[index])?);
        Ok(folder::sync(root, &set.with(&render), progress)?)
    }

    /// What [`Docs::write`] would change, without changing it.
    pub fn check(&self, root: &Path) -> Result<folder::Drift, RenderError> {
        self.try_one()?;
        let set = self.files(self.withholds_index(root)?);
        let render = |index: usize| Ok(self.file(&set.files[index])?);
        Ok(folder::check(root, &set.with(&render))?)
    }

    /// The doc of one tool of the catalog (DOC-3).
    pub fn tool(&self, entry: ProfileTool<'_>) -> Result<String, TemplateError> {
        doc::Doc::of(entry.tool, self.catalog).render(self.templates, &self.catalog.version)
    }

    /// The index, `README.md` (DOC-3).
    pub fn index(&self) -> Result<String, TemplateError> {
        self.index.readme(self.templates, &self.catalog.version)
    }

    /// The files of the index, by their paths: `README.md`, and the category pages.
    pub fn index_files(&self) -> Result<Vec<(String, String)>, TemplateError> {
        let version = &self.catalog.version;
        let pages = self.index.pages().iter();
        let pages = pages.map(|page| Ok((page.path.clone(), page.render(self.templates, version)?)));
        std::iter::once(self.index().map(|text| ("README.md".to_string(), text))).chain(pages).collect()
    }

    /// A broken template is reported before anything is written.
    fn try_one(&self) -> Result<(), TemplateError> {
        self.index()?;
        self.profile.tools.first().map_or(Ok(()), |entry| self.tool(*entry).map(drop))
    }

    /// Whether the index, which is `README.md`, `registry.json` and the category pages, is to stay as it is: not all
    /// sources could be read, and there are docs of tools that a new index would lack.
    fn withholds_index(&self, root: &Path) -> Result<bool, folder::FolderError> {
        if self.catalog.complete {
            return Ok(false);
        }
        let here: HashSet<&str> =
            self.profile.tools.iter().map(|entry| entry.tool.safe_name.as_str()).collect();
        let is_lost = |path: &String| {
            let name = path.strip_suffix(".md").filter(|name| *name != "README" && !name.contains('/'));
            name.is_some_and(|name| !here.contains(name))
        };
        Ok(folder::owned(root)?.iter().any(is_lost))
    }

    fn files(&self, withhold_index: bool) -> Set<'_, 'a> {
        let mut set =
            Set { paths: Vec::new(), files: Vec::new(), key: String::new(), prune: self.catalog.complete };
        if !withhold_index {
            set.push("README.md".to_string(), File::Index);
            set.push("registry.json".to_string(), File::Registry);
            self.index.pages().iter().for_each(|page| set.push(page.path.clone(), File::Page(page)));
            // Only the whole set has a key: under it, each file is taken to be what this run would write.
            set.key = self.key();
        }
        for entry in &self.profile.tools {
            set.push(format!("{}.md", entry.tool.safe_name), File::Tool(*entry));
        }
        set
    }

    fn file(&self, file: &File<'_, 'a>) -> Result<String, TemplateError> {
        match file {
            File::Index => self.index(),
            File::Registry => Ok(registry(self.catalog, &self.profile)),
            File::Page(page) => page.render(self.templates, &self.catalog.version),
            File::Tool(entry) => self.tool(*entry),
        }
    }

    /// A hash of everything that decides the content of the files.
    pub fn key(&self) -> String {
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

/// The files of a documentation, and what each of them is.
struct Set<'f, 'a> {
    paths: Vec<String>,
    files: Vec<File<'f, 'a>>,
    key: String,
    prune: bool,
}

enum File<'f, 'a> {
    Index,
    Registry,
    Page(&'f index::Page),
    Tool(ProfileTool<'a>),
}

impl<'f, 'a> Set<'f, 'a> {
    fn push(&mut self, path: String, file: File<'f, 'a>) {
        self.paths.push(path);
        self.files.push(file);
    }

    fn with<'r>(&self, render: &'r Render<'r>) -> FileSet<'r> {
        FileSet { paths: self.paths.clone(), render, key: self.key.clone(), prune: self.prune }
    }
}

type Render<'r> = dyn Fn(usize) -> Result<String, folder::Problem> + Sync + 'r;

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
