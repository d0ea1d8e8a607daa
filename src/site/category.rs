//! The page of a category: the categories below it, and its tools, in parts where there are many.

use serde::Serialize;
use tera::Context;

use super::frame::{Frame, Link, Position};
use super::index::Entry;
use super::name::{clipped, shown_name};
use super::{Page, Site, html, tree};
use crate::catalog::Callable;
use crate::render::TemplateError;
use crate::render::markdown::inline;

/// A tool in a list.
#[derive(Debug, Serialize)]
pub(super) struct CategoryEntry {
    name: String,
    href: String,
    /// HTML.
    short: String,
    effect: &'static str,
    deprecated: bool,
    callable: bool,
}

/// The entry of a tool on a page from which the root of the site is `root`.
pub(super) fn entry(site: &Site<'_>, shown: usize, root: &str) -> CategoryEntry {
    let tool = site.tool(shown);
    CategoryEntry {
        name: shown_name(&tool.name, &tool.safe_name),
        href: format!("{root}tools/{}.html", tool.safe_name),
        short: html::line(&inline(&tool.short)),
        effect: tool.effect.as_str(),
        deprecated: tool.definition.deprecated == Some(true),
        callable: !matches!(tool.parameters.callable(), Callable::No(_)),
    }
}

/// A part of a category's list.
#[derive(Serialize)]
pub(super) struct Part {
    href: String,
    first: String,
    last: String,
    is_current: bool,
}

/// The parts of a category's list, for a page from which the root of the site is `root`.
pub(super) fn parts(site: &Site<'_>, category: usize, current: usize, root: &str) -> Vec<Part> {
    let pages = &site.index.categories()[category];
    let name = |entry: Option<&Entry>| match entry {
        Some(Entry::Category(node)) => clipped(&site.index.categories()[*node].title, 30),
        Some(Entry::Tool(shown)) => {
            let tool = site.tool(*shown);
            clipped(&shown_name(&tool.name, &tool.safe_name), 30)
        }
        None => String::new(),
    };
    let part = |(number, entries): (usize, &[Entry])| Part {
        href: format!("{root}{}", pages.path(number)),
        first: name(entries.first()),
        last: name(entries.last()),
        is_current: number == current,
    };
    pages.chunks().enumerate().map(part).collect()
}

/// The page of one part of a category.
pub(super) fn page(site: &Site<'_>, category: usize, part: usize) -> Result<Page, TemplateError> {
    let pages = &site.index.categories()[category];
    let node = site.index.tree().node(category);
    let entries = pages.chunks().nth(part).unwrap_or_default();
    let tools = entries.iter().filter_map(Entry::tool);
    let tools: Vec<CategoryEntry> = tools.map(|shown| entry(site, shown, "../")).collect();
    let position = Position { category: Some(category), tool: None };
    let lineage = site.index.path_from_root(category);
    let above = lineage.split_last().map_or(&[][..], |(_, above)| above);
    let frame = Frame::below(site, "category", &pages.title, node.summary.clone(), position)
        .with_crumbs(above.iter().map(|&above| link(site, above)));
    let mut context = Context::new();
    context.insert("title", &pages.title);
    context.insert("count", &node.descendant_tools.len());
    context.insert("purpose", &html::line(&inline(&node.purpose)));
    context.insert("tree", &tree::lines(site, entries, "../"));
    context.insert("tools", &tools);
    context.insert("parts", &parts(site, category, part, "../"));
    site.render("site/category.html", frame, context)
}

/// A link to a category from a page in a folder.
pub(super) fn link(site: &Site<'_>, category: usize) -> Link {
    let pages = &site.index.categories()[category];
    Link { text: clipped(&pages.title, 60), href: format!("../{}", pages.path(0)) }
}
