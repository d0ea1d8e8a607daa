//! The search that all functions use: by words, and also by meaning if a model is configured and answers in time.

use crate::context::{CatalogView, FunctionContext, SemanticSearch};
use toolcrib_search::semantic::{POOL, SemanticStatus, Similarities, fuse};
use toolcrib_search::{SearchRequest, SearchResult};

/// A query over the tools that the caller may see.
#[derive(Clone, Copy)]
pub struct SearchQuery<'q> {
    /// The query, in any words.
    pub query: &'q str,
    /// Filter of tools by their position in the catalog; without it, all tools are searched.
    pub within: Option<&'q (dyn Fn(usize) -> bool + Sync)>,
    /// The most hits.
    pub limit: usize,
}

/// Results of searches.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// The result of each query, in order.
    pub found: Vec<SearchResult>,
    /// Whether meaning was used; for [`crate::functions::Answer::with_semantic_status`].
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

    /// Returns the similarity of each query to each tool of the caller, if a model answers in time.
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
        match semantic.similarities(self.view.vector_slot(), &self.caller.name, queries).await {
            Ok(near) => (Some(near), SemanticStatus::On),
            Err(error) => (None, SemanticStatus::Unavailable(error.to_string())),
        }
    }
}

/// Finds tools by words, and also by meaning if similarities are given.
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
    let named = view.search().named_in(query);
    let counts = |place: usize| within.is_none_or(|within| within(place));
    fuse(words(limit.max(POOL)), near, weight, limit, &counts, &|place| named.contains(&place))
}
