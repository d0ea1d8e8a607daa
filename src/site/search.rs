//! The page of a search.

use tera::Context;

use super::frame::Frame;
use super::name::clipped;
use super::search_index::MAX_QUERY;
use super::{Page, Site, category};
use crate::render::TemplateError;
use crate::tool::clean_line;

/// The page for a query; an empty one asks for it.
pub(super) fn page(site: &Site<'_>, query: &str) -> Result<Page, TemplateError> {
    let query = clipped(&clean_line(query), MAX_QUERY);
    let (found, count) = site.index.search(site.catalog).find(&query);
    let tools: Vec<_> = found.into_iter().map(|shown| category::entry(site, shown, "")).collect();
    let mut context = Context::new();
    context.insert("query", &query);
    context.insert("count", &count);
    context.insert("more", &(count - tools.len()));
    context.insert("tools", &tools);
    let title = if query.is_empty() { "Search".to_string() } else { format!("Search: {query}") };
    let frame = Frame::at_root(site, "search", &title, String::new()).with_query(&query);
    site.render("site/search.html", frame, context)
}
