//! Web pages for people, from a catalog: the same for a server and for a folder of static files.
//!
//! 1. [`index`] gathers the data that all pages share once per catalog: the tree of categories, paths, the listed
//!    tools.
//! 2. [`address`] is the table of paths: the content of each, and the links between pages.
//! 3. One file per kind of page makes the values of its template: [`home`], [`category`], [`tool`], [`profile`],
//!    [`findings`], [`search`]. [`frame`] makes the frame around each of them. [`sign_in`] has none.
//! 4. [`html`] turns the safe markdown of [`crate::render`] into safe HTML.
//! 5. [`payload`] makes the schemas and payloads of a tool, which a page loads when a reader opens one.
//! 6. [`folder`] writes all of it beside the docs.
//!
//! A page costs as much as its content, and never grows with the catalog: lists are split into pages.

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
mod name;
mod payload;
mod profile;
mod profile_reports;
mod search;
mod search_index;
mod sign_in;
mod tool;
mod tree;

use tera::Context;

use crate::catalog::{Catalog, Resolved, Tool};
use crate::finding::{Finding, Severity};
use crate::render::{TemplateError, Templates};

pub use address::PageKind;
pub use folder::Folder;
pub use frame::Person;
pub use index::SiteIndex;
pub use sign_in::SignInPage;

use address::Address;
use frame::Frame;
use index::ROOT;

/// The content security policy of every page. A server adds `frame-ancestors 'none'`, which a page cannot set itself.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'";

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

    /// The paths of all files, each with its kind; sorted by kind.
    pub fn paths(&self) -> Vec<(String, PageKind)> {
        let addresses = self.addresses().into_iter();
        addresses.map(|address| (address.path(self), address.kind())).collect()
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
            self.index.scope().is_none() || finding.tool.as_deref().is_none_or(is_shown)
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
        search::page(self, query)
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
        let tools: Vec<_> = shown.take(5).map(|tool| category::entry(self, tool, &root)).collect();
        let mut context = Context::new();
        context.insert("tools", &tools);
        self.render("site/missing.html", Frame::missing(self, root), context)
    }

    /// A tool of the site.
    fn tool(&self, shown: usize) -> &'a Tool {
        &self.catalog.tools[self.index.tools()[shown]]
    }

    fn at(&self, address: Address) -> Result<Page, TemplateError> {
        match address {
            Address::Category { category: ROOT, part } => home::page(self, part),
            Address::Category { category, part } => category::page(self, category, part),
            Address::Tool(tool) => tool::page(self, tool),
            Address::Payloads(tool) => {
                let body = payload::file(self, self.tool(tool));
                Ok(Page { content_type: address::media_type(".json"), body })
            }
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
        let mut all = vec![Address::Profiles, Address::Findings, Address::Search, Address::Missing];
        all.push(Address::SearchIndex);
        all.extend((0..self.templates.assets().len()).map(Address::Asset));
        all.extend((0..self.index.profiles().len()).map(Address::Profile));
        for (category, pages) in self.index.categories().iter().enumerate() {
            all.extend((0..pages.parts()).map(|part| Address::Category { category, part }));
        }
        let tools = 0..self.index.tools().len();
        all.extend(tools.clone().map(Address::Tool).chain(tools.map(Address::Payloads)));
        all
    }

    /// Renders a page: its own values within the frame.
    fn render(&self, template: &str, frame: Frame<'_>, mut context: Context) -> Result<Page, TemplateError> {
        context.insert("site", &frame);
        let body = self.templates.render(template, &context)?;
        Ok(Page { content_type: address::media_type(".html"), body })
    }
}
