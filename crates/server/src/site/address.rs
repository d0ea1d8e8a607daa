//! The addresses of a site, and what is at each.

use toolcrib_catalog::Tool;

pub(super) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// One address of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The home page is the page of the root category.
    Category {
        category: usize,
        part: usize,
    },
    Profiles,
    Profile(usize),
    Tool(usize),
    Payloads(usize),
    Findings,
    Search,
    Missing,
    SearchIndex,
}

/// The category that holds all others; its page is the home page.
pub(super) const ROOT: usize = 0;

/// The home page.
pub(super) const HOME: Address = Address::Category { category: ROOT, part: 0 };

/// The media type of an asset, by its extension.
pub(crate) fn asset_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => JAVASCRIPT,
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

/// The path of the schemas and payloads of a tool.
pub(super) fn payloads_path(tool: &Tool) -> String {
    format!("payloads/{}.json", tool.safe_name)
}
