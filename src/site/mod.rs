//! Web pages for people, from a catalog: the same for a server and for a folder of static files.
//!
//! 1. [`index`] gathers once per catalog what pages share: the tree of categories, slugs, which tools are shown.
//! 2. [`address`] is the table of paths: what lies where, and how pages link to each other.
//! 3. One file a kind of page makes what its template is given: [`home`], [`category`], [`tool`], [`profile`],
//!    [`findings`], [`search`]. [`frame`] is what stands around each of them.
//! 4. [`html`] turns the safe markdown of [`crate::render`] into safe HTML.
//! 5. [`folder`] writes all of it beside the docs.
//!
//! A page costs what is on it, and never grows with the catalog: lists are split into pages.

mod address;
mod arguments;
mod category;
mod findings;
mod folder;
mod frame;
mod home;
mod html;
mod index;
mod json;
mod payload;
mod profile;
mod search;
mod tool;

use tera::Context;

use crate::catalog::{Catalog, Resolved, Tool};
use crate::finding::{Finding, Severity};
use crate::render::{TemplateError, Templates};

pub use address::PageKind;
pub use folder::Folder;
pub use index::SiteIndex;

use address::Address;
use frame::Frame;

/// The content security policy of every page. A server adds `frame-ancestors 'none'`, which a page cannot say of itself.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'";

/// The pages of one catalog. Made for free, for each request if need be; what takes time is in the [`SiteIndex`].
#[derive(Clone, Copy)]
pub struct Site<'a> {
    index: &'a SiteIndex,
    catalog: &'a Catalog,
    findings: &'a [Finding],
    templates: &'a Templates,
    notice: Option<&'a str>,
    is_served: bool,
}

/// A page, or what a page needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its media type, with the charset.
    pub content_type: &'static str,
    /// The whole of it.
    pub body: String,
}

impl<'a> Site<'a> {
    /// The site of a catalog, whose index this is, with what was found on the way.
    pub fn new(
        index: &'a SiteIndex,
        catalog: &'a Catalog,
        findings: &'a [Finding],
        templates: &'a Templates,
    ) -> Self {
        Self { index, catalog, findings, templates, notice: None, is_served: false }
    }

    /// The same with a notice at the top of every page, such as that the catalog on disk is broken.
    pub fn with_notice(self, notice: Option<&'a str>) -> Self {
        Self { notice, ..self }
    }

    /// The same with other findings, such as those of the catalog on disk that is not shown.
    pub fn with_findings(self, findings: &'a [Finding]) -> Self {
        Self { findings, ..self }
    }

    /// The same behind a server, which answers searches itself: [`Site::search`] is for `/search.html?q=`.
    pub fn served(self) -> Self {
        Self { is_served: true, ..self }
    }

    /// The paths of all pages and of what they need, each with what it is; sorted by kind.
    pub fn paths(&self) -> Vec<(String, PageKind)> {
        let addresses = self.addresses().into_iter();
        addresses.map(|address| (address.path(self), address.kind())).collect()
    }

    /// What lies at a path, such as `tools/get_me.html` or `assets/site.css`; nothing if there is no such page. The
    /// empty path is the home page.
    pub fn page(&self, path: &str) -> Option<Result<Page, TemplateError>> {
        Some(self.at(Address::parse(path, self)?))
    }

    /// The findings that concern what is shown: of a profile, those of its tools and those of no tool.
    fn relevant_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let is_shown = |name| self.tool_named(name).is_some();
            self.index.scope().is_none() || finding.tool.as_deref().is_none_or(is_shown)
        })
    }

    /// The tool of this name, if it is shown.
    fn tool_named(&self, name: &str) -> Option<usize> {
        self.index.tool_file(self.catalog, &self.catalog.named(name)?.safe_name)
    }

    /// How many errors and warnings there are.
    fn finding_counts(&self) -> (usize, usize) {
        self.relevant_findings().fold((0, 0), |(errors, warnings), finding| match finding.severity {
            Severity::Error => (errors + 1, warnings),
            Severity::Warning => (errors, warnings + 1),
            Severity::Info => (errors, warnings),
        })
    }

    /// The search page for a query.
    pub fn search(&self, query: &str) -> Result<Page, TemplateError> {
        search::page(self, query)
    }

    /// The page for a path at which there is nothing. Its links work from there.
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
        let tools: Vec<_> = shown.take(5).map(|tool| category::entry(self, tool, &root)).collect();
        let mut context = Context::new();
        context.insert("tools", &tools);
        self.render("site/missing.html", Frame::missing(self, root), context)
    }

    /// A tool that is shown.
    fn tool(&self, shown: usize) -> &'a Tool {
        &self.catalog.tools[self.index.tools()[shown]]
    }

    fn at(&self, address: Address) -> Result<Page, TemplateError> {
        match address {
            Address::Home => home::page(self),
            Address::Category { category, part } => category::page(self, category, part),
            Address::Tool(tool) => tool::page(self, tool),
            Address::Profiles => profile::overview(self),
            Address::Profile(profile) => profile::page(self, profile),
            Address::Findings => findings::page(self),
            Address::Search => search::page(self, ""),
            Address::Missing => self.not_found(""),
            Address::SearchIndex => {
                let body = self.index.search(self.catalog).script(&self.catalog.version);
                Ok(Page { content_type: address::media_type(".js"), body })
            }
            Address::Asset(asset) => {
                let found = self.templates.assets().iter().nth(asset);
                let (name, body) = found.map_or(("", ""), |(name, body)| (name, body));
                Ok(Page { content_type: address::media_type(name), body: body.into() })
            }
        }
    }

    fn addresses(&self) -> Vec<Address> {
        let mut all =
            vec![Address::Home, Address::Profiles, Address::Findings, Address::Search, Address::Missing];
        all.push(Address::SearchIndex);
        all.extend((0..self.templates.assets().len()).map(Address::Asset));
        all.extend((0..self.index.profiles().len()).map(Address::Profile));
        for (category, node) in self.index.categories().iter().enumerate() {
            all.extend((0..node.parts()).map(|part| Address::Category { category, part }));
        }
        all.extend((0..self.index.tools().len()).map(Address::Tool));
        all
    }

    /// Renders a page: its own values in the frame that is around each.
    fn render(&self, template: &str, frame: Frame, mut context: Context) -> Result<Page, TemplateError> {
        context.insert("site", &frame);
        let body = self.templates.render(template, &context)?;
        Ok(Page { content_type: address::media_type(".html"), body })
    }
}
