//! The site as a folder of static files, with the docs below `tools/` and the files for programs beside them: the
//! same tree as on a server.

use std::path::Path;

use super::{Address, Site};
use crate::catalog::{ProfileTool, registry};
use crate::render::folder::{self, FileSet};
use crate::render::{DocFiles, Docs, Llms, RenderError, TemplateError};
use crate::tool::DescriptionMode;

/// The folder of the docs.
const DOCS: &str = "tools/";

/// Pages and docs, ready to be written.
pub struct Folder<'a> {
    site: Site<'a>,
    docs: Docs<'a>,
}

/// All files of the folder: those of the docs, then the others.
struct Files<'f, 'a> {
    folder: &'f Folder<'a>,
    docs: DocFiles<'f, 'a>,
    others: Vec<Other>,
}

/// A file beside the docs.
#[derive(Clone, Copy)]
enum Other {
    Page(Address),
    Registry,
    Llms,
    LlmsFull,
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

    /// The changes that [`Folder::write`] would make, without making them.
    pub fn check(&self, root: &Path) -> Result<folder::Drift, RenderError> {
        let files = self.files(root)?;
        let render = |index: usize| Ok(files.render(index)?);
        Ok(folder::check(root, "", &files.set(&render))?)
    }

    /// Number of tools.
    pub fn tools(&self) -> usize {
        self.docs.tools().len()
    }

    /// Approximate number of files.
    pub fn count(&self) -> usize {
        self.tools() + self.site.addresses().len()
    }

    /// A hash of all inputs of the files.
    fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"site\0").update(self.docs.key().as_bytes());
        let findings = serde_json::to_vec(self.site.findings).unwrap_or_default();
        hasher.update(&findings).update(self.site.notice.unwrap_or_default().as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }

    fn files(&self, root: &Path) -> Result<Files<'_, 'a>, RenderError> {
        self.docs.try_one()?;
        self.site.at(Address::HOME)?;
        let docs = self.docs.files_below(DOCS, root)?;
        let mut pages = self.site.addresses();
        let mut others = vec![Other::Registry, Other::Llms, Other::LlmsFull];
        if docs.withholds_index() {
            // Lists would lack tools whose docs stay.
            pages.retain(|page| matches!(page, Address::Tool(_) | Address::Payloads(_) | Address::Asset(_)));
            others.clear();
        }
        others.extend(pages.into_iter().map(Other::Page));
        Ok(Files { folder: self, docs, others })
    }
}

impl Folder<'_> {
    fn other(&self, other: Other) -> Result<String, TemplateError> {
        let (catalog, profile) = (self.site.catalog, self.docs.profile());
        let llms = || Llms::lay_out(catalog, profile);
        match other {
            Other::Page(page) => Ok(self.site.at(page)?.body),
            Other::Registry => Ok(registry(catalog, profile)),
            Other::Llms => Ok(llms().brief(catalog)),
            Other::LlmsFull => {
                let doc = |place: usize| {
                    let entry = ProfileTool { tool: catalog.tools.get(place)?, mode: DescriptionMode::Full };
                    self.docs.tool(entry).ok()
                };
                Ok(llms().full(doc))
            }
        }
    }
}

impl<'f> Files<'f, '_> {
    fn set<'r>(&self, render: &'r folder::Render<'r>) -> FileSet<'r> {
        let site = &self.folder.site;
        let others = self.others.iter().map(|other| match other {
            Other::Page(page) => page.path(site),
            Other::Registry => "registry.json".into(),
            Other::Llms => "llms.txt".into(),
            Other::LlmsFull => "llms-full.txt".into(),
        });
        let paths = self.docs.paths().iter().cloned().chain(others).collect();
        let key = if self.docs.withholds_index() { String::new() } else { self.folder.key() };
        FileSet { paths, render, key, prune: site.catalog.complete }
    }

    fn render(&self, index: usize) -> Result<String, TemplateError> {
        match index.checked_sub(self.docs.paths().len()) {
            None => self.docs.render(index),
            Some(other) => self.folder.other(self.others[other]),
        }
    }
}
