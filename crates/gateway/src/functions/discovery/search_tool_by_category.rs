//! `search_tool_by_category`: the tools of a category that fit a query, or the error where none does.

use std::collections::HashSet;

use serde::Deserialize;

use super::category::category;
use super::category_ranking::by_words;
use super::cursor::CursorScope;
use super::entries::{Listed, Listing, ToolEntry, category_hints, segments};
use super::scope::{Scope, UNREAD, blank, query, search_anywhere_first, search_in_scope, unmet};
use crate::context::FunctionContext;
use crate::functions::arguments::Arguments;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_definition::quoted;
use toolcrib_search::Verdict;

/// Most categories, and tools of other categories, that an error suggests.
const SUGGESTED: usize = 3;

/// Arguments of `search_tool_by_category`.
#[derive(Deserialize)]
pub(crate) struct SearchToolByCategory {
    query: String,
    #[serde(default)]
    category_path: Vec<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl Arguments for SearchToolByCategory {
    type Reply = Listed;

    async fn answer(self, context: &FunctionContext) -> Result<Listed> {
        let query = query(&self.query).ok_or_else(|| blank("query"))?;
        let view = &context.view;
        view.wait_for_indexes().await;
        let scope = Scope { node: category(view, &self.category_path)?, tags: &[] };
        let category = view.tree().node(scope.node);
        let version = &view.catalog().version;
        let origin = CursorScope::of("search_tool_by_category", &[&category.path, query]);
        let from = origin.offset(self.cursor.as_deref(), version)?;
        let limit = self.limit.unwrap_or(5);
        let to = from.saturating_add(limit);
        let (found, semantic) = search_in_scope(context, query, scope, to.saturating_add(1)).await;
        if found.verdict == Verdict::NoMatch || found.hits.is_empty() {
            return Err(nothing(context, scope, query).await);
        }
        let shown = found.hits.iter().skip(from).take(limit);
        let listing = Listing::Tools {
            category_path: segments(category),
            results: shown.map(|hit| ToolEntry::found(view, hit, scope.node)).collect(),
            next_cursor: (found.hits.len() > to).then(|| origin.at_offset(to, version)),
        };
        Ok(Listed { listing, semantic: Some(semantic) })
    }
}

/// The error where no tool of a scope fits a query, with near categories and tools.
pub(super) async fn nothing(context: &FunctionContext, scope: Scope<'_>, query: &str) -> ToolError {
    let view = &*context.view;
    let tree = view.tree();
    let elsewhere = match (scope.node, scope.tags.is_empty(), query.trim().is_empty()) {
        (0, true, _) | (.., true) => Vec::new(),
        _ => {
            let (found, _) = search_anywhere_first(context, query, Scope::default(), SUGGESTED).await;
            if found.verdict != Verdict::NoMatch { found.hits } else { Vec::new() }
        }
    };
    let mut categories: Vec<usize> =
        elsewhere.iter().filter_map(|hit| tree.places(hit.entry).first().copied()).collect();
    categories.extend(by_words(view, query, SUGGESTED).hits.iter().map(|hit| hit.node));
    if categories.is_empty() {
        categories.clone_from(&tree.node(0).children);
    }
    let mut seen = HashSet::new();
    categories.retain(|&node| node != 0 && node != scope.node && seen.insert(node));
    categories.truncate(SUGGESTED);
    let part = match tree.node(scope.node).path.as_str() {
        "" => "no tool here".to_string(),
        path => format!("no tool in {path}"),
    };
    let part = match scope.tags {
        [] => part,
        tags => format!("{part} with the tags {}", quoted(&tags.join(", "))),
    };
    let next = if !elsewhere.is_empty() {
        "search again with the path of one of `hints.categories`, or expand one of `hints.tools`"
    } else if context.lacks_sources() {
        UNREAD
    } else {
        "ask again in other words, an action and an object; if `hints` are nothing like it, there is no such tool: say so"
    };
    let tools: Vec<ToolEntry> = elsewhere.iter().map(|hit| ToolEntry::found(view, hit, 0)).collect();
    let message = format!("{part} fits `{}`", quoted(query));
    ToolError::new(ErrorCode::NoMatchInCategory, message, next)
        .hint("unmet", unmet(view, query, scope))
        .hint("categories", category_hints(view, &categories))
        .hint("tools", tools)
}
