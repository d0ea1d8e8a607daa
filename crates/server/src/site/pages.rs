//! The content of each path.

use super::address::{Address, JAVASCRIPT, ROOT, asset_type};
use super::context::{Page, Site};
use super::{categories, findings, payloads, profiles, tool};
use toolcrib_render::TemplateError;

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
}
