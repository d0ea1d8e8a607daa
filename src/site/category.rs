//! The page of a category: the categories below it, and its tools, in parts where there are many.

use serde::Serialize;
use tera::Context;

use super::frame::{Frame, Link, Position, clipped, shown_name};
use super::index::TOOLS_A_PART;
use super::{Page, Site, html};
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

#[derive(Serialize)]
struct Child {
    title: String,
    href: String,
    count: usize,
}

/// A part of a category's list.
#[derive(Serialize)]
struct Part {
    number: usize,
    href: String,
    first: String,
    last: String,
    is_current: bool,
}

/// The page of one part of a category.
pub(super) fn page(site: &Site<'_>, category: usize, part: usize) -> Result<Page, TemplateError> {
    let node = &site.index.categories()[category];
    let children: Vec<Child> = node
        .children
        .iter()
        .map(|&child| {
            let child = &site.index.categories()[child];
            Child { title: child.title.clone(), href: format!("../{}", child.path(0)), count: child.total }
        })
        .collect();
    let chunk = node.tools.chunks(TOOLS_A_PART).nth(part).unwrap_or_default();
    let tools: Vec<CategoryEntry> = chunk.iter().map(|&shown| entry(site, shown, "../")).collect();
    let name = |shown: Option<&usize>| {
        let tool = shown.map(|&shown| site.tool(shown));
        tool.map(|tool| clipped(&shown_name(&tool.name, &tool.safe_name), 30)).unwrap_or_default()
    };
    let chunks = node.tools.chunks(TOOLS_A_PART).enumerate();
    let parts: Vec<Part> = chunks
        .map(|(number, tools)| Part {
            number: number + 1,
            href: format!("../{}", node.path(number)),
            first: name(tools.first()),
            last: name(tools.last()),
            is_current: number == part,
        })
        .collect();
    let position = Position { category: Some(category), tool: None };
    let about = format!("{} tools", node.total);
    let lineage = site.index.path_from_root(category);
    let above = lineage.split_last().map_or(&[][..], |(_, above)| above);
    let frame = Frame::below(site, "category", &node.title, about, position)
        .with_crumbs(above.iter().map(|&above| link(site, above)));
    let mut context = Context::new();
    context.insert("title", &node.title);
    context.insert("count", &node.total);
    context.insert("children", &children);
    context.insert("tools", &tools);
    context.insert("parts", &parts);
    site.render("site/category.html", frame, context)
}

/// A link to a category from a page in a folder.
pub(super) fn link(site: &Site<'_>, category: usize) -> Link {
    let node = &site.index.categories()[category];
    Link { text: clipped(&node.title, 60), href: format!("../{}", node.path(0)) }
}
