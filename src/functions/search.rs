//! The one search that all functions use: by words and, where that is configured and there in time, by meaning.

use std::collections::HashSet;

use super::{CatalogView, FunctionContext, SemanticSearch};
use crate::search::semantic::{POOL, SemanticStatus, Similarities, fuse};
use crate::search::{SearchRequest, SearchResult};

/// What is looked for among the tools of the caller.
#[derive(Clone, Copy)]
pub struct SearchQuery<'q> {
    /// In anybody's words.
    pub query: &'q str,
    /// Which tools count, by their place in the catalog; all when there is none.
    pub within: Option<&'q (dyn Fn(usize) -> bool + Sync)>,
    /// The most hits.
    pub limit: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// What fits, for each thing wanted, in their order.
    pub found: Vec<SearchResult>,
    /// Whether meaning had a part; for [`super::Answer::with_semantic_status`].
    pub semantic: SemanticStatus,
}

impl FunctionContext {
    /// Searches for each of these. Waits for nobody longer than the configuration allows.
    pub async fn search(&self, wanted: &[SearchQuery<'_>]) -> SearchOutcome {
        self.view.wait_for_indexes().await;
        let queries: Vec<&str> = wanted.iter().map(|wanted| wanted.query).collect();
        let (near, semantic) = self.near(&queries).await;
        let weight = match &self.services.semantic {
            SemanticSearch::On(semantic) => semantic.weight(),
            _ => 0.0,
        };
        let found = wanted.iter().enumerate().map(|(index, wanted)| {
            find(&self.view, *wanted, near.as_ref().and_then(|near| near.get(index)), weight)
        });
        SearchOutcome { found: found.collect(), semantic }
    }

    /// How near each query is to each tool of the caller, where that can be said now.
    pub(super) async fn near(&self, queries: &[&str]) -> (Option<Vec<Similarities>>, SemanticStatus) {
        let semantic = match &self.services.semantic {
            SemanticSearch::On(semantic) => semantic,
            SemanticSearch::Off => return (None, SemanticStatus::Off),
            // Why is for the operator: a caller should not learn where the model is.
            SemanticSearch::Broken(_) => {
                let reason = "the model cannot be used as it is configured";
                return (None, SemanticStatus::Unavailable(reason.into()));
            }
        };
        match semantic.near(self.view.vector_slot(), queries).await {
            Ok(near) => (Some(near), SemanticStatus::On),
            Err(reason) => (None, SemanticStatus::Unavailable(reason)),
        }
    }
}

/// What fits, by words, and by meaning where that is known.
pub(super) fn find(
    view: &CatalogView,
    wanted: SearchQuery<'_>,
    near: Option<&Similarities>,
    weight: f32,
) -> SearchResult {
    let SearchQuery { query, within, limit } = wanted;
    let within_words = within.map(|within| within as &dyn Fn(usize) -> bool);
    let words = |limit| view.search().find(SearchRequest { query, within: within_words, limit });
    let Some(near) = near else { return words(limit) };
    let named: HashSet<usize> = view.search().named_in(query).collect();
    let counts = |place: usize| within.is_none_or(|within| within(place));
    fuse(words(limit.max(POOL)), near, weight, limit, &counts, &|place| named.contains(&place))
}
