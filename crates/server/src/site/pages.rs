//! The content of each path, and all of it as a folder of static files, with the docs below `tools/` and the files for programs
//! next to them. A server has the same tree.

use std::path::Path;

use super::context::{Page, Site};
use super::index::{Address, HOME, ROOT};
use super::{categories, findings, payloads, profiles, tool};
use toolcrib_catalog::registry;
use toolcrib_render::folder::Files;
use toolcrib_render::{Docs, RenderError, TemplateError, llms_txt};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The folder of the docs.
const DOCS: &str = "tools/";

impl<'a> Site<'a> {
    /// The paths of all files, sorted by kind.
    pub fn paths(&self) -> Vec<String> {
        self.templates.assets().keys().chain(self.index.addresses.keys()).cloned().collect()
    }

    /// The content at a path, such as `tools/get_me.html` or `assets/site.css`; `None` if there is no such page. The
    /// empty path is the home page.
    pub fn page(&self, path: &str) -> Option<Result<Page, TemplateError>> {
        let path = path.trim_start_matches('/');
        if let Some(body) = self.templates.assets().get(path) {
            return Some(Ok(Page { content_type: asset_type(path), body: body.clone() }));
        }
        let path = if path.is_empty() { "index.html" } else { path };
        Some(self.at(*self.index.addresses.get(path)?))
    }

    pub(super) fn at(&self, address: Address) -> Result<Page, TemplateError> {
        match address {
            Address::Category { category: ROOT, part } => categories::home(self, part),
            Address::Category { category, part } => categories::category(self, category, part),
            Address::Tool(tool) => tool::page(self, tool),
            Address::Payloads(tool) => {
                let body = payloads::payloads_file(self, self.tool(tool));
                Ok(Page { content_type: "application/json", body })
            }
            Address::Profiles => profiles::profile_overview(self),
            Address::Profile(profile) => profiles::profile_page(self, profile),
            Address::Findings => findings::findings(self),
            Address::Search => self.search("", None),
            Address::Missing => self.not_found("", "there is no page here", &[]),
            Address::SearchIndex => {
                Ok(Page { content_type: JAVASCRIPT, body: self.index.search_script(self.catalog) })
            }
        }
    }

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
            files.push("llms.txt".into(), move || whole(llms_txt(catalog, profile, "")));
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

/// The media type of an asset, by its extension.
pub(crate) fn asset_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => JAVASCRIPT,
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
