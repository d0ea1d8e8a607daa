//! The documentation of a profile: its files, and which of them a run leaves unchanged.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::doc::{Around, Doc, schema_file, schema_path};
use super::error::RenderError;
use super::folder::{self, Files};
use super::index::{CategoryPage, DocIndex};
use super::templates::{TemplateError, Templates};
use toolcrib_catalog::{Catalog, Profile, ProfileTool, Tool, registry};

/// The documentation of a profile, ready to be written.
pub struct Docs<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) profile: Profile<'a>,
    pub(super) templates: &'a Templates,
    around: Around,
    /// The index, laid out at first use: a folder that is up to date does not need it.
    index: OnceLock<DocIndex>,
}

impl<'a> Docs<'a> {
    /// The documentation of a profile.
    pub fn new(catalog: &'a Catalog, profile: Profile<'a>, templates: &'a Templates) -> Self {
        Self { catalog, profile, templates, around: Around::FOLDER, index: OnceLock::new() }
    }

    /// The same for a reader with these things around the pages.
    pub fn around(self, around: Around) -> Self {
        Self { around, ..self }
    }

    fn doc_index(&self) -> &DocIndex {
        self.index.get_or_init(|| DocIndex::lay_out(self.catalog, &self.profile))
    }

    /// The profile that is documented.
    pub fn profile(&self) -> &Profile<'a> {
        &self.profile
    }

    /// The tools that are documented.
    pub fn tools(&self) -> &[ProfileTool<'a>] {
        &self.profile.tools
    }

    /// Writes the documentation into its own folder.
    pub fn write(
        &self,
        root: &Path,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<folder::Written, RenderError> {
        Ok(folder::sync(root, &self.files(root)?, progress)?)
    }

    /// Returns the files of the documentation, for its own folder.
    pub fn files(&self, root: &Path) -> Result<Files<'_>, RenderError> {
        self.try_one()?;
        Ok(self.files_below("", root)?)
    }

    /// Returns the page of one tool of the catalog.
    pub fn tool(&self, entry: ProfileTool<'_>) -> Result<String, TemplateError> {
        Doc::of(entry.tool, self.catalog).render(self.templates, &self.catalog.version, self.around)
    }

    /// The index, `README.md`.
    pub fn index(&self) -> Result<String, TemplateError> {
        self.doc_index().readme(self.templates, &self.catalog.version)
    }

    /// The pages that the index is split into where there are many tools: path, heading, markdown.
    pub fn index_pages(&self) -> impl Iterator<Item = (&str, &str, Result<String, TemplateError>)> {
        let render = |page: &CategoryPage| page.render(self.templates, &self.catalog.version);
        let all = self.doc_index().pages().iter();
        all.map(move |page| (page.path.as_str(), page.heading.as_str(), render(page)))
    }

    /// A broken template is reported before anything is written.
    pub fn try_one(&self) -> Result<(), TemplateError> {
        self.index()?;
        self.profile.tools.first().map_or(Ok(()), |entry| self.tool(*entry).map(drop))
    }

    /// Whether to leave the index (`README.md`, `registry.json` and the category pages) unchanged, because some
    /// source could not be read and the folder has pages of tools that a new index would lack.
    pub(super) fn withholds_index(&self, below: &str, root: &Path) -> Result<bool, folder::FolderError> {
        if self.catalog.complete {
            return Ok(false);
        }
        let here: HashSet<&str> =
            self.profile.tools.iter().map(|entry| entry.tool.names.safe.as_str()).collect();
        let is_lost = |path: &String| {
            let name = path.strip_prefix(below).and_then(|path| path.strip_suffix(".md"));
            let name = name.filter(|name| *name != "README" && !name.contains('/'));
            name.is_some_and(|name| !here.contains(name))
        };
        Ok(folder::owned(root)?.iter().any(is_lost))
    }

    /// Returns the files to write, in `root` or in a folder below it. They have no key if the index is left
    /// unchanged.
    pub fn files_below(&self, below: &str, root: &Path) -> Result<Files<'_>, folder::FolderError> {
        Ok(self.all_files(below, self.withholds_index(below, root)?))
    }

    pub(super) fn all_files(&self, below: &str, withholds_index: bool) -> Files<'_> {
        let mut files = Files::new(self.catalog.complete);
        for &entry in &self.profile.tools {
            files.push(format!("{below}{}.md", entry.tool.names.safe), move || self.tool(entry));
        }
        for (tool, path) in self.schema_files() {
            let schema = move || Ok::<_, TemplateError>(schema_file(tool));
            files.push(format!("{below}{path}"), schema);
        }
        if !withholds_index {
            for page in self.doc_index().pages() {
                let render = || page.render(self.templates, &self.catalog.version);
                files.push(format!("{below}{}", page.path), render);
            }
            files.push(format!("{below}README.md"), || self.index());
            if self.around.registry {
                let registry = || Ok::<_, TemplateError>(registry(self.catalog, &self.profile));
                files.push(format!("{below}registry.json"), registry);
            }
            // Only the whole set has a key: the next run with the same key assumes that every file is up to date.
            files.key = self.key();
        }
        files
    }

    /// The tools with a schema file, since nothing else around their pages has the whole schema, and its path.
    fn schema_files(&self) -> Vec<(&'a Tool, String)> {
        if self.around.registry || self.around.functions {
            return Vec::new();
        }
        let file = |entry: &ProfileTool<'a>| Some((entry.tool, schema_path(entry.tool)?));
        self.profile.tools.par_iter().filter_map(file).collect()
    }

    /// The hash of all inputs of the files.
    pub fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let render = &self.catalog.config.render;
        let require_doc = self.catalog.config.exec.require_doc;
        let limits =
            format!("{} {} {:?} {require_doc:?}", render.index_tools, render.page_tokens, self.around);
        for part in [env!("CARGO_PKG_VERSION"), &self.catalog.version, self.templates.hash(), &limits] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
        for entry in &self.profile.tools {
            hasher.update(entry.tool.names.safe.as_bytes()).update(&[entry.mode as u8, 0]);
        }
        hasher.update(self.profile.name.unwrap_or_default().as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }
}
