//! `list`: the content of a category. Without a query and tags its direct content, with them everything below it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::cursor::CursorScope;
use super::listing::{self, segments};
use super::{Scope, path, query, read, search_nodes, search_tool_by_category, tool_ranking};
use crate::functions::{Answer, AnswerFuture, CatalogView, ErrorCode, Function, FunctionContext, Refusal};
use crate::search::semantic::SemanticStatus;
use crate::search::{Hit, Verdict};
use crate::tool::quoted;

/// Most categories before the tools that fit a query.
const FITTING_NODES: usize = 3;

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    query: Option<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    cursor: Option<String>,
}

fn default_limit() -> usize {
    10
}

/// One line of a list, with its score where there was a query.
#[derive(Clone)]
enum Line {
    Node(usize, Option<listing::CategoryHit>),
    Tool(usize, Option<Hit>),
}

/// Some lines of a list, with the cursor of the rest.
struct Page {
    lines: Vec<Line>,
    next: Option<String>,
    /// Whether a search used meaning.
    semantic: Option<SemanticStatus>,
}

/// Answers a call.
pub(in crate::functions) fn run(
    function: &'static Function,
    context: FunctionContext,
    arguments: Value,
) -> AnswerFuture {
    Box::pin(async move { listed(function, &context, arguments).await })
}

async fn listed(function: &Function, context: &FunctionContext, arguments: Value) -> Result<Answer, Refusal> {
    let arguments: Arguments = read(function.name(), arguments)?;
    let view = &context.view;
    // An unknown path is answered by a search.
    if arguments.query.is_some() || !arguments.path.is_empty() {
        view.wait_for_indexes().await;
    }
    let node = path::node(view, &arguments.path)?;
    let scope = Scope { node, tags: &arguments.tags };
    let query = query(arguments.query.as_deref());
    let category = view.tree().node(node).path.as_str();
    let origin =
        CursorScope::of(function.name(), &[category, &scope.tags.join("\n"), query.unwrap_or_default()]);
    let page = match query {
        Some(query) => fitting(context, &arguments, scope, query, &origin).await?,
        None if arguments.tags.is_empty() => {
            let node = view.tree().node(node);
            let tools = node.tools.iter().map(|&tool| Line::Tool(tool, None));
            let lines = node.children.iter().map(|&node| Line::Node(node, None)).chain(tools);
            browsed(view, &arguments, &origin, lines)?
        }
        None => tagged(view, &arguments, scope, &origin)?,
    };
    let semantic = page.semantic.clone();
    let answer = answer(view, scope, &arguments, page);
    Ok(match semantic {
        Some(semantic) => answer.with_semantic_status(&semantic),
        None => answer,
    })
}

/// Sort key of a list: categories by name, then tools by op.
fn key(view: &CatalogView, line: &Line) -> String {
    match line {
        Line::Node(node, _) => {
            let node = view.tree().node(*node);
            format!("0{} {}", node.name.to_lowercase(), node.path)
        }
        Line::Tool(tool, _) => format!("1{}", view.catalog().tools[*tool].op),
    }
}

/// The page after the last listed key.
fn browsed(
    view: &CatalogView,
    arguments: &Arguments,
    origin: &CursorScope,
    lines: impl Iterator<Item = Line>,
) -> Result<Page, Refusal> {
    let after = origin.key(arguments.cursor.as_deref())?;
    let mut keyed: Vec<(String, Line)> = lines.map(|line| (key(view, &line), line)).collect();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let from = after.map_or(0, |last| keyed.partition_point(|(key, _)| *key <= last));
    let to = keyed.len().min(from + arguments.limit);
    let next = keyed[from..to].last().filter(|_| to < keyed.len()).map(|(last, _)| origin.after_key(last));
    Ok(Page { lines: keyed[from..to].iter().map(|(_, line)| line.clone()).collect(), next, semantic: None })
}

/// Categories and tools with all of the tags, anywhere below.
fn tagged(
    view: &CatalogView,
    arguments: &Arguments,
    scope: Scope<'_>,
    origin: &CursorScope,
) -> Result<Page, Refusal> {
    let nodes = tagged_nodes(view, scope).map(|node| Line::Node(node, None));
    let tools = scope.tools(view).map(|tool| Line::Tool(tool, None));
    let lines: Vec<Line> = nodes.chain(tools).collect();
    if lines.is_empty() {
        return Err(untagged(view, scope));
    }
    browsed(view, arguments, origin, lines.into_iter())
}

/// The categories below that have all of the tags.
fn tagged_nodes<'e>(view: &'e CatalogView, scope: Scope<'e>) -> impl Iterator<Item = usize> {
    let tree = view.tree();
    let is_inside = move |&node: &usize| node != scope.node && tree.holds(scope.node, node);
    (1..tree.nodes().len()).filter(is_inside).filter(move |&node| scope.has_tags(&tree.node(node).tags))
}

/// The refusal where tags leave nothing, with the tags that exist.
fn untagged(view: &CatalogView, scope: Scope<'_>) -> Refusal {
    let node = view.tree().node(scope.node);
    let place = if node.path.is_empty() { "here" } else { node.path.as_str() };
    let message = match scope.tags {
        [tag] => format!("nothing in {place} has the tag {}", quoted(tag)),
        tags => format!("nothing in {place} has all of the tags {}", quoted(&tags.join(", "))),
    };
    let message = message.replacen("nothing in here", "nothing here", 1);
    let next = "take one of `hints.tags`, or leave `tags` out; a tool must have all of them";
    let refusal = Refusal::new(ErrorCode::NoMatchInCategory, message, next);
    refusal.hint("tags", node.tags.iter().map(|tag| tag.as_str().into()).collect())
}

/// Categories and tools that fit a query, anywhere below: the best categories, then tools.
async fn fitting(
    context: &FunctionContext,
    arguments: &Arguments,
    scope: Scope<'_>,
    query: &str,
    origin: &CursorScope,
) -> Result<Page, Refusal> {
    let view = &*context.view;
    let (tree, version) = (view.tree(), &view.catalog().version);
    let from = origin.offset(arguments.cursor.as_deref(), version)?;
    let to = from.saturating_add(arguments.limit);
    let is_excluded = scope.tools(view).next().is_none() && tagged_nodes(view, scope).next().is_none();
    if !scope.tags.is_empty() && is_excluded {
        return Err(untagged(view, scope));
    }
    let (found, semantic) = tool_ranking::search_in_scope(context, query, scope, to.saturating_add(1)).await;
    let fits = found.verdict == Verdict::Match;
    let (near, _) = search_nodes::fitting(context, query, tree.nodes().len()).await;
    // Without a tool that fits, a category fits only when the query names it.
    let counts = |hit: &listing::CategoryHit| {
        let (node, is_inside) = (tree.node(hit.node), tree.holds(scope.node, hit.node));
        hit.node != scope.node && is_inside && scope.has_tags(&node.tags) && (fits || hit.is_named)
    };
    let categories = near.hits.into_iter().filter(|hit| near.fits && counts(hit)).take(FITTING_NODES);
    let mut lines: Vec<Line> = categories.map(|hit| Line::Node(hit.node, Some(hit))).collect();
    if fits {
        lines.extend(found.hits.into_iter().map(|hit| Line::Tool(hit.entry, Some(hit))));
    }
    if lines.is_empty() {
        return Err(search_tool_by_category::nothing(context, scope, query).await);
    }
    let next = (lines.len() > to).then(|| origin.at_offset(to, version));
    let lines = lines.into_iter().skip(from).take(arguments.limit).collect();
    Ok(Page { lines, next, semantic: Some(semantic) })
}

fn answer(view: &CatalogView, scope: Scope<'_>, arguments: &Arguments, page: Page) -> Answer {
    let tree = view.tree();
    let is_direct = arguments.tags.is_empty() && query(arguments.query.as_deref()).is_none();
    let (mut nodes, mut tools) = (Vec::new(), Vec::new());
    for line in page.lines {
        match line {
            Line::Node(node, hit) => nodes.push(listing::node(tree.node(node), hit.as_ref())),
            Line::Tool(tool, hit) => {
                let place = if is_direct { scope.node } else { listing::place(view, tool, scope.node) };
                tools.push(listing::tool(view, tool, place, hit.as_ref()));
            }
        }
    }
    let fields = [
        ("path", segments(tree.node(scope.node))),
        ("nodes", nodes.into()),
        ("tools", tools.into()),
        ("next_cursor", page.next.into()),
    ];
    Answer::new(
        fields.map(|(name, value)| (name.to_string(), value)).into_iter().collect::<Map<_, _>>(),
        None,
    )
}
