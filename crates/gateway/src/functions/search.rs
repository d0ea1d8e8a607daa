//! The search that all functions use: by words, and also by meaning if a model is configured and answers in time.

use crate::context::{CatalogView, FunctionContext, SemanticSearch};
use toolcrib_search::semantic::{POOL, SemanticStatus, Similarities, fuse};
use toolcrib_search::{SearchRequest, SearchResult};

/// Results of searches.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// The result of each query, in order.
    pub found: Vec<SearchResult>,
    /// Whether meaning was used.
    pub semantic: SemanticStatus,
}

impl FunctionContext {
    /// Searches for each of these queries among the tools that `within` marks by their positions in the catalog; without
    /// it, among all tools. The wait for a model is limited by the configuration.
    pub async fn search(&self, queries: &[&str], within: Option<&[bool]>, limit: usize) -> SearchOutcome {
        self.view.wait_for_indexes().await;
        let (near, semantic) = self.similarities(queries).await;
        let weight = match &self.services.semantic {
            SemanticSearch::On(semantic) => semantic.weight(),
            _ => 0.0,
        };
        let near = |index: usize| near.as_ref().and_then(|near| Some((near.get(index)?, weight)));
        let found = queries.iter().enumerate();
        let found = found.map(|(index, query)| find(&self.view, query, within, limit, near(index))).collect();
        SearchOutcome { found, semantic }
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

/// Finds tools by words, and also by meaning if similarities are given, with their weight.
pub(super) fn find(
    view: &CatalogView,
    query: &str,
    within: Option<&[bool]>,
    limit: usize,
    near: Option<(&Similarities, f32)>,
) -> SearchResult {
    let counts = |place: usize| within.is_none_or(|within| within.get(place) == Some(&true));
    let within = within.map(|_| &counts as &dyn Fn(usize) -> bool);
    let words = |limit| view.search().find(SearchRequest { query, within, limit });
    let Some((near, weight)) = near else { return words(limit) };
    let named = view.search().named_in(query);
    fuse(words(limit.max(POOL)), near, weight, limit, &counts, &|place| named.contains(&place))
}
