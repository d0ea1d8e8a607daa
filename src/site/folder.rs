//! The site as a folder of static files, with the docs below `tools/`: the tree that a server has.

use std::path::Path;

use super::Site;
use super::address::{Address, PageKind};
use crate::render::folder::{self, FileSet};
use crate::render::{DocFiles, Docs, RenderError, TemplateError};

/// Where the docs are.
const DOCS: &str = "tools/";

/// Pages and docs, ready to be written.
pub struct Folder<'a> {
    site: Site<'a>,
    docs: Docs<'a>,
}

/// All files of the folder: those of the docs, then the site's.
struct Files<'f, 'a> {
    folder: &'f Folder<'a>,
    docs: DocFiles<'f, 'a>,
    pages: Vec<Address>,
}

impl<'a> Folder<'a> {
    /// The pages of a site, beside these docs.
    pub fn new(site: Site<'a>, docs: Docs<'a>) -> Self {
        Self { site, docs }
    }

    /// Writes all files into a folder of their own, by the rules of [`folder`].
    pub fn write(
        &self,
        root: &Path,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<folder::Report, RenderError> {
        let files = self.files(root)?;
        let render = |index: usize| Ok(files.render(index)?);
        Ok(folder::sync(root, &files.set(&render), progress)?)
    }

    /// What [`Folder::write`] would change, without changing it.
    pub fn check(&self, root: &Path) -> Result<folder::Drift, RenderError> {
        let files = self.files(root)?;
        let render = |index: usize| Ok(files.render(index)?);
        Ok(folder::check(root, &files.set(&render))?)
    }

    /// How many tools there are.
    pub fn tools(&self) -> usize {
        self.docs.tools().len()
    }

    /// About how many files there are.
    pub fn count(&self) -> usize {
        self.tools() + self.site.addresses().len()
    }

    fn files(&self, root: &Path) -> Result<Files<'_, 'a>, RenderError> {
        self.docs.try_one()?;
        self.site.at(Address::Home)?;
        let docs = self.docs.files_below(DOCS, root)?;
        let mut pages = self.site.addresses();
        if docs.withholds_index() {
            // Pages that list tools would lack some whose docs stay.
            pages.retain(|page| matches!(page.kind(), PageKind::Tool | PageKind::Asset));
        }
        Ok(Files { folder: self, docs, pages })
    }
}

impl<'f> Files<'f, '_> {
    fn set<'r>(&self, render: &'r folder::Render<'r>) -> FileSet<'r> {
        let site = &self.folder.site;
        let pages = self.pages.iter().map(|page| page.path(site));
        let paths = self.docs.paths().iter().cloned().chain(pages).collect();
        FileSet { paths, render, key: self.key(), prune: site.catalog.complete }
    }

    fn render(&self, index: usize) -> Result<String, TemplateError> {
        match index.checked_sub(self.docs.paths().len()) {
            None => self.docs.render(index),
            Some(page) => Ok(self.folder.site.at(self.pages[page])?.body),
        }
    }

    /// A hash of everything that decides the content of the files; nothing where that of the docs is not known.
    fn key(&self) -> String {
        let docs = self.docs.key();
        if docs.is_empty() {
            return String::new();
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"site\0").update(docs.as_bytes());
        let findings = serde_json::to_vec(self.folder.site.findings).unwrap_or_default();
        hasher.update(&findings).update(self.folder.site.notice.unwrap_or_default().as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }
}
