//! Services that outlive catalogs and are shared by all calls: state, backends, models and counters.

use std::sync::Arc;

use super::catalog_view::CatalogView;
use super::counters::Counters;
use crate::exec::backend::Backends;
use crate::state::StateStore;
use toolcrib_search::model::ChatModel;
use toolcrib_search::semantic::{self, Semantic};

/// Services that outlive catalogs and are shared by all calls.
pub struct Services {
    /// Search by meaning.
    pub semantic: SemanticSearch,
    /// The model behind the scorer `llm` of `pick`, or the reason why it cannot be asked.
    pub llm: Option<Result<Arc<dyn ChatModel + Send + Sync>, String>>,
    pub state: Arc<StateStore>,
    /// The backends of tools.
    pub backends: Backends,
    /// Counters of functions and tools.
    pub counts: Counters,
}

/// Search by meaning, where it is configured.
#[derive(Debug, Default)]
pub enum SemanticSearch {
    /// It is not.
    #[default]
    Off,
    /// Configured, and not working; with the reason, for the operator.
    Broken(String),
    /// Configured, and working.
    On(Arc<Semantic>),
}

impl Default for Services {
    fn default() -> Self {
        Self {
            semantic: SemanticSearch::Off,
            llm: None,
            state: Arc::new(StateStore::in_memory()),
            backends: Backends::default(),
            counts: Counters::default(),
        }
    }
}

impl Services {
    /// Starts preparing the vectors for searches in this catalog view.
    pub fn prepare(&self, view: &CatalogView) {
        if let SemanticSearch::On(semantic) = &self.semantic {
            semantic.prepare(view.vector_slot());
        }
    }
}

impl SemanticSearch {
    /// Status of the model for searches, with the reason if it does not work, for the operator.
    pub fn status(&self) -> semantic::SemanticStatus {
        match self {
            SemanticSearch::Off => semantic::SemanticStatus::Off,
            SemanticSearch::Broken(reason) => semantic::SemanticStatus::Unavailable(reason.clone()),
            SemanticSearch::On(semantic) => semantic.status(),
        }
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Services").field("state", &self.state).finish_non_exhaustive()
    }
}
