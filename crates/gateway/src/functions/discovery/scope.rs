//! Ranks the tools in a part of the catalog, for every function that searches.

use std::collections::HashSet;

use crate::context::{CatalogView, FunctionContext};
use crate::functions::search::{SearchOutcome, find};
use crate::tool_error::ToolError;
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{SearchResult, Verdict};

/// Next step where nothing fits and a source could not be read: the tool may be in it.
pub(crate) const UNREAD: &str = "not all sources of the catalog could be read, and the tool may be in one of those: ask again \
                                 in other words, and if nothing fits, say that not all tools could be searched";

/// A query without surrounding white space; `None` if nothing is left.
pub(super) fn query(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|query| !query.is_empty())
}

/// The error for an argument that is only white space.
pub(crate) fn blank(argument: &str) -> ToolError {
    let message = format!("`{argument}` is only white space");
    let next = format!("say in `{argument}` what you want to do: an action and an object, in a few words");
    ToolError::invalid(message, next).field(&format!("/{argument}"), "this is only white space")
}

/// The part of the catalog that is searched.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope<'s> {
    /// The category; the root stands for everything.
    pub(crate) node: usize,
    /// Tags that a tool must have, all of them.
    pub(crate) tags: &'s [String],
}

impl Scope<'_> {
    /// The tools in it, by position.
    pub(super) fn tools(self, view: &CatalogView) -> impl Iterator<Item = usize> {
        let below = &view.tree().node(self.node).descendant_tools;
        below.iter().copied().filter(move |&tool| self.has_tags(&view.catalog().tools[tool].labels.tags))
    }

    /// Which tools are in it; `None` if all are.
    fn marked(self, view: &CatalogView) -> Option<Vec<bool>> {
        if self.node == 0 && self.tags.is_empty() {
            return None;
        }
        let mut inside = vec![false; view.catalog().tools.len()];
        self.tools(view).for_each(|tool| inside[tool] = true);
        Some(inside)
    }

    /// Whether these tags include all wanted ones.
    pub(super) fn has_tags(self, tags: &[String]) -> bool {
        let is_there = |wanted: &String| {
            tags.iter().any(|tag| tag.trim().to_lowercase() == wanted.trim().to_lowercase())
        };
        self.tags.iter().all(is_there)
    }
}

/// Most bytes of a query that are read.
const MAX_QUERY: usize = 2_000;

/// The part of a query that is read.
pub(crate) fn read_part(query: &str) -> &str {
    &query[..query.floor_char_boundary(MAX_QUERY)]
}

/// The tools in a scope that fit each of these queries, best first.
pub(crate) async fn ranked(
    context: &FunctionContext,
    queries: &[&str],
    scope: Scope<'_>,
    limit: usize,
) -> SearchOutcome {
    let queries: Vec<&str> = queries.iter().map(|query| read_part(query)).collect();
    context.search(&queries, scope.marked(&context.view).as_deref(), limit).await
}

/// Confidence below which the hits in a category are compared with tools elsewhere.
const WEAK: f32 = 0.3;

/// Factor by which the best tool elsewhere must be better for the verdict `no_match`.
const TIMES: f32 = 3.0;

/// Hits among which the most confident one usually is.
const FIRST: usize = 5;

/// Ranks for one query; the verdict is `no_match` where the tools of the category are much worse than tools
/// elsewhere.
pub(super) async fn search_in_scope(
    context: &FunctionContext,
    query: &str,
    scope: Scope<'_>,
    limit: usize,
) -> (SearchResult, SemanticStatus) {
    let (mut found, semantic) = search_anywhere_first(context, query, scope, limit.max(FIRST)).await;
    let likely = found.hits.iter().map(|hit| hit.confidence).fold(0.0, f32::max);
    if scope.node != 0 && found.verdict != Verdict::NoMatch && likely < WEAK {
        let (all, _) = search_anywhere_first(context, query, Scope::default(), FIRST).await;
        let inside: HashSet<usize> = scope.tools(&context.view).collect();
        let best = |is_inside: bool| {
            let hits = all.hits.iter().filter(|hit| inside.contains(&hit.entry) == is_inside);
            hits.map(|hit| hit.confidence).fold(0.0, f32::max)
        };
        if all.verdict != Verdict::NoMatch && likely.max(best(true)) * TIMES < best(false) {
            found.verdict = Verdict::NoMatch;
        }
    }
    found.hits.truncate(limit);
    (found, semantic)
}

/// Words of a query that the nearest tools in a scope do not have.
pub(super) fn unmet(view: &CatalogView, query: &str, scope: Scope<'_>) -> Vec<String> {
    let query = read_part(query);
    let near = find(view, query, scope.marked(view).as_deref(), FIRST, None);
    view.search().unmet(query, &near.hits)
}

/// Ranks for one query, without a look at tools elsewhere.
pub(super) async fn search_anywhere_first(
    context: &FunctionContext,
    query: &str,
    scope: Scope<'_>,
    limit: usize,
) -> (SearchResult, SemanticStatus) {
    let SearchOutcome { mut found, semantic } = ranked(context, &[query], scope, limit).await;
    (found.pop().unwrap_or(SearchResult { verdict: Verdict::NoMatch, hits: Vec::new() }), semantic)
}
