//! The frame around every page: title, navigation, breadcrumbs, versions, a notice.

use serde::Serialize;
use serde_json::{Value, json};

use super::context::{CONTENT_SECURITY_POLICY, HTML, Page, Site};
use super::index::{CategoryPages, ROOT};
use super::text::{MAX_NAME, clipped, inline_html, short_line, shown_name};
use toolcrib_render::TemplateError;

impl Site<'_> {
    /// Renders a page: its own values within the frame.
    pub(super) fn render(&self, name: &str, frame: Frame, mut values: Value) -> Result<Page, TemplateError> {
        values["site"] = frame.0;
        let body = self.templates.render(name, &values)?;
        Ok(Page { content_type: HTML, body })
    }

    /// A page about the running server, by its template. A page in a folder links to the list `above` it, by its title and address.
    pub(crate) fn operate(
        &self,
        template: &str,
        (at, title): (&'static str, &str),
        above: Option<(&str, &str)>,
        values: Value,
    ) -> Result<Page, TemplateError> {
        let position = if above.is_some() { IN_FOLDER } else { AT_ROOT };
        let crumb = above.map(|(text, href)| Link { text: text.into(), href: href.into() });
        let frame = Frame::new(self, at, title, String::new(), position).with_crumbs(crumb);
        self.render(&format!("site/{template}.html"), frame, json!({ "page": values }))
    }

    /// The link to a tool, by any of its names, if its page is there.
    pub(crate) fn tool_link(&self, name: &str, root: &str) -> Option<Link> {
        let tool = self.catalog.find(name)?;
        self.index.tool_file(&tool.names.safe)?;
        Some(Link { text: short_line(name), href: format!("{root}tools/{}.html", tool.names.safe) })
    }
}

/// Most entries on a level of the navigation; the others are on the page of the parent.
const MAX_ENTRIES: usize = 60;
/// Most tools of the page's own category in the navigation.
const MAX_TOOLS: usize = 40;

/// Values for the layout.
#[derive(Debug)]
pub(super) struct Frame(pub(super) Value);

/// A link; its target is relative to its page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    pub(super) text: String,
    pub(super) href: String,
}

/// Position of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position<'p> {
    /// Relative path from the page to the root of the site.
    pub(super) root: &'p str,
    /// The category and the tool of the page in the navigation.
    pub(super) category: Option<usize>,
    pub(super) tool: Option<usize>,
}

/// A page at the root of the site.
pub(super) const AT_ROOT: Position<'static> = Position { root: "", category: None, tool: None };
/// A page in a folder.
pub(super) const IN_FOLDER: Position<'static> = Position { root: "../", ..AT_ROOT };

impl Frame {
    /// The frame of a page: its title, and one sentence about it for search engines. `at` is its entry of the navigation.
    pub(super) fn new(
        site: &Site<'_>,
        at: &'static str,
        title: &str,
        about: String,
        position: Position<'_>,
    ) -> Self {
        let name = site_name(site);
        let title = clipped(title, MAX_NAME);
        let root = position.root;
        let nav = Navigation { site, position, entries: Vec::new() };
        let (nav, more) = nav.lay_out();
        let (errors, warnings) = site.finding_counts();
        Self(json!({
            "name": name,
            "page_title": if at == "home" { name.clone() } else { format!("{title} · {name}") },
            "about": clipped(&about, 300),
            "root": root,
            "at": at,
            "crumbs": [Link { text: name.clone(), href: format!("{root}index.html") }],
            "nav": nav,
            // Categories that the navigation leaves out.
            "more": more,
            "has_profiles": !site.index.profiles.is_empty(),
            "tools": site.index.tools.len(),
            "errors": errors,
            "warnings": warnings,
            "registry_version": site.catalog.version,
            "product_version": env!("CARGO_PKG_VERSION"),
            "policy": CONTENT_SECURITY_POLICY,
            "notice": site.notice.map(inline_html),
            "person": site.person,
            "is_operator": site.is_operator,
            "is_served": site.is_served,
            "query": "",
        }))
    }

    /// The same frame with a query in the search box.
    pub(super) fn with_query(mut self, query: &str) -> Self {
        self.0["query"] = query.into();
        self
    }

    /// The same frame with breadcrumbs, from the root on.
    pub(super) fn with_crumbs(mut self, crumbs: impl IntoIterator<Item = Link>) -> Self {
        if let Some(list) = self.0["crumbs"].as_array_mut() {
            list.extend(crumbs.into_iter().map(|crumb| json!(crumb)));
        }
        self
    }
}

/// Title of the catalog on its pages.
pub(super) fn site_name(site: &Site<'_>) -> String {
    clipped(&site.catalog.title().unwrap_or_else(|| "Tools".into()), MAX_NAME)
}

struct Navigation<'s, 'a> {
    site: &'s Site<'a>,
    position: Position<'s>,
    entries: Vec<Value>,
}

impl Navigation<'_, '_> {
    /// Root categories, the ancestors of the page with their children, and the tools beside the page. The page of a
    /// category lists its own content.
    fn lay_out(mut self) -> (Vec<Value>, usize) {
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
            "href": format!("{}{}", self.position.root, pages.path(0)),
            "count": self.site.index.tree.node(category).descendant_tools.len(),
            "depth": depth.min(6),
            "is_current": is_here && self.position.tool.is_none(),
            "tools": if is_here { self.tools_beside(pages) } else { Vec::new() },
        }));
    }

    /// The tools in the category of a tool's page, if they are few.
    fn tools_beside(&self, pages: &CategoryPages) -> Vec<Value> {
        let Some(current) = self.position.tool else { return Vec::new() };
        if pages.tools().count() > MAX_TOOLS {
            return Vec::new();
        }
        let entry = |shown: usize| {
            let tool = self.site.tool(shown);
            json!({
                "text": shown_name(&tool.names.canonical, &tool.names.safe),
                "href": format!("{}tools/{}.html", self.position.root, tool.names.safe),
                "is_current": shown == current,
            })
        };
        pages.tools().map(entry).collect()
    }
}
