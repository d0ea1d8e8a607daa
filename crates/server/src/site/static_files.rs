//! The site as a folder of static files, with the docs below `tools/` and the files for programs next to them. A
//! server has the same tree.

use std::path::Path;

use super::address::{Address, HOME};
use super::context::Site;
use toolcrib_catalog::registry;
use toolcrib_render::folder::Files;
use toolcrib_render::{Docs, RenderError, TemplateError, llms_txt};

/// The folder of the docs.
const DOCS: &str = "tools/";

impl Site<'_> {
    /// Returns the files of these docs, then the files of the site, to be written into their own folder.
    pub fn files<'f>(&'f self, docs: &'f Docs<'_>, root: &Path) -> Result<Files<'f>, RenderError> {
        docs.try_one()?;
        self.at(HOME)?;
        let catalog = self.catalog;
        let profile = docs.profile();
        let mut files = docs.files_below(DOCS, root)?;
        let is_whole = !files.key.is_empty();
        for (path, &page) in &self.index.addresses {
            // If the set is not whole, lists would lack tools whose pages stay in the folder.
            if is_whole || matches!(page, Address::Tool(_) | Address::Payloads(_)) {
                files.push(path.clone(), move || Ok::<_, TemplateError>(self.at(page)?.body));
            }
        }
        for (path, asset) in self.templates.assets() {
            files.push(path.clone(), move || Ok::<_, TemplateError>(asset.clone()));
        }
        if is_whole {
            let whole = |text: String| Ok::<_, TemplateError>(text);
            files.push("registry.json".into(), move || whole(registry(catalog, profile)));
            files.push("llms.txt".into(), move || whole(llms_txt(catalog, profile)));
            files.key = self.key(docs);
        }
        Ok(files)
    }

    /// A hash of all inputs of the files.
    fn key(&self, docs: &Docs<'_>) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"site\0").update(docs.key().as_bytes());
        let findings = serde_json::to_vec(self.findings).unwrap_or_default();
        hasher.update(&findings).update(self.notice.unwrap_or_default().as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }
}
