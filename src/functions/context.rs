//! The context of a function call besides its arguments.

use std::sync::Arc;

use super::{CatalogView, Counters, Trace};
use crate::exec::Caller;
use crate::exec::backend::Backends;
use crate::model::ChatModel;
use crate::search::semantic::{self, Semantic};
use crate::state::StateStore;

/// The context of a function call.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// The catalog view of the caller.
    pub view: Arc<CatalogView>,
    /// The services that all calls share.
    pub services: Arc<Services>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// Trace id of the request.
    pub trace: Trace,
}

/// Services that outlive catalogs and are shared by all calls.
pub struct Services {
    /// Search by meaning.
    pub semantic: SemanticSearch,
    /// The model behind the scorer `llm` of `pick`, or the reason why it cannot be asked.
    pub llm: Option<Result<Arc<dyn ChatModel + Send + Sync>, String>>,
    /// The store of state.
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

impl FunctionContext {
    /// Whether a tool may be missing because its source could not be read. Callers from whom tools are hidden are not told: the
    /// unread source may be one of which they must not know.
    pub(super) fn lacks_sources(&self) -> bool {
        self.caller.sees_everything() && !self.view.catalog().complete
    }

    /// A call that sees this catalog view, with no services.
    pub fn of(view: Arc<CatalogView>) -> Self {
        Self { view, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

impl Default for Services {
    fn default() -> Self {
        let state = Arc::new(StateStore::in_memory());
        let (backends, counts) = Default::default();
        let semantic = SemanticSearch::Off;
        Self { semantic, llm: None, state, backends, counts }
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
        let has_llm = self.llm.is_some();
        to.debug_struct("Services")
            .field("semantic", &self.semantic)
            .field("llm", &has_llm)
            .field("state", &self.state)
            .finish()
    }
}
