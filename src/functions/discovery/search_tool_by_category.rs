//! `search_tool_by_category`: the tools of a category that fit a query.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::list::CursorScope;
use super::path::{category_hints, segments};
use super::{Scope, UNREAD, path, read, required_query, search_nodes, tool_ranking};
use crate::functions::{Answer, AnswerFuture, ErrorCode, Function, FunctionContext, Refusal};
use crate::search::Verdict;
use crate::tool::quoted;

/// Most categories, and tools of other categories, that a refusal suggests.
const SUGGESTED: usize = 3;

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    category_path: Vec<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    cursor: Option<String>,
}

fn default_limit() -> usize {
    5
}

/// Answers a call.
pub(in crate::functions) fn run(
    function: &'static Function,
    context: FunctionContext,
    arguments: Value,
) -> AnswerFuture {
    Box::pin(async move { searched(function, &context, arguments).await })
}

async fn searched(
    function: &Function,
    context: &FunctionContext,
    arguments: Value,
) -> Result<Answer, Refusal> {
    let arguments: Arguments = read(function.name(), arguments)?;
    let query = required_query(&arguments.query)?;
    let view = &context.view;
    view.wait_for_indexes().await;
    let scope = Scope { node: path::node(view, &arguments.category_path)?, tags: &[] };
    let category = view.tree().node(scope.node);
    let version = &view.catalog().version;
    let origin = CursorScope::of(function.name(), &[&category.path, query]);
    let from = origin.offset(arguments.cursor.as_deref(), version)?;
    let to = from.saturating_add(arguments.limit);
    let (found, semantic) = tool_ranking::search_in_scope(context, query, scope, to.saturating_add(1)).await;
    if found.verdict == Verdict::NoMatch || found.hits.is_empty() {
        return Err(nothing(context, scope, query).await);
    }
    let hits = found.hits.iter().skip(from).take(arguments.limit);
    let result = |hit: &crate::search::Hit| {
        let place = path::place(view, hit.entry, scope.node);
        path::tool_fields(view, hit.entry, place, Some(hit))
    };
    let results: Vec<Value> = hits.map(result).collect();
    let next = (found.hits.len() > to).then(|| origin.at_offset(to, version));
    let fields =
        [("category_path", segments(category)), ("results", results.into()), ("next_cursor", next.into())];
    let fields: Map<String, Value> =
        fields.map(|(name, value)| (name.to_string(), value)).into_iter().collect();
    Ok(Answer::new(fields, None).with_semantic_status(&semantic))
}

/// The refusal where no tool of a scope fits a query, with near categories and tools.
pub(super) async fn nothing(context: &FunctionContext, scope: Scope<'_>, query: &str) -> Refusal {
    let view = &*context.view;
    let tree = view.tree();
    let elsewhere = match (scope.node, scope.tags.is_empty(), query.trim().is_empty()) {
        (0, true, _) | (.., true) => Vec::new(),
        _ => {
            let (found, _) =
                tool_ranking::search_anywhere_first(context, query, Scope::default(), SUGGESTED).await;
            if found.verdict == Verdict::Match { found.hits } else { Vec::new() }
        }
    };
    let mut categories: Vec<usize> =
        elsewhere.iter().filter_map(|hit| tree.places(hit.entry).first().copied()).collect();
    categories.extend(search_nodes::by_words(view, query, SUGGESTED).hits.iter().map(|hit| hit.node));
    if categories.is_empty() {
        categories.clone_from(&tree.node(0).children);
    }
    let mut seen = std::collections::HashSet::new();
    categories.retain(|&node| node != 0 && node != scope.node && seen.insert(node));
    categories.truncate(SUGGESTED);
    let place = match tree.node(scope.node).path.as_str() {
        "" => "no tool here".to_string(),
        path => format!("no tool in {path}"),
    };
    let place = match scope.tags {
        [] => place,
        tags => format!("{place} with the tags {}", quoted(&tags.join(", "))),
    };
    let next = match elsewhere.is_empty() {
        false => "search again with the path of one of `hints.categories`, or expand one of `hints.tools`",
        true if context.lacks_sources() => UNREAD,
        true => {
            "ask again in other words, an action and an object; if `hints` are nothing like it, there is no such tool: say so"
        }
    };
    let tools = elsewhere
        .iter()
        .map(|hit| path::tool_fields(view, hit.entry, path::place(view, hit.entry, 0), Some(hit)));
    let message = format!("{place} fits `{}`", quoted(query));
    Refusal::new(ErrorCode::NoMatchInCategory, message, next)
        .hint("unmet", tool_ranking::unmet(view, query, scope))
        .hint("categories", category_hints(view, &categories))
        .hint("tools", tools.collect())
}
