//! The home page with the tree of categories, and the page of each category.

use serde_json::{Value, json};

use super::context::{Page, Site};
use super::frame::{AT_ROOT, Frame, IN_FOLDER, Link, Position, site_name};
use super::index::{Entry, ROOT};
use super::text::{MAX_NAME, clipped, inline_html, shown_name};
use toolcrib_catalog::CategoryNode;
use toolcrib_definition::clean_line;
use toolcrib_render::TemplateError;

/// Most lines of a tree. Levels that do not fit as a whole are on the pages of the categories above them.
const MAX_LINES: usize = 300;

/// The first page, or a part of it where there are many categories.
pub(super) fn home(site: &Site<'_>, part: usize) -> Result<Page, TemplateError> {
    let index = site.index;
    let pages = &index.categories[ROOT];
    let profiles = index.profiles.iter().map(|profile| {
        let configured = site.catalog.config.profiles.get(&profile.name);
        let about = configured.and_then(|profile| profile.description.as_deref()).unwrap_or_default();
        json!({
            "title": shown_name(&profile.name, &profile.file),
            "href": format!("profiles/{}.html", profile.file),
            "about": clipped(&clean_line(about), 300),
        })
    });
    let about = format!("{} tools in {} categories", index.tools.len(), pages.entries.len());
    let frame = Frame::new(site, "home", &site_name(site), about, AT_ROOT);
    let values = json!({
        "count": pages.entries.len(),
        "tree": tree(site, pages.chunks().nth(part).unwrap_or_default(), ""),
        "parts": parts(site, ROOT, part, ""),
        "profiles": profiles.collect::<Vec<_>>(),
        "connect": site.connect,
    });
    site.render("site/home.html", frame, values)
}

/// The page of one part of a category: the categories below it, and its tools.
pub(super) fn category(site: &Site<'_>, category: usize, part: usize) -> Result<Page, TemplateError> {
    let pages = &site.index.categories[category];
    let node = site.index.tree.node(category);
    let entries = pages.chunks().nth(part).unwrap_or_default();
    let tools = entries.iter().filter_map(Entry::tool);
    let tools: Vec<Value> = tools.map(|shown| entry(site, shown, "../")).collect();
    let position = Position { category: Some(category), ..IN_FOLDER };
    let lineage = site.index.path_from_root(category);
    let above = lineage.split_last().map_or(&[][..], |(_, above)| above);
    let frame = Frame::new(site, "category", &pages.title, node.summary.clone(), position)
        .with_crumbs(above.iter().map(|&above| link(site, above)));
    let values = json!({
        "title": pages.title,
        "count": node.descendant_tools.len(),
        "purpose": inline_html(&sentence(node)),
        "tree": tree(site, entries, "../"),
        "tools": tools,
        "parts": parts(site, category, part, "../"),
    });
    site.render("site/category.html", frame, values)
}

/// What is in a category, as a sentence: the words of its author, or the verbs of its tools.
pub(super) fn sentence(node: &CategoryNode) -> String {
    let mut purpose = node.purpose.chars();
    let ending = if node.purpose.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    match purpose.next() {
        None => String::new(),
        Some(first) if is_counted(node) => {
            let count = node.descendant_tools.len();
            format!("{count} tools {}{}{ending}", first.to_lowercase(), purpose.as_str())
        }
        Some(_) => format!("{}{ending}", node.purpose),
    }
}

/// Whether the sentence of a category begins with the number of its tools.
fn is_counted(node: &CategoryNode) -> bool {
    !node.purpose.is_empty() && node.descendant_tools.len() > 1 && node.summary != node.purpose
}

/// The entry of a tool in a list, on a page from which the root of the site is `root`.
pub(super) fn entry(site: &Site<'_>, shown: usize, root: &str) -> Value {
    let tool = site.tool(shown);
    json!({
        "name": shown_name(&tool.names.canonical, &tool.names.safe),
        "href": format!("{root}tools/{}.html", tool.names.safe),
        "short": inline_html(&tool.texts.short),
        "summary": clean_line(&tool.texts.short),
        "effect": tool.rules.effect.as_str(),
        "deprecated": tool.labels.deprecated == Some(true),
        "callable": tool.not_callable().is_none(),
    })
}

/// The parts of a category's list, for a page from which the root of the site is `root`.
fn parts(site: &Site<'_>, category: usize, current: usize, root: &str) -> Vec<Value> {
    let pages = &site.index.categories[category];
    let name = |entry: Option<&Entry>| match entry {
        Some(Entry::Category(node)) => clipped(&site.index.categories[*node].title, 30),
        Some(Entry::Tool(shown)) => {
            let tool = site.tool(*shown);
            clipped(&shown_name(&tool.names.canonical, &tool.names.safe), 30)
        }
        None => String::new(),
    };
    let part = |(number, entries): (usize, &[Entry])| {
        json!({
            "href": format!("{root}{}", pages.path(number)),
            "first": name(entries.first()),
            "last": name(entries.last()),
            "is_current": number == current,
        })
    };
    pages.chunks().enumerate().map(part).collect()
}

/// A link to a category from a page in a folder.
pub(super) fn link(site: &Site<'_>, category: usize) -> Link {
    let pages = &site.index.categories[category];
    Link { text: clipped(&pages.title, 60), href: format!("../{}", pages.path(0)) }
}

/// The lines of the categories among these entries, and of all below them; the root of the site is `root` from their
/// page. The lines of the categories below one follow it; a template nests them as lists.
fn tree(site: &Site<'_>, entries: &[Entry], root: &str) -> Vec<Value> {
    let tree = &site.index.tree;
    let mut level: Vec<usize> = entries.iter().filter_map(Entry::category).collect();
    let mut depth = 0;
    let mut count = 0;
    while !level.is_empty() && (depth == 0 || count + level.len() <= MAX_LINES) {
        count += level.len();
        depth += 1;
        level = level.iter().flat_map(|&node| &tree.node(node).children).copied().collect();
    }
    let mut lines = Vec::with_capacity(count);
    for category in entries.iter().filter_map(Entry::category) {
        branch(site, category, (root, depth - 1, 0), &mut lines);
    }
    lines
}

/// Adds the line of a category, and those of the categories at most `depth` levels below it. `closes`: the lists that
/// end with the last of them.
fn branch(
    site: &Site<'_>,
    category: usize,
    (root, depth, closes): (&str, usize, usize),
    lines: &mut Vec<Value>,
) {
    let node = site.index.tree.node(category);
    let pages = &site.index.categories[category];
    let below = if depth == 0 { &[][..] } else { &node.children[..] };
    lines.push(json!({
        "title": clipped(&pages.title, MAX_NAME),
        "href": format!("{root}{}", pages.path(0)),
        // The sentence of a category without an author's says it.
        "count": (!is_counted(node)).then_some(node.descendant_tools.len()),
        "purpose": inline_html(&sentence(node)),
        "opens": !below.is_empty(),
        "closes": if below.is_empty() { closes } else { 0 },
    }));
    for (index, &child) in below.iter().enumerate() {
        let closes = if index + 1 == below.len() { closes + 1 } else { 0 };
        branch(site, child, (root, depth - 1, closes), lines);
    }
}
