//! Web pages for people, from a catalog: the same for a server and for a folder of static files.
//!
//! 1. [`index`] gathers the data that all pages share once per catalog: the tree of categories, paths, the listed
//!    tools.
//! 2. An [`Address`] is the content of a path. [`pages`] and [`tool`] make the values of its template, and
//!    [`frame`] the frame around it; it also turns the safe markdown of [`toolcrib_docs`] into safe HTML.
//! 3. [`Site::files`] returns the whole site as a folder of files, with the docs.
//!
//! The size of a page depends on its own content, never on the size of the catalog, since lists are split into pages.

mod form;
mod frame;
mod index;
mod operate;
mod pages;
mod tool;

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use tera::Context;

use frame::{AT_ROOT, Frame, Position, inline_html};
pub use frame::{Person, SignInPage};
pub(crate) use index::MAX_QUERY;
use index::ROOT;
pub use index::SiteIndex;
pub use operate::{ApprovalView, Filter, MAX_SKIPPED, ServerView};
pub use tool::Attempt;

use toolcrib_catalog::{Catalog, Resolved, Tool, registry};
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_docs::folder::Files;
use toolcrib_docs::{Docs, RenderError, TemplateError, Templates, llms_txt};

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
    connect: Option<&'a Connect>,
    /// The value in the form of a tool, and the call that fills it.
    attempt: Option<(&'a str, &'a Attempt)>,
    is_operator: bool,
    is_served: bool,
}

/// The addresses by which clients connect to the server of a site.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Connect {
    /// The address of MCP.
    pub mcp: String,
    /// The address before `/v1`.
    pub http: String,
    /// Whether a client sends a token.
    pub needs_token: bool,
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
        Self {
            index,
            catalog,
            findings,
            templates,
            notice: None,
            person: None,
            connect: None,
            attempt: None,
            is_operator: false,
            is_served: false,
        }
    }

    /// The same site with a notice at the top of every page, such as that the catalog on disk is broken.
    pub fn with_notice(self, notice: Option<&'a str>) -> Self {
        Self { notice, ..self }
    }

    /// The same site for a person who has signed in, and for an operator, who may see more pages, or for somebody else.
    pub fn with_reader(self, person: Option<Person<'a>>, is_operator: bool) -> Self {
        Self { person, is_operator, ..self }
    }

    /// The same site with other findings, such as those of the catalog on disk that is not served.
    pub fn with_findings(self, findings: &'a [Finding]) -> Self {
        Self { findings, ..self }
    }

    /// The same site behind a server, which answers searches itself: `/search.html?q=` with [`Site::search`], and
    /// `/search.json?q=` with [`Site::results`].
    pub fn served(self) -> Self {
        Self { is_served: true, ..self }
    }

    /// The same site with the addresses by which clients connect.
    pub fn with_connect(self, connect: &'a Connect) -> Self {
        Self { connect: Some(connect), ..self }
    }

    /// The same site with a form on the page of a tool, which sends this value back.
    pub fn with_attempt(self, csrf: &'a str, attempt: &'a Attempt) -> Self {
        Self { attempt: Some((csrf, attempt)), ..self }
    }

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

    /// Returns the findings for the shown tools. For a profile, these are the findings of its tools, and the findings
    /// that belong to no tool.
    fn relevant_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let is_shown = |name| self.tool_named(name).is_some();
            self.index.scope.is_none() || finding.tool.as_deref().is_none_or(is_shown)
        })
    }

    /// The tool of this name, if it is shown.
    fn tool_named(&self, name: &str) -> Option<usize> {
        self.index.tool_file(&self.catalog.named(name)?.safe_name)
    }

    /// Numbers of errors and warnings.
    fn finding_counts(&self) -> (usize, usize) {
        self.relevant_findings().fold((0, 0), |(errors, warnings), finding| match finding.severity {
            Severity::Error => (errors + 1, warnings),
            Severity::Warning => (errors, warnings + 1),
            Severity::Info => (errors, warnings),
        })
    }

    /// The search page for a query with the answer of `tool_search` as JSON.
    pub fn search(&self, query: &str, answer: &Map<String, Value>) -> Result<Page, TemplateError> {
        pages::search(self, query, Some(answer))
    }

    /// The values of the search page, for its script.
    pub fn results(&self, answer: &Map<String, Value>) -> Value {
        pages::results(self, answer)
    }

    /// The page for a path without content, or with the name of several tools: why, and the tools that may be meant; else
    /// those with a name like the path's. The links on the page are relative to that path.
    pub fn not_found(&self, path: &str, message: &str, nearest: &[String]) -> Result<Page, TemplateError> {
        let named = path.rsplit('/').next().unwrap_or_default();
        let named = [".html", ".md", ".json"].iter().find_map(|end| named.strip_suffix(end)).unwrap_or(named);
        let resolved = self.catalog.resolve(named);
        let is_ambiguous = matches!(resolved, Resolved::Ambiguous(_));
        let meant: Vec<&Tool> = match resolved {
            Resolved::Unknown(names) => names.iter().filter_map(|name| self.catalog.named(name)).collect(),
            Resolved::Tool(tool) => vec![tool],
            Resolved::Ambiguous(tools) => tools,
        };
        let meant = meant.iter().map(|tool| &tool.safe_name).filter(|_| nearest.is_empty());
        let root = root_of(path);
        let shown = nearest.iter().chain(meant).filter_map(|name| self.index.tool_file(name));
        let tools: Vec<_> = shown.take(5).map(|tool| pages::entry(self, tool, &root)).collect();
        let title = if is_ambiguous { "Which one?" } else { "Not found" };
        self.without_content(title, &root, message, "", &tools)
    }

    /// The page for a request that is refused.
    pub fn refused(&self, path: &str, message: &str, next: &str) -> Result<Page, TemplateError> {
        self.without_content("No answer", &root_of(path), message, next, &[])
    }

    fn without_content(
        &self,
        title: &str,
        root: &str,
        message: &str,
        next: &str,
        tools: &[Value],
    ) -> Result<Page, TemplateError> {
        let mut context = Context::new();
        context.insert("title", title);
        context.insert("sentences", &[message, next].map(as_sentence));
        context.insert("tools", tools);
        let position = Position { root, ..AT_ROOT };
        self.render("site/missing.html", Frame::new(self, "missing", title, String::new(), position), context)
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
            Address::Search => pages::search(self, "", None),
            Address::Missing => self.not_found("", "there is no page here", &[]),
            Address::SearchIndex => {
                Ok(Page { content_type: JAVASCRIPT, body: self.index.search_script(self.catalog) })
            }
        }
    }

    /// Renders a page: its own values within the frame.
    fn render(&self, template: &str, frame: Frame, mut context: Context) -> Result<Page, TemplateError> {
        context.insert("site", &frame.0);
        let body = self.templates.render(template, &context)?;
        Ok(Page { content_type: HTML, body })
    }
}

/// One address of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
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

/// The home page.
const HOME: Address = Address::Category { category: ROOT, part: 0 };

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
fn payloads_path(tool: &Tool) -> String {
    format!("payloads/{}.json", tool.safe_name)
}

// The site as a folder of static files, with the docs below `tools/` and the files for programs next to them. A
// server has the same tree.

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

/// The way from a path to the root.
fn root_of(path: &str) -> String {
    "../".repeat(path.trim_start_matches('/').matches('/').count().min(16))
}

/// A message of an error as a sentence of a page.
fn as_sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    inline_html(&first.chain(rest).chain((!message.is_empty()).then_some('.')).collect::<String>())
}
