//! The frame around every page: title, navigation, breadcrumbs, versions, a notice. And the page without one, on which a
//! person signs in.

use serde::Serialize;
use serde_json::{Value, json};
use tera::Context;

use super::index::{CategoryPages, ROOT};
use super::text::{MAX_NAME, clipped, shown_name};
use super::{CONTENT_SECURITY_POLICY, HTML, Page, Site};
use crate::render::{TemplateError, Templates};

/// Most entries on a level of the navigation; the others are on the page of the parent.
const MAX_ENTRIES: usize = 60;
/// Most tools of the page's own category in the navigation.
const MAX_TOOLS: usize = 40;

/// The person who reads a page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Person<'a> {
    /// The name.
    pub name: &'a str,
    /// The value that shows that the form to sign out comes from a page of this person.
    pub csrf: &'a str,
}

/// Values for the layout.
#[derive(Debug, Serialize)]
pub(super) struct Frame<'a> {
    /// Title of the catalog.
    name: String,
    /// Title of the page, for the browser.
    page_title: String,
    /// One sentence, for search engines.
    about: String,
    /// Relative path from the page to the root of the site: `` or `../`.
    root: String,
    /// The entry of the navigation that is the page.
    at: &'static str,
    crumbs: Vec<Link>,
    nav: Vec<Value>,
    /// Number of categories that the navigation leaves out.
    more: usize,
    has_profiles: bool,
    tools: usize,
    errors: usize,
    warnings: usize,
    registry_version: String,
    product_version: &'static str,
    policy: &'static str,
    notice: Option<String>,
    person: Option<Person<'a>>,
    is_served: bool,
    query: String,
}

/// A link; its target is relative to its page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Link {
    pub(super) text: String,
    pub(super) href: String,
}

/// Position of a page in the navigation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    pub(super) category: Option<usize>,
    pub(super) tool: Option<usize>,
}

impl<'a> Frame<'a> {
    /// The frame of a page at the root of the site.
    pub(super) fn at_root(site: &Site<'a>, at: &'static str, title: &str, about: String) -> Self {
        Self::new(site, at, title, about, "", Position::default())
    }

    /// The frame of a page in a folder.
    pub(super) fn below(
        site: &Site<'a>,
        at: &'static str,
        title: &str,
        about: String,
        position: Position,
    ) -> Self {
        Self::new(site, at, title, about, "../", position)
    }

    /// The frame of a page that can be anywhere.
    pub(super) fn missing(site: &Site<'a>, root: &str) -> Self {
        Self::new(site, "missing", "Not found", String::new(), root, Position::default())
    }

    /// The same frame with a query in the search box.
    pub(super) fn with_query(self, query: &str) -> Self {
        Self { query: query.to_string(), ..self }
    }

    /// The same frame with breadcrumbs, from the root on.
    pub(super) fn with_crumbs(mut self, crumbs: impl IntoIterator<Item = Link>) -> Self {
        self.crumbs.extend(crumbs);
        self
    }

    fn new(
        site: &Site<'a>,
        at: &'static str,
        title: &str,
        about: String,
        root: &str,
        position: Position,
    ) -> Self {
        let name = site_name(site);
        let title = clipped(title, MAX_NAME);
        let nav = Navigation { site, root, position, entries: Vec::new() };
        let (nav, more) = nav.lay_out(at == "home");
        let (errors, warnings) = site.finding_counts();
        Self {
            page_title: if at == "home" { name.clone() } else { format!("{title} · {name}") },
            crumbs: vec![Link { text: name.clone(), href: format!("{root}index.html") }],
            name,
            about: clipped(&about, 300),
            root: root.to_string(),
            at,
            nav,
            more,
            has_profiles: !site.index.profiles.is_empty(),
            tools: site.index.tools.len(),
            errors,
            warnings,
            registry_version: site.catalog.version.clone(),
            product_version: env!("CARGO_PKG_VERSION"),
            policy: CONTENT_SECURITY_POLICY,
            notice: site.notice.map(str::to_string),
            person: site.person,
            is_served: site.is_served,
            query: String::new(),
        }
    }
}

/// Title of the catalog on its pages.
pub(super) fn site_name(site: &Site<'_>) -> String {
    clipped(&site.catalog.title().unwrap_or_else(|| "Tools".into()), MAX_NAME)
}

struct Navigation<'s, 'a> {
    site: &'s Site<'a>,
    root: &'s str,
    position: Position,
    entries: Vec<Value>,
}

impl Navigation<'_, '_> {
    /// Root categories, the ancestors of the page with their children, and the tools beside the page. The page of a
    /// category lists its own content, and the home page all categories, so that nothing is listed twice.
    fn lay_out(mut self, is_home: bool) -> (Vec<Value>, usize) {
        if is_home {
            return (Vec::new(), 0);
        }
        let mut open: Vec<usize> = self
            .position
            .category
            .map(|category| self.site.index.path_from_root(category))
            .unwrap_or_default();
        if self.position.tool.is_none() {
            open.pop();
        }
        let roots = &self.site.index.tree.node(ROOT).children;
        let more = self.level(roots, 0, &open);
        (self.entries, more)
    }

    fn level(&mut self, categories: &[usize], depth: usize, open: &[usize]) -> usize {
        let is_open = |category: &usize| open.get(depth) == Some(category);
        let is_kept = |category: &usize| is_open(category) || self.position.category == Some(*category);
        // Entries on the way to the page are listed even if they stand further down.
        let listed = categories.iter().take(MAX_ENTRIES);
        let further: Vec<usize> =
            categories.iter().skip(MAX_ENTRIES).copied().filter(|category| is_kept(category)).collect();
        for category in listed.chain(&further) {
            self.entry(*category, depth);
            if is_open(category) {
                let children = &self.site.index.tree.node(*category).children;
                self.level(children, depth + 1, open);
            }
        }
        categories.len().saturating_sub(MAX_ENTRIES)
    }

    fn entry(&mut self, category: usize, depth: usize) {
        let pages = &self.site.index.categories[category];
        let is_here = self.position.category == Some(category);
        self.entries.push(json!({
            "text": clipped(&pages.title, MAX_NAME),
            "href": format!("{}{}", self.root, pages.path(0)),
            "count": self.site.index.tree.node(category).descendant_tools.len(),
            "depth": depth.min(6),
            "is_current": is_here && self.position.tool.is_none(),
            "tools": if is_here { self.tools_beside(pages) } else { Vec::new() },
        }));
    }

    /// The tools in the category of a tool's page, if they are few.
    fn tools_beside(&self, pages: &CategoryPages) -> Vec<Value> {
        let Some(current) = self.position.tool.filter(|_| pages.tools().count() <= MAX_TOOLS) else {
            return Vec::new();
        };
        let entry = |shown: usize| {
            let tool = self.site.tool(shown);
            json!({
                "text": shown_name(&tool.name, &tool.safe_name),
                "href": format!("{}tools/{}.html", self.root, tool.safe_name),
                "is_current": shown == current,
            })
        };
        pages.tools().map(entry).collect()
    }
}

/// The page on which a person signs in. It shows nothing of the catalog.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SignInPage<'a> {
    /// The host that the browser has asked.
    pub host: &'a str,
    /// Whether a token can be typed.
    pub takes_token: bool,
    /// The address to return to.
    pub return_to: &'a str,
    /// The value that shows that the form comes from this page.
    pub csrf: &'a str,
    /// The reason why signing in has failed.
    pub problem: Option<&'a str>,
    /// Good news, such as that the person is signed out.
    pub notice: Option<&'a str>,
    /// The person who is signed in.
    pub person: Option<&'a str>,
}

impl SignInPage<'_> {
    /// The page. Its links are from the root of the server on.
    pub fn render(&self, templates: &Templates) -> Result<Page, TemplateError> {
        let mut context = Context::new();
        context.insert("page", self);
        context.insert("policy", CONTENT_SECURITY_POLICY);
        context.insert("product_version", env!("CARGO_PKG_VERSION"));
        let body = templates.render("site/sign_in.html", &context)?;
        Ok(Page { content_type: HTML, body })
    }
}
