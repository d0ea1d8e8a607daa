//! What a call of a function has at hand besides its arguments.

use std::sync::Arc;

use super::{Counts, Edition, Trace};
use crate::exec::Caller;
use crate::exec::backend::Backends;
use crate::model::Model;
use crate::search::semantic::{self, Semantic};
use crate::state::{Sqlite, State};

/// What a call has at hand.
#[derive(Clone, Debug)]
pub struct Context {
    /// What the caller may see.
    pub edition: Arc<Edition>,
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
    pub semantic: Meaning,
    /// The model behind the scorer `llm` of `pick`, or why it cannot be asked.
    pub llm: Option<Result<Arc<dyn Model + Send + Sync>, String>>,
    /// What outlives a call.
    pub state: Arc<dyn State>,
    /// What runs tools.
    pub backends: Backends,
    /// How often what was asked.
    pub counts: Counts,
}

/// Search by meaning, where it is configured.
#[derive(Debug, Default)]
pub enum Meaning {
    /// It is not.
    #[default]
    Off,
    /// It is, and cannot work; why, for the operator.
    Broken(String),
    /// It is at work.
    On(Arc<Semantic>),
}

impl Context {
    /// A call that sees this edition, with no services.
    pub fn of(edition: Arc<Edition>) -> Self {
        Self { edition, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

impl Default for Services {
    fn default() -> Self {
        let state = Arc::new(Sqlite::in_memory());
        let (backends, counts) = Default::default();
        Self { semantic: Meaning::Off, llm: None, state, backends, counts }
    }
}

impl Services {
    /// Sees to what searches in this edition will want.
    pub fn prepare(&self, edition: &Edition) {
        if let Meaning::On(semantic) = &self.semantic {
            semantic.prepare(edition.meaning());
        }
    }
}

impl Meaning {
    /// Whether searches find it at work, and why not, for the operator.
    pub fn state(&self) -> semantic::State {
        match self {
            Meaning::Off => semantic::State::Off,
            Meaning::Broken(reason) => semantic::State::Unavailable(reason.clone()),
            Meaning::On(semantic) => semantic.state(),
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
