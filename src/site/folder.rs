//! The site as a folder of static files, with the docs below `tools/` and the files for programs beside them: the
//! same tree as on a server.

use std::path::Path;

use super::{Address, Site};
use crate::catalog::{ProfileTool, registry};
use crate::render::folder::{self, Files};
use crate::render::{Docs, Llms, RenderError};
use crate::tool::DescriptionMode;

/// The folder of the docs.
const DOCS: &str = "tools/";

/// Pages and docs, ready to be written.
pub struct Folder<'a> {
    site: Site<'a>,
    docs: Docs<'a>,
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
        Ok(self.files(root)?.with(|files| folder::sync(root, files, progress))?)
    }

    /// The changes that [`Folder::write`] would make, without making them.
    pub fn check(&self, root: &Path) -> Result<folder::Drift, RenderError> {
        Ok(self.files(root)?.with(|files| folder::check(root, "", files))?)
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

    /// The files of the docs, then the others.
    fn files(&self, root: &Path) -> Result<Files<'_>, RenderError> {
        self.docs.try_one()?;
        self.site.at(Address::HOME)?;
        let (catalog, profile) = (self.site.catalog, self.docs.profile());
        let mut files = self.docs.files_below(DOCS, root)?;
        let is_whole = !files.key.is_empty();
        for page in self.site.addresses() {
            // Lists would lack tools whose docs stay.
            if is_whole || matches!(page, Address::Tool(_) | Address::Payloads(_) | Address::Asset(_)) {
                files.push(page.path(&self.site), move || Ok(self.site.at(page)?.body));
            }
        }
        if is_whole {
            let llms = move || Llms::lay_out(catalog, profile);
            let doc = |place: usize| {
                let entry = ProfileTool { tool: catalog.tools.get(place)?, mode: DescriptionMode::Full };
                self.docs.tool(entry).ok()
            };
            files.push("registry.json".into(), move || Ok(registry(catalog, profile)));
            files.push("llms.txt".into(), move || Ok(llms().brief(catalog)));
            files.push("llms-full.txt".into(), move || Ok(llms().full(doc)));
            files.key = self.key();
        }
        Ok(files)
    }
}
