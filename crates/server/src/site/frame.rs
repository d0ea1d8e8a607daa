//! The frame around every page: title, navigation, breadcrumbs, versions, a notice. And the page without one, on which a
//! person signs in.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::Serialize;
use serde_json::{Value, json};
use tera::Context;

use super::index::{CategoryPages, ROOT};
use super::{CONTENT_SECURITY_POLICY, HTML, Page, Site};
use toolcrib_definition::{clean_line, clean_text};
use toolcrib_docs::markdown::inline;
use toolcrib_docs::{TemplateError, Templates, escaped};

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
#[derive(Debug)]
pub(super) struct Frame(pub(super) Value);

/// A link; its target is relative to its page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Link {
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
        let Some(current) = self.position.tool.filter(|_| pages.tools().count() <= MAX_TOOLS) else {
            return Vec::new();
        };
        let entry = |shown: usize| {
            let tool = self.site.tool(shown);
            json!({
                "text": shown_name(&tool.name, &tool.safe_name),
                "href": format!("{}tools/{}.html", self.position.root, tool.safe_name),
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

// Texts of pages: our safe markdown as safe HTML, with only the elements and links that a text needs; names and JSON of
// bounded length. As a second defence, a sanitiser that does not know markdown checks the HTML.

/// Elements that a text may contain.
const ELEMENTS: [&str; 25] = [
    "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul", "sub", "sup", "div",
];

static WALL: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut wall = Builder::empty();
    wall.tags(HashSet::from(ELEMENTS))
        .tag_attributes(HashMap::from([("a", HashSet::from(["href"])), ("ol", HashSet::from(["start"]))]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("nofollow noopener noreferrer"));
    wall
});

/// Blocks of markdown as HTML.
pub(super) fn blocks(markdown: &str) -> String {
    if markdown.trim().is_empty() {
        return String::new();
    }
    WALL.clean(&converted(markdown)).to_string()
}

/// One line of markdown as HTML without a block around it.
pub(super) fn line(markdown: &str) -> String {
    if let Some(html) = without_markup(markdown) {
        return html;
    }
    let html = blocks(markdown);
    let html = html.trim();
    match html.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>")) {
        Some(inner) if !inner.contains("<p>") => inner.to_string(),
        _ => html.to_string(),
    }
}

/// One line of untrusted text as HTML.
pub(super) fn inline_html(text: &str) -> String {
    line(&inline(text))
}

/// Most lines are plain words, or one name in a code span: escaping is all they need.
fn without_markup(markdown: &str) -> Option<String> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.starts_with([' ', '-', '+', '=', '#', '.', ':'])
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| {
                byte >= 128 || byte.is_ascii_alphanumeric() || b" .,:;()/'-=%$@+?\"".contains(&byte)
            })
    };
    let code = markdown.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    if let Some(text) = code.filter(|text| !text.contains('`') && !text.starts_with(' ') && !text.is_empty())
    {
        return Some(format!("<code>{}</code>", escaped(text)));
    }
    let has_link = markdown.contains("://") || markdown.contains("www.");
    (is_plain(markdown) && !has_link && !markdown.contains("  ")).then(|| escaped(markdown))
}

/// HTML in the text becomes text, images their description; headings stand below ours.
fn converted(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level: lowered(level),
            id: None,
            classes: vec![],
            attrs: vec![],
        })),
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lowered(level)))),
        event => Some(event),
    });
    let mut html = String::with_capacity(markdown.len() * 2);
    push_html(&mut html, events);
    html
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Most bytes of JSON in one place of a page.
const MAX_JSON: usize = 64 << 10;

/// JSON to read and to copy.
pub(super) fn json_text(value: &Value) -> String {
    let compact = value.to_string();
    let text =
        if compact.len() <= 72 { compact } else { serde_json::to_string_pretty(value).unwrap_or_default() };
    cut(clean_text(&text).into(), MAX_JSON)
}

/// A text of bounded length.
pub(super) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("\n… cut here; registry.json has all of it");
    }
    text
}

/// Most characters of a name in a list.
pub(super) const MAX_NAME: usize = 120;

/// A text of at most this many characters; a longer one ends in an ellipsis.
pub(super) fn clipped(text: &str, most: usize) -> String {
    toolcrib_definition::clipped(text, most).into_owned()
}

/// A name for lists; an invisible one is replaced.
pub(super) fn shown_name(name: &str, otherwise: &str) -> String {
    let name = clean_line(name);
    if name.is_empty() { otherwise.to_string() } else { clipped(&name, MAX_NAME) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_markdown_is_inert() {
        let check = |markdown: &str, expect: &str| assert_eq!(blocks(markdown).trim(), expect, "{markdown}");
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>");
        check("[a](javascript:alert(1))", "<p><a rel=\"nofollow noopener noreferrer\">a</a></p>");
        check("[a](//evil.example)", "<p><a rel=\"nofollow noopener noreferrer\">a</a></p>");
        check("![a](https://evil.example/pixel.png)", "<p>a</p>");
        check("# Big", "<h4>Big</h4>");
        check(
            "[a](https://example.com/?a=1&b=2)",
            "<p><a href=\"https://example.com/?a=1&amp;b=2\" rel=\"nofollow noopener noreferrer\">a</a></p>",
        );
    }

    #[test]
    fn lines_are_the_same_with_and_without_the_parser() {
        for text in ["Plain words, (and more).", "`code`", "a - b", "x = 1", "What's this?", "日本語"] {
            let parsed = blocks(text);
            let parsed = parsed.trim().trim_start_matches("<p>").trim_end_matches("</p>");
            assert_eq!(line(text).replace("&#39;", "'").replace("&quot;", "\""), parsed, "{text}");
        }
    }
}
