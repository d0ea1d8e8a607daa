//! Web pages for people, from a catalog: the same for a server and for a folder of static files.
//!
//! 1. [`index`] gathers the data that all pages share once per catalog: the tree of categories, paths, the listed
//!    tools.
//! 2. An [`Address`] is the content of a path. [`pages`] and [`tool`] make the values of its template, and
//!    [`frame`] the frame around it; it also turns the safe markdown of [`crate::render`] into safe HTML.
//! 3. A [`Folder`] writes all of it beside the docs.
//!
//! A page costs as much as its content, and never grows with the catalog: lists are split into pages.

mod frame;
mod index;
mod pages;
mod tool;

use std::path::Path;

use tera::Context;

use frame::Frame;
pub use frame::{Person, SignInPage};
use index::ROOT;
pub use index::SiteIndex;

use crate::catalog::{Catalog, ProfileTool, Resolved, Tool, registry};
use crate::finding::{Finding, Severity};
use crate::render::folder::{self, Files};
use crate::render::{Docs, Llms, RenderError, TemplateError, Templates};
use crate::tool::DescriptionMode;

/// The content security policy of every page. A server adds `frame-ancestors 'none'`, which a page cannot set itself.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'";

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The pages of one catalog. Cheap to make, even for each request; slow work is in the [`SiteIndex`].
#[derive(Clone, Copy)]
pub struct Site<'a> {
    index: &'a SiteIndex,
    catalog: &'a Catalog,
    findings: &'a [Finding],
    templates: &'a Templates,
    notice: Option<&'a str>,
    person: Option<Person<'a>>,
    is_served: bool,
}

/// A page, or an asset of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its media type, with the charset.
    pub content_type: &'static str,
    /// The whole content.
    pub body: String,
}

impl<'a> Site<'a> {
    /// The site of a catalog, with its index and its findings.
    pub fn new(
        index: &'a SiteIndex,
        catalog: &'a Catalog,
        findings: &'a [Finding],
        templates: &'a Templates,
    ) -> Self {
        Self { index, catalog, findings, templates, notice: None, person: None, is_served: false }
    }

    /// The same site with a notice at the top of every page, such as that the catalog on disk is broken.
    pub fn with_notice(self, notice: Option<&'a str>) -> Self {
        Self { notice, ..self }
    }

    /// The same site for a person who has signed in.
    pub fn with_person(self, person: Option<Person<'a>>) -> Self {
        Self { person, ..self }
    }

    /// The same site with other findings, such as those of the catalog on disk that is not served.
    pub fn with_findings(self, findings: &'a [Finding]) -> Self {
        Self { findings, ..self }
    }

    /// The same site behind a server, which answers searches itself: [`Site::search`] is for `/search.html?q=`.
    pub fn served(self) -> Self {
        Self { is_served: true, ..self }
    }

    /// The paths of all files, sorted by kind.
    pub fn paths(&self) -> Vec<String> {
        self.addresses().into_iter().map(|address| address.path(self)).collect()
    }

    /// The content at a path, such as `tools/get_me.html` or `assets/site.css`; `None` if there is no such page. The
    /// empty path is the home page.
    pub fn page(&self, path: &str) -> Option<Result<Page, TemplateError>> {
        Some(self.at(Address::parse(path, self)?))
    }

    /// The findings that concern what is shown: of a profile, those of its tools and those of no tool.
    fn relevant_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let is_shown = |name| self.tool_named(name).is_some();
            self.index.scope.is_none() || finding.tool.as_deref().is_none_or(is_shown)
        })
    }

    /// The tool of this name, if it is shown.
    fn tool_named(&self, name: &str) -> Option<usize> {
        self.index.tool_file(self.catalog, &self.catalog.named(name)?.safe_name)
    }

    /// Numbers of errors and warnings.
    fn finding_counts(&self) -> (usize, usize) {
        self.relevant_findings().fold((0, 0), |(errors, warnings), finding| match finding.severity {
            Severity::Error => (errors + 1, warnings),
            Severity::Warning => (errors, warnings + 1),
            Severity::Info => (errors, warnings),
        })
    }

    /// The search page for a query.
    pub fn search(&self, query: &str) -> Result<Page, TemplateError> {
        pages::search(self, query)
    }

    /// The page for a path without content. Its links work from that path.
    pub fn not_found(&self, path: &str) -> Result<Page, TemplateError> {
        let depth = path.trim_start_matches('/').matches('/').count().min(16);
        let named = path.rsplit('/').next().unwrap_or_default();
        let named = [".html", ".md", ".json"].iter().find_map(|end| named.strip_suffix(end)).unwrap_or(named);
        let nearest = match self.catalog.resolve(named) {
            Resolved::Unknown(names) => names.iter().filter_map(|name| self.catalog.named(name)).collect(),
            Resolved::Tool(tool) => vec![tool],
            Resolved::Ambiguous(tools) => tools,
        };
        let root = "../".repeat(depth);
        let shown =
            nearest.into_iter().filter_map(|tool| self.index.tool_file(self.catalog, &tool.safe_name));
        let tools: Vec<_> = shown.take(5).map(|tool| pages::entry(self, tool, &root)).collect();
        let mut context = Context::new();
        context.insert("tools", &tools);
        self.render("site/missing.html", Frame::missing(self, &root), context)
    }

    /// A tool of the site.
    fn tool(&self, shown: usize) -> &'a Tool {
        &self.catalog.tools[self.index.tools[shown]]
    }

    fn at(&self, address: Address) -> Result<Page, TemplateError> {
        match address {
            Address::Category { category: ROOT, part } => pages::home(self, part),
            Address::Category { category, part } => pages::category(self, category, part),
            Address::Tool(tool) => tool::page(self, tool),
            Address::Payloads(tool) => {
                let body = tool::payloads_file(self, self.tool(tool));
                Ok(Page { content_type: "application/json", body })
            }
            Address::Profiles => pages::profile_overview(self),
            Address::Profile(profile) => pages::profile_page(self, profile),
            Address::Findings => pages::findings(self),
            Address::Search => pages::search(self, ""),
            Address::Missing => self.not_found(""),
            Address::SearchIndex => {
                let body = self.index.search(self.catalog).script(&self.catalog.version);
                Ok(Page { content_type: JAVASCRIPT, body })
            }
            Address::Asset(asset) => {
                let found = self.templates.assets().iter().nth(asset);
                let (name, body) = found.map_or(("", ""), |(name, body)| (name, body));
                let content_type = match name.rsplit('.').next() {
                    Some("css") => "text/css; charset=utf-8",
                    Some("js") => JAVASCRIPT,
                    Some("svg") => "image/svg+xml",
                    _ => "text/plain; charset=utf-8",
                };
                Ok(Page { content_type, body: body.into() })
            }
        }
    }

    fn addresses(&self) -> Vec<Address> {
        let mut all = vec![Address::Profiles, Address::Findings, Address::Search, Address::Missing];
        all.push(Address::SearchIndex);
        all.extend((0..self.templates.assets().len()).map(Address::Asset));
        all.extend((0..self.index.profiles.len()).map(Address::Profile));
        for (category, pages) in self.index.categories.iter().enumerate() {
            all.extend((0..pages.parts()).map(|part| Address::Category { category, part }));
        }
        let tools = 0..self.index.tools.len();
        all.extend(tools.clone().map(Address::Tool).chain(tools.map(Address::Payloads)));
        all
    }

    /// Renders a page: its own values within the frame.
    fn render(&self, template: &str, frame: Frame<'_>, mut context: Context) -> Result<Page, TemplateError> {
        context.insert("site", &frame);
        let body = self.templates.render(template, &context)?;
        Ok(Page { content_type: HTML, body })
    }
}

/// One address of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
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
    const HOME: Address = Address::Category { category: ROOT, part: 0 };

    /// The path, from the root of the site.
    fn path(self, site: &Site<'_>) -> String {
        match self {
            Address::Profile(profile) => format!("profiles/{}.html", site.index.profiles[profile].file),
            Address::Category { category, part } => site.index.categories[category].path(part),
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
    fn parse(path: &str, site: &Site<'_>) -> Option<Address> {
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
                site.index.profiles.iter().position(|profile| profile.file == stem).map(Address::Profile)
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
        let exists = part < site.index.categories[category].parts();
        (exists && address.path(site) == path).then_some(address)
    }
}

/// The path of the schemas and payloads of a tool.
fn payloads_path(tool: &Tool) -> String {
    format!("payloads/{}.json", tool.safe_name)
}

// The site as a folder of static files, with the docs below `tools/` and the files for programs beside them: the
// same tree as on a server.

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
