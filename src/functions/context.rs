//! What a call of a function has at hand besides its arguments.

use std::sync::Arc;

use super::{CatalogView, FunctionCounters, Trace};
use crate::exec::Caller;
use crate::exec::backend::Backends;
use crate::model::ChatModel;
use crate::search::semantic::{self, Semantic};
use crate::state::{Sqlite, StateStore};

/// What a call has at hand.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// What the caller may see.
    pub view: Arc<CatalogView>,
    /// What all calls share.
    pub services: Arc<Services>,
    /// Who calls.
    pub caller: Arc<Caller>,
    /// What the request is known by.
    pub trace: Trace,
}

/// What outlives catalogs and is shared by all calls.
pub struct Services {
    /// Search by meaning.
    pub semantic: SemanticSearch,
    /// The model behind the scorer `llm` of `pick`, or why it cannot be asked.
    pub llm: Option<Result<Arc<dyn ChatModel + Send + Sync>, String>>,
    /// What outlives a call.
    pub state: Arc<dyn StateStore>,
    /// What runs tools.
    pub backends: Backends,
    /// How often what was asked.
    pub counts: FunctionCounters,
}

/// Search by meaning, where it is configured.
#[derive(Debug, Default)]
pub enum SemanticSearch {
    /// It is not.
    #[default]
    Off,
    /// It is, and cannot work; why, for the operator.
    Broken(String),
    /// It is at work.
    On(Arc<Semantic>),
}

impl FunctionContext {
    /// A call that sees this catalog view, with no services.
    pub fn of(view: Arc<CatalogView>) -> Self {
        Self { view, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

impl Default for Services {
    fn default() -> Self {
        let state = Arc::new(Sqlite::in_memory());
        let (backends, counts) = Default::default();
        Self { semantic: SemanticSearch::Off, llm: None, state, backends, counts }
    }
}

impl Services {
    /// Sees to what searches in this catalog view will want.
    pub fn prepare(&self, view: &CatalogView) {
        if let SemanticSearch::On(semantic) = &self.semantic {
            semantic.prepare(view.vector_slot());
        }
    }
}

impl SemanticSearch {
    /// Whether searches find it at work, and why not, for the operator.
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
        let has_llm = self.llm.is_some();
        to.debug_struct("Services")
            .field("semantic", &self.semantic)
            .field("llm", &has_llm)
            .field("state", &self.state)
            .finish()
    }
}
