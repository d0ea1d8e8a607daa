//! The paths of pages.

use super::Site;
use super::index::ROOT;
use crate::catalog::Tool;

/// Kind of the content at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The first page, or a part of it.
    Home,
    /// The list of profiles.
    Profiles,
    /// One profile: its tools, and their cost.
    Profile,
    /// A category, or a part of a long one.
    Category,
    /// A tool.
    Tool,
    /// The schemas and payloads of a tool, as JSON.
    Payloads,
    /// Findings of the input.
    Findings,
    /// The search page, without a query.
    Search,
    /// The page for paths without content.
    Missing,
    /// The names that the script searches in.
    SearchIndex,
    /// A style sheet, a script or an image.
    Asset,
}

/// One address of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The home page is that of the root.
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
    Asset(usize),
}

const SINGLE: [(Address, &str); 5] = [
    (Address::Profiles, "profiles.html"),
    (Address::Findings, "findings.html"),
    (Address::Search, "search.html"),
    (Address::Missing, "404.html"),
    (Address::SearchIndex, "search-index.js"),
];

impl Address {
    pub(super) const HOME: Address = Address::Category { category: ROOT, part: 0 };

    /// The path, from the root of the site.
    pub(super) fn path(self, site: &Site<'_>) -> String {
        match self {
            Address::Profile(profile) => format!("profiles/{}.html", site.index.profiles()[profile].file),
            Address::Category { category, part } => site.index.categories()[category].path(part),
            Address::Tool(tool) => format!("tools/{}.html", site.tool(tool).safe_name),
            Address::Payloads(tool) => payloads_path(site.tool(tool)),
            Address::Asset(asset) => site.templates.assets().keys().nth(asset).cloned().unwrap_or_default(),
            single => {
                let found = SINGLE.iter().find(|(address, _)| *address == single);
                found.map_or("", |(_, path)| path).to_string()
            }
        }
    }

    /// The address of a path.
    pub(super) fn parse(path: &str, site: &Site<'_>) -> Option<Address> {
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "index.html" } else { path };
        if let Some((address, _)) = SINGLE.iter().find(|(_, known)| *known == path) {
            return Some(*address);
        }
        if let Some(asset) = site.templates.assets().keys().position(|known| known == path) {
            return Some(Address::Asset(asset));
        }
        if let Some(stem) = path.strip_prefix("payloads/").and_then(|file| file.strip_suffix(".json")) {
            return site.index.tool_file(site.catalog, stem).map(Address::Payloads);
        }
        let stem = path.strip_suffix(".html")?;
        match stem.split_once('/') {
            Some(("tools", stem)) => site.index.tool_file(site.catalog, stem).map(Address::Tool),
            Some(("profiles", stem)) => {
                site.index.profiles().iter().position(|profile| profile.file == stem).map(Address::Profile)
            }
            _ => Self::of_category(stem, path, site),
        }
    }

    /// A page of a category. A slug has no dot, so that a part's number is never mistaken for one.
    fn of_category(stem: &str, path: &str, site: &Site<'_>) -> Option<Address> {
        let (stem, part) = match stem.split_once('.') {
            Some((stem, number)) => (stem, number.parse::<usize>().ok()?.checked_sub(1)?),
            None => (stem, 0),
        };
        let category = site.index.category_file(stem)?;
        let address = Address::Category { category, part };
        let exists = part < site.index.categories()[category].parts();
        (exists && address.path(site) == path).then_some(address)
    }

    pub(super) fn kind(self) -> PageKind {
        match self {
            Address::Category { category: ROOT, .. } => PageKind::Home,
            Address::Profiles => PageKind::Profiles,
            Address::Profile(_) => PageKind::Profile,
            Address::Category { .. } => PageKind::Category,
            Address::Tool(_) => PageKind::Tool,
            Address::Payloads(_) => PageKind::Payloads,
            Address::Findings => PageKind::Findings,
            Address::Search => PageKind::Search,
            Address::Missing => PageKind::Missing,
            Address::SearchIndex => PageKind::SearchIndex,
            Address::Asset(_) => PageKind::Asset,
        }
    }
}

/// The path of the schemas and payloads of a tool.
pub(super) fn payloads_path(tool: &Tool) -> String {
    format!("payloads/{}.json", tool.safe_name)
}

/// The media type of a file of the site, by the end of its name.
pub(super) fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
