//! The one search that all functions use: by words and, where it is configured and in time, by meaning.

use std::collections::HashSet;

use super::{CatalogView, FunctionContext, SemanticSearch};
use crate::search::semantic::{POOL, SemanticStatus, Similarities, fuse};
use crate::search::{SearchRequest, SearchResult};

/// A query to the tools of the caller.
#[derive(Clone, Copy)]
pub struct SearchQuery<'q> {
    /// The query, in any words.
    pub query: &'q str,
    /// Filter of tools by their position in the catalog; all count when there is none.
    pub within: Option<&'q (dyn Fn(usize) -> bool + Sync)>,
    /// The most hits.
    pub limit: usize,
}

/// Results of searches.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// The result of each query, in order.
    pub found: Vec<SearchResult>,
    /// Whether meaning was used; for [`super::Answer::with_semantic_status`].
    pub semantic: SemanticStatus,
}

impl FunctionContext {
    /// Searches for each of these queries. The wait for a model is limited by the configuration.
    pub async fn search(&self, wanted: &[SearchQuery<'_>]) -> SearchOutcome {
        self.view.wait_for_indexes().await;
        let queries: Vec<&str> = wanted.iter().map(|wanted| wanted.query).collect();
        let (near, semantic) = self.similarities(&queries).await;
        let weight = match &self.services.semantic {
            SemanticSearch::On(semantic) => semantic.weight(),
            _ => 0.0,
        };
        let found = wanted.iter().enumerate().map(|(index, wanted)| {
            find(&self.view, *wanted, near.as_ref().and_then(|near| near.get(index)), weight)
        });
        SearchOutcome { found: found.collect(), semantic }
    }

    /// Similarity of each query to each tool of the caller, where a model gives it in time.
    pub(super) async fn similarities(&self, queries: &[&str]) -> (Option<Vec<Similarities>>, SemanticStatus) {
        let semantic = match &self.services.semantic {
            SemanticSearch::On(semantic) => semantic,
            SemanticSearch::Off => return (None, SemanticStatus::Off),
            // The reason is for the operator: a caller should not learn the address of the model.
            SemanticSearch::Broken(_) => {
                let reason = "the model cannot be used as it is configured";
                return (None, SemanticStatus::Unavailable(reason.into()));
            }
        };
        match semantic.similarities(self.view.vector_slot(), (&self.caller.name, queries)).await {
            Ok(near) => (Some(near), SemanticStatus::On),
            Err(reason) => (None, SemanticStatus::Unavailable(reason)),
        }
    }
}

/// Hits by words, and by meaning where similarities are known.
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
