//! `list`: the content of a category. Without a query and tags its direct content, with them everything below it.

use serde::Deserialize;

use super::category::category;
use super::category_ranking::fitting_categories;
use super::cursor::CursorScope;
use super::entries::{CategoryEntry, CategoryHit, Listed, Listing, ToolEntry, place, segments};
use super::scope::{Scope, query, search_in_scope};
use super::search_tool_by_category::nothing;
use crate::context::{CatalogView, FunctionContext};
use crate::functions::arguments::Arguments;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_definition::quoted;
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{Hit, Verdict};

/// Most categories before the tools that fit a query.
const FITTING_NODES: usize = 3;

/// Arguments of `list`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct List {
    path: Vec<String>,
    tags: Vec<String>,
    query: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

/// Most entries of a page by default.
const LIMIT: usize = 10;

/// One line of a list, with its score where there was a query.
#[derive(Clone)]
enum Line {
    Node(usize, Option<CategoryHit>),
    Tool(usize, Option<Hit>),
}

/// Some lines of a list, with the cursor of the rest.
type Lines = (Vec<Line>, Option<String>);

impl Arguments for List {
    type Reply = Listed;

    async fn answer(self, context: &FunctionContext) -> Result<Listed> {
        let view = &context.view;
        // An unknown path is answered by a search.
        if self.query.is_some() || !self.path.is_empty() {
            view.wait_for_indexes().await;
        }
        let scope = Scope { node: category(view, &self.path)?, tags: &self.tags };
        let node = view.tree().node(scope.node);
        let query = self.query.as_deref().and_then(query);
        let origin =
            CursorScope::of("list", &[&node.path, &scope.tags.join("\n"), query.unwrap_or_default()]);
        let mut semantic = None;
        let (lines, next_cursor) = match query {
            Some(query) => fitting(context, &self, scope, query, &origin, &mut semantic).await?,
            None if self.tags.is_empty() => {
                let tools = node.tools.iter().map(|&tool| Line::Tool(tool, None));
                let lines = node.children.iter().map(|&node| Line::Node(node, None)).chain(tools);
                browsed(view, &self, &origin, lines)?
            }
            None => tagged(view, &self, scope, &origin)?,
        };
        let is_direct = self.tags.is_empty() && query.is_none();
        let mut nodes = Vec::new();
        let mut tools = Vec::new();
        for line in lines {
            match line {
                Line::Node(node, hit) => {
                    nodes.push(CategoryEntry::of(view.tree().node(node)).ranked(hit.as_ref()));
                }
                Line::Tool(tool, hit) => {
                    let place = if is_direct { scope.node } else { place(view, tool, scope.node) };
                    tools.push(ToolEntry::of(view, tool, place, hit.as_ref()));
                }
            }
        }
        Ok(Listed { listing: Listing::Content { path: segments(node), nodes, tools, next_cursor }, semantic })
    }
}

/// Sort key of a list: categories by name, then tools by op.
fn key(view: &CatalogView, line: &Line) -> String {
    match line {
        Line::Node(node, _) => {
            let node = view.tree().node(*node);
            format!("0{} {}", node.name.to_lowercase(), node.path)
        }
        Line::Tool(tool, _) => format!("1{}", view.catalog().tools[*tool].names.op),
    }
}

/// The page after the last listed key.
fn browsed(
    view: &CatalogView,
    asked: &List,
    origin: &CursorScope,
    lines: impl Iterator<Item = Line>,
) -> Result<Lines> {
    let after = origin.key(asked.cursor.as_deref())?;
    let mut keyed: Vec<(String, Line)> = lines.map(|line| (key(view, &line), line)).collect();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let from = after.map_or(0, |last| keyed.partition_point(|(key, _)| key.as_str() <= last));
    let to = keyed.len().min(from + asked.limit.unwrap_or(LIMIT));
    let page = &keyed[from..to];
    let last = if to < keyed.len() { page.last() } else { None };
    let next = last.map(|(last, _)| origin.after_key(last));
    Ok((page.iter().map(|(_, line)| line.clone()).collect(), next))
}

/// Categories and tools with all of the tags, anywhere below.
fn tagged(view: &CatalogView, asked: &List, scope: Scope<'_>, origin: &CursorScope) -> Result<Lines> {
    let nodes = tagged_nodes(view, scope).map(|node| Line::Node(node, None));
    let tools = scope.tools(view).map(|tool| Line::Tool(tool, None));
    let lines: Vec<Line> = nodes.chain(tools).collect();
    if lines.is_empty() {
        return Err(untagged(view, scope));
    }
    browsed(view, asked, origin, lines.into_iter())
}

/// The categories below that have all of the tags.
fn tagged_nodes<'e>(view: &'e CatalogView, scope: Scope<'e>) -> impl Iterator<Item = usize> {
    let tree = view.tree();
    let is_inside = move |&node: &usize| node != scope.node && tree.holds(scope.node, node);
    (1..tree.nodes().len()).filter(is_inside).filter(move |&node| scope.has_tags(&tree.node(node).tags))
}

/// The error where tags leave nothing, with the tags that exist.
fn untagged(view: &CatalogView, scope: Scope<'_>) -> ToolError {
    let node = view.tree().node(scope.node);
    let place = if node.path.is_empty() { "here".into() } else { format!("in {}", node.path) };
    let message = match scope.tags {
        [tag] => format!("nothing {place} has the tag {}", quoted(tag)),
        tags => format!("nothing {place} has all of the tags {}", quoted(&tags.join(", "))),
    };
    let next = "take one of `hints.tags`, or leave `tags` out; a tool must have all of them";
    ToolError::new(ErrorCode::NoMatchInCategory, message, next).hint("tags", node.tags.clone())
}

/// Categories and tools that fit a query, anywhere below: the best categories, then tools.
async fn fitting(
    context: &FunctionContext,
    asked: &List,
    scope: Scope<'_>,
    query: &str,
    origin: &CursorScope,
    semantic: &mut Option<SemanticStatus>,
) -> Result<Lines> {
    let view = &*context.view;
    let tree = view.tree();
    let version = &view.catalog().version;
    let from = origin.offset(asked.cursor.as_deref(), version)?;
    let to = from.saturating_add(asked.limit.unwrap_or(LIMIT));
    let is_excluded = scope.tools(view).next().is_none() && tagged_nodes(view, scope).next().is_none();
    if !scope.tags.is_empty() && is_excluded {
        return Err(untagged(view, scope));
    }
    let (found, status) = search_in_scope(context, query, scope, to.saturating_add(1)).await;
    *semantic = Some(status);
    let fits = found.verdict != Verdict::NoMatch;
    let (near, _) = fitting_categories(context, query, tree.nodes().len()).await;
    // Without a tool that fits, a category fits only when the query names it.
    let counts = |hit: &CategoryHit| {
        let node = tree.node(hit.node);
        let is_inside = tree.holds(scope.node, hit.node);
        hit.node != scope.node && is_inside && scope.has_tags(&node.tags) && (fits || hit.is_named)
    };
    let categories = near.hits.into_iter().filter(|hit| near.fits && counts(hit)).take(FITTING_NODES);
    let mut lines: Vec<Line> = categories.map(|hit| Line::Node(hit.node, Some(hit))).collect();
    if fits {
        lines.extend(found.hits.into_iter().map(|hit| Line::Tool(hit.entry, Some(hit))));
    }
    if lines.is_empty() {
        return Err(nothing(context, scope, query).await);
    }
    let next = (lines.len() > to).then(|| origin.at_offset(to, version));
    let lines = lines.into_iter().skip(from).take(asked.limit.unwrap_or(LIMIT)).collect();
    Ok((lines, next))
}
